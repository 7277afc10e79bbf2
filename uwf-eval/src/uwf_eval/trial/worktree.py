"""The git worktree in which the thread of a trial worked: its files are those to judge."""

import shutil
from pathlib import Path
from typing import TYPE_CHECKING

from uwf_core.client import ThreadFilter
from uwf_eval.task.tree import copy_tree, remove_tree

if TYPE_CHECKING:
    from uwf_core.client import Client

_GIT = ".git"
_OF_WORKTREE = ("HEAD", "index")


def worktree_of(client: "Client", thread: str) -> Path | None:
    """The folder of a thread's worktree; None if it has none."""
    own = client.show(thread)["worktree"]
    return None if own is None else Path(own["folder"])


def copy_worktree(worktree: Path, work: Path, target: Path) -> None:
    """Copy a worktree as a separate repository, at its branch, so that a judge can use git in it
    without a way to the folder of the trial.

    Args:
        worktree: the worktree. work: the trial's folder, of whose repository it is.
        target: the copy, made anew.

    Raises:
        TreeError, OSError: it cannot be copied.
    """
    copy_tree(worktree, target, strict=False)
    (target / _GIT).unlink(missing_ok=True)
    if not (work / _GIT).is_dir():
        return
    copy_tree(work / _GIT, target / _GIT, strict=False)
    own = target / _GIT / "worktrees" / worktree.name
    for name in _OF_WORKTREE:
        if (own / name).is_file():
            shutil.copyfile(own / name, target / _GIT / name)
    remove_tree(target / _GIT / "worktrees")


def remove_worktrees(client: "Client") -> None:
    """Remove the worktrees of the threads of a trial; their repository, the trial's folder, goes
    too.
    """
    if not (client.home / "worktrees").is_dir():
        return
    for row in client.list(ThreadFilter(all=True, children=True)):
        own = worktree_of(client, row["thread"])
        if own is not None and own.parent == client.home / "worktrees":
            remove_tree(own)
