"""What an agent must not touch, and whether it did."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from uwf_eval.task.globs import selected
from uwf_eval.task.tree import CACHE, Entry, digest_of_file, remove_tree, walk

Stamps = Mapping[str, Entry]
_WITHOUT = frozenset((CACHE,))


def protected(folder: Path, globs: Sequence[str]) -> Mapping[str, str]:
    """What each protected path of a trial's folder is: its kind and, of a file, the SHA-256."""
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
    """The paths that differ, each with what happened to it."""
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
    """What is in the run's own copy of a task, by what the system keeps of each file: whatever
    writes to one changes its stamp, even if it puts back the times that programs can set.
    """
    return {each.name: each for each in walk(folder, without=_WITHOUT) if each.kind != "folder"}


def touched(folder: Path, before: Stamps) -> list[str]:
    """What of a task's copy is not as it was. Python's caches in it, which scripts leave and
    which a judge would run, are removed.
    """
    for cache in list(folder.rglob(CACHE)):
        remove_tree(cache)
    now = stamps(folder)
    names = sorted(name for name in {*before, *now} if before.get(name) != now.get(name))
    return [f"the task's own {name} was changed" for name in names]
