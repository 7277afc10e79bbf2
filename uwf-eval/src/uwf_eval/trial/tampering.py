"""Detects whether an agent changed protected files or the run's copy of the task."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from uwf_eval.task.globs import selected
from uwf_eval.task.tree import CACHE, Entry, digest_of_file, remove_tree, walk

Stamps = Mapping[str, Entry]
_WITHOUT = frozenset((CACHE,))


def protected(folder: Path, globs: Sequence[str]) -> Mapping[str, str]:
    """The kind of each protected path of a trial's folder, with the SHA-256 of files."""
    if not globs:
        return {}
    there = {each.name: each for each in walk(folder)}
    return {name: _content(folder, there[name]) for name in selected(there, globs)}


def _content(folder: Path, entry: Entry) -> str:
    path = folder / entry.name
    if entry.kind == "file":
        try:
            return f"file {entry.executable} {digest_of_file(path)}"
        except PermissionError:
            return "unreadable"
    return f"link {path.readlink()}" if entry.kind == "link" else entry.kind


def changed(before: Mapping[str, str], after: Mapping[str, str]) -> list[str]:
    """Describe the paths that differ: removed, changed or added."""
    return [
        f"{name} was {_verb(name, before, after)}"
        for name in sorted({*before, *after})
        if before.get(name) != after.get(name)
    ]


def _verb(name: str, before: Mapping[str, str], after: Mapping[str, str]) -> str:
    if name not in after:
        return "removed"
    return "changed" if name in before else "added"


def stamps(folder: Path) -> Stamps:
    """The metadata of the files in the run's copy of a task. Every write changes it, even if the
    writer restores the times that programs can set.
    """
    return {each.name: each for each in walk(folder, without=_WITHOUT) if each.kind != "folder"}


def touched(folder: Path, before: Stamps) -> list[str]:
    """The changed files of a task's copy. Removes Python's caches, because scripts leave them there
    and a judge would run them.
    """
    for cache in list(folder.rglob(CACHE)):
        remove_tree(cache)
    now = stamps(folder)
    names = sorted(name for name in {*before, *now} if before.get(name) != now.get(name))
    return [f"the task's own {name} was changed" for name in names]
