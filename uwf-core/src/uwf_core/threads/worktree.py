"""The worktree of a thread that is deleted: removed if nothing would be lost."""

from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING

from uwf_core.files.only_copies import inner_repositories, only_copies
from uwf_core.files.worktree import folder_of, remove_worktree
from uwf_core.files.worktree_place import check_place, is_worktree
from uwf_core.process.git import GitFailed

if TYPE_CHECKING:
    from uwf_core.engine.worktree_documents import RemovedWorktree
    from uwf_core.ids import ThreadId
    from uwf_core.thread.decisions import Worktree


def remove_worktree_of(home: str, thread: "ThreadId", own: "Worktree") -> "list[RemovedWorktree]":
    """Remove a worktree in which nothing is that is only there, and its branch if nothing was added
    to it, or another one has all of its commits.

    Returns:
        What was done; nothing for a worktree that does not exist any more.
    """
    if not is_worktree(own.folder):
        is_own = own.folder == folder_of(home, thread) and Path(own.folder).is_dir()
        return plain_folder_of(home, thread) if is_own else []
    at, folder, branch = quote(own.origin), quote(own.folder), quote(own.branch)
    # Twice: the second one is for a locked worktree.
    removal = f"git -C {at} worktree remove --force --force {folder}"
    found = _kept(
        thread, own.folder, own.branch, None, f"{removal} && git -C {at} branch -D {branch}"
    )
    try:
        check_place(own.folder)
        kept = only_copies(own.folder, own.branch)
        if kept:
            return [{**found, "reason": f"it has {'; '.join(kept)}"}]
        is_gone = remove_worktree(own.folder, own.branch, own.base)
    except GitFailed as error:
        return [{**found, "reason": str(error)}]
    gone: RemovedWorktree = {**found, "removed": True, "branchRemoved": is_gone, "command": None}
    if is_gone:
        return [gone]
    reason, command = "no other branch has all of its commits", f"git -C {at} branch -D {branch}"
    return [{**gone, "reason": reason, "command": command}]


def plain_folder_of(home: str, thread: "ThreadId") -> "list[RemovedWorktree]":
    """The folder that a fork with files got outside of git, or that of a worktree of which git does
    not know any more. It stays, because it may have the only copy of what was changed there.
    """
    folder = folder_of(home, thread)
    inside = "; ".join(inner_repositories(folder))
    reason = "git knows no changes of it, so its files may exist nowhere else"
    reason += f"; it has {inside}" if inside else ""
    return [_kept(thread, folder, "", reason, f"rm -r {quote(folder)}")]


def _kept(
    thread: str, folder: str, branch: str, reason: str | None, command: str
) -> "RemovedWorktree":
    return {
        "thread": thread,
        "folder": folder,
        "branch": branch,
        "removed": False,
        "branchRemoved": False,
        "reason": reason,
        "command": command,
    }
