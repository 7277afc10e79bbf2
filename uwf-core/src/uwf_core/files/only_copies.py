"""What would be lost with a worktree: whatever is in it, and nowhere else."""

import os
from collections.abc import Iterator
from contextlib import suppress
from typing import Final

from uwf_core.files.paths import listed, shown
from uwf_core.files.surroundings import stashes_of
from uwf_core.files.unfinished import left_behind, operations
from uwf_core.files.worktree import has_changes
from uwf_core.files.worktree_git import NO_LOCKS, names
from uwf_core.process.git import ask_git

_SHOWN: Final = 5
_IGNORED: Final = ("ls-files", "-z", "-o", "-i", "--exclude-standard", "--directory")


def only_copies(folder: str, branch: str) -> list[str]:
    """What is only in a worktree, and work of its branch that is in no commit: changes that are not
    committed, commits on no branch, ignored files (its base had none), commits of repositories
    inside, entries of the stash.

    Raises:
        GitFailed: git cannot read it.
    """
    found = ["uncommitted changes"] if has_changes(folder) else []
    found += ["an unfinished operation of git"] if operations(folder) else []
    left = left_behind(folder)
    found += [f"commits that no branch has: {', '.join(left[:_SHOWN])}"] if left else []
    ignored = names(folder, *_IGNORED, env=NO_LOCKS)
    if ignored:
        found.append(f"ignored files: {listed(ignored)}")
    found += inner_repositories(folder)
    stashes = stashes_of(folder, branch)
    if stashes:
        found.append(f"entries in the stash of your repository: {'; '.join(stashes[:_SHOWN])}")
    return found


def inner_repositories(folder: str) -> list[str]:
    """The repositories inside a folder, itself included, with what is only in them."""
    top, found = os.fsencode(folder), list[str]()
    for path in _repositories(top):
        inner = os.fsdecode(os.path.join(top, path))
        words = ("rev-list", "--count", "--all", "HEAD", "--not", "--remotes")
        count = (
            ask_git(inner, *words) or ask_git(inner, "rev-list", "--count", "--all") or "0"
        ).strip()
        name = shown(path) or "the folder itself"
        found.append(f"a repository with {count} commits: {name}")
    return found


def _repositories(top: bytes) -> Iterator[bytes]:
    """The folders that have `.git`; that of a worktree itself is a file."""
    for place, folders, files in os.walk(top):
        path = b"" if place == top else os.path.relpath(place, top)
        if b".git" in folders or (b".git" in files and path):
            yield path
        with suppress(ValueError):
            folders.remove(b".git")
