"""A fork that works in a copy of the files as they were after its step."""

import os
import shutil
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from uwf_core.engine.agents import is_imported
from uwf_core.engine.events import save_worktree
from uwf_core.engine.fork import fork_at
from uwf_core.errors import StoreError, UsageError, WrongStateError
from uwf_core.escape import in_line
from uwf_core.files.paths import place_in
from uwf_core.files.restore import restore
from uwf_core.files.worktree import add_worktree, find_working_tree, folder_of, has_folder
from uwf_core.files.worktree_entries import WorkingTree, prefix_conflict
from uwf_core.ids import Ref, ThreadId
from uwf_core.process.folders import make_folder
from uwf_core.process.git import GitFailed, user_git
from uwf_core.thread.decisions import Worktree, workspace_of
from uwf_core.thread.history import is_start, read_start, read_step
from uwf_core.thread.worktree import branch_of

if TYPE_CHECKING:
    from uwf_core.engine.engine import Engine
    from uwf_core.engine.watch import Watch
    from uwf_core.thread.head import Head
    from uwf_core.thread.types import SnapshotPayload, WorkspacePayload


def fork_with_files(
    engine: "Engine",
    thread: ThreadId,
    ref: Ref,
    workflow: Ref | None,
    folder: str,
    watch: "Watch",
) -> "Head":
    """Create a thread at a step, in a folder with the files that the step left: a worktree if they
    were in git, else a plain folder. For an imported step, it is one of the repository in which the
    user is, if that has the commit: a folder that a bundle names may be anything here.

    Args:
        folder: where, relative to the current folder; empty: in the home of uwf.

    Raises:
        WrongStateError: the files of the step are not recorded.
        UsageError: the folder exists and is not empty.
        StoreError: the files are missing, or git failed; the folder does not stay.
    """
    workspace, after = _recorded(engine, ref)
    home = engine.home
    target = os.path.normpath(Path(engine.cwd, folder)) if folder else folder_of(home, thread)
    if os.path.lexists(target) and (not Path(target).is_dir() or any(Path(target).iterdir())):
        raise UsageError(
            f"the folder {target!r} is not empty", hint="give a folder that does not exist"
        )
    if after["nested"]:
        names = ", ".join(map(in_line, sorted(after["nested"])))
        watch.notice(f"repositories inside are recorded by commit alone, and not restored: {names}")
    tree, branch = (
        _working_tree(_origin(engine, ref, workspace), after["commit"]),
        branch_of(thread),
    )
    try:
        if tree is None:
            make_folder(target)
        else:
            conflict = prefix_conflict(tree, branch)
            if conflict is not None:
                raise GitFailed(conflict)
            add_worktree(tree.top, target, tree.head, branch)
        restore(home, str(after["tree"]), target)
        return _begin(engine, thread, ref, workflow, workspace["folder"], target, tree)
    except BaseException as error:
        _remove(tree, target, branch)
        if isinstance(error, (GitFailed, OSError)):
            raise StoreError(
                f"cannot restore the files of step {ref}: {error}",
                where=target,
                hint="check the folder, or give another one: --with-files DIR",
            ) from error
        raise


def _recorded(engine: "Engine", ref: Ref) -> "tuple[WorkspacePayload, SnapshotPayload]":
    payload = engine.store.payload(ref)
    workspace = None if is_start(payload) else workspace_of(read_step(engine.store, ref).payload)
    after = workspace and workspace["after"]
    if workspace is None or after is None or after["tree"] is None:
        reason = after and after["reason"]
        raise WrongStateError(
            f"step {ref} has no recorded files" + (f": {reason}" if reason else ""),
            hint="fork it without --with-files; only steps of workflows with `record: true` have "
            "recorded files, and no call",
        )
    return workspace, after


def _origin(engine: "Engine", ref: Ref, workspace: "WorkspacePayload") -> str:
    start = read_step(engine.store, ref).payload["start"]
    return engine.cwd if is_imported(engine.store, start) else workspace["folder"]


def _working_tree(folder: str, commit: str | None) -> WorkingTree | None:
    """The working tree of which a worktree at a commit can be made; `head` is that commit."""
    if commit is None:
        return None
    try:
        tree = find_working_tree(folder)
        has_folder(tree._replace(inside=""), commit)
    except (GitFailed, OSError):
        return None
    return tree._replace(head=commit)


def _begin(
    engine: "Engine",
    thread: ThreadId,
    ref: Ref,
    workflow: Ref | None,
    origin: str,
    target: str,
    tree: WorkingTree | None,
) -> "Head":
    """Store the new thread, whose folder lies in `target` as that of the step's in `origin`."""
    with engine.store.transaction():
        step = read_step(engine.store, ref).payload
        begun = read_start(engine.store, Ref(step["start"]))
        places = (place_in(origin, each) for each in (begun["cwd"], step["attempt"]["cwd"]))
        inside = os.fsdecode(next((each for each in places if each is not None), b""))
        cwd = str(Path(target, inside))
        Path(cwd).mkdir(parents=True, exist_ok=True)
        head = fork_at(engine, thread, ref, workflow, cwd=None if tree else cwd)
        if tree is None:
            return head
        before = head.state.cwd if Path(head.state.cwd).is_dir() else tree.top
        own = Worktree(target, branch_of(thread), tree.head, before)
        return save_worktree(engine, head, own, tree.top, cwd)


def _remove(tree: WorkingTree | None, target: str, branch: str) -> None:
    """Remove what was made, as far as that is possible."""
    if tree is not None:
        with suppress(GitFailed):
            user_git(tree.top, "worktree", "remove", "--force", target)
        with suppress(GitFailed):
            user_git(tree.top, "update-ref", "-d", f"refs/heads/{branch}", tree.head)
    shutil.rmtree(target, ignore_errors=True)
