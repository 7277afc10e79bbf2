"""What documents say of the git worktree of a thread."""

from typing import TypedDict


class WorktreeDocument(TypedDict):
    """The git worktree of a thread: its folder and branch, and the commit at which it begins."""

    folder: str
    branch: str
    base: str


class RemovedWorktree(TypedDict):
    """A worktree that `thread rm` removed or kept: why, and the command that removes the rest. With
    an empty `branch`: the plain folder of a fork with files.
    """

    thread: str
    folder: str
    branch: str
    removed: bool
    branchRemoved: bool
    reason: str | None
    command: str | None
