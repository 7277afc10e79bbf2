"""The worktree of a thread that is deleted: removed if nothing would be lost."""

from shlex import quote
from typing import TYPE_CHECKING

from uwf_core.files.worktree import folder_of, has_changes, is_worktree, remove_worktree
from uwf_core.process.git import GitFailed

if TYPE_CHECKING:
    from uwf_core.engine.worktree_documents import RemovedWorktree
    from uwf_core.ids import ThreadId
    from uwf_core.thread.decisions import Worktree


def remove_worktree_of(thread: "ThreadId", own: "Worktree") -> "list[RemovedWorktree]":
    """Remove a worktree without uncommitted changes, and its branch if nothing was added to it, or
    another one has all of its commits.

    Returns:
        What was done; nothing for a worktree that does not exist any more.
    """
    if not is_worktree(own.folder):
        return []
    at, folder, branch = quote(own.origin), quote(own.folder), quote(own.branch)
    removal = f"git -C {at} worktree remove --force {folder} && git -C {at} branch -D {branch}"
    found: RemovedWorktree = {
        "thread": thread,
        "folder": own.folder,
        "branch": own.branch,
        "removed": False,
        "branchRemoved": False,
        "reason": "it has uncommitted changes",
        "command": removal,
    }
    try:
        if has_changes(own.folder):
            return [found]
        is_gone = remove_worktree(own.folder, own.branch, own.base)
    except GitFailed as error:
        return [{**found, "reason": str(error)}]
    reason, command = "no other branch has all of its commits", f"git -C {at} branch -D {branch}"
    if is_gone:
        reason = command = None  # type: ignore[assignment]
    gone: RemovedWorktree = {**found, "removed": True, "branchRemoved": is_gone}
    return [{**gone, "reason": reason, "command": command}]


def plain_folder_of(home: str, thread: "ThreadId") -> "list[RemovedWorktree]":
    """The folder that a fork with files got outside of git. It stays, because it may have the only
    copy of what was changed there.
    """
    folder = folder_of(home, thread)
    return [
        {
            "thread": thread,
            "folder": folder,
            "branch": "",
            "removed": False,
            "branchRemoved": False,
            "reason": "it is a plain folder, of which git knows no changes",
            "command": f"rm -r {quote(folder)}",
        }
    ]
