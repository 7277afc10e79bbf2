"""The places of git worktrees: what is in the way of one, and what others are just writing."""

import os
import time
from collections.abc import Callable
from shlex import quote
from typing import Final, NamedTuple

from uwf_core.process.git import GitFailed, user_git

_PAUSES: Final = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0)
"""In seconds. What others write is whole within milliseconds; a busy machine may stop it there."""
_DISTURBED: Final = ("/commondir", "adding files failed", "updating files failed")
"""What git says last if another git has created the `commondir` of a worktree and not yet written
it, or if a file became shorter while it was read.
"""


class WorkingTree(NamedTuple):
    """The git working tree that a folder lies in.

    Attributes:
        top: its top folder, a real path. inside: the folder relative to it, empty at the top.
        common: the folder of git that all worktrees of the repository share.
        head: the commit that is checked out.
    """

    top: str
    inside: str
    common: str
    head: str


def beside_others(act: Callable[[], object], undo: Callable[[], object] | None = None) -> None:
    """Run a git command that gives up where it meets what others are just writing; then it is
    repeated, after `undo`.

    Raises:
        GitFailed: anything else failed, or it stays like that.
    """
    for pause in (*_PAUSES, None):
        try:
            act()
            return
        except GitFailed as error:
            if not any(each in str(error) for each in _DISTURBED):
                raise
            if undo is not None:
                undo()
            if pause is None:
                raise
        time.sleep(pause)


def lock_of(folder: str) -> str:
    """The lock file of a worktree that is being made; it stays if that is interrupted."""
    above, name = os.path.split(folder)
    return os.path.join(above, f".{name}.lock")


def is_free(tree: WorkingTree, folder: str, branch: str) -> bool:
    """Whether `making_worktree` takes a place: nothing is there, or what an interrupted block has
    left.

    Raises:
        GitFailed: the repository cannot be read.
    """
    return os.path.exists(lock_of(folder)) or conflict_at(tree, folder, branch) is None


def conflict_at(tree: WorkingTree, folder: str, branch: str) -> str | None:
    """What is in the way of a new worktree, and what to do; None if nothing is.

    Raises:
        GitFailed: the repository cannot be read.
    """
    entry = os.path.join(tree.common, "worktrees", os.path.basename(folder))
    for each in (folder, entry):
        if os.path.lexists(each):
            return f"{each!r} exists, and not by this thread; move it away"
    if user_git(tree.top, "for-each-ref", f"refs/heads/{branch}").strip():
        return (
            f"the branch {branch} exists, and not by this thread; rename it (git branch -m), or "
            "continue in a fork of the thread"
        )
    return prefix_conflict(tree, branch)


def prefix_conflict(tree: WorkingTree, branch: str) -> str | None:
    """Which branch is where git needs a folder for another one, and what to do; None if none does.
    Git keeps a branch as a file, and some file systems do not tell `UWF` from `uwf`.

    Raises:
        GitFailed: the repository cannot be read.
    """
    prefix = os.path.dirname(branch)
    words = ("for-each-ref", "--format=%(refname:lstrip=2)", "refs/heads")
    names = os.fsdecode(user_git(tree.top, *words)).splitlines()
    place = os.path.join(tree.common, "refs", "heads", prefix)
    if prefix not in names and not os.path.isfile(place):
        return None
    if prefix not in names:
        prefix = next((each for each in names if each.lower() == prefix.lower()), prefix)
    return (
        f"the branch {prefix!r} is in the way of the branches {os.path.dirname(branch)}/…, which "
        f"git cannot keep beside it; rename it: git -C {quote(tree.top)} branch -m {prefix} NAME"
    )
