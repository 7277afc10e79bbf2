"""A queued thread whose worktree moves to another machine: the files of its last step go there
through the store. Loaded only for threads with a worktree that any machine may run.
"""

import os
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING

from uwf_core.engine.events import save_worktree
from uwf_core.errors import RoutingFailed, StoreError, UsageError
from uwf_core.files.artifacts import DeliveredFile, store_delivered
from uwf_core.files.content import RecordedFile
from uwf_core.files.moved import (
    MOST_BYTES,
    NewFiles,
    commits_of,
    has_commit,
    newest_known,
    unpack,
)
from uwf_core.files.restore import restore
from uwf_core.files.secrets import holds_secret
from uwf_core.files.worktree import add_worktree, find_working_tree, folder_of, making_worktree
from uwf_core.files.worktree_entries import WorkingTree, is_free
from uwf_core.files.worktree_place import is_worktree
from uwf_core.ids import Ref, ThreadId
from uwf_core.process.git import GitFailed
from uwf_core.process.identity import hostname
from uwf_core.thread.decisions import Worktree, workspace_of
from uwf_core.thread.names import ANY_HOST, HOST, files_name, files_prefix
from uwf_core.thread.session_hosts import worktree_host
from uwf_core.thread.worktree import branch_of

if TYPE_CHECKING:
    from uwf_core.api.store import Variable
    from uwf_core.cas.store import Store
    from uwf_core.engine.context import Attempt, Run
    from uwf_core.engine.engine import Engine
    from uwf_core.thread.head import Head
    from uwf_core.thread.state import ThreadState
    from uwf_core.thread.types import SnapshotPayload

COMMIT, TREE, COMMITS, STEPS = "commit", "tree", "commits", "steps"
"""The tags of the files after an attempt: the snapshot, its tree, the commits of the user's
repository at which the worktree may begin (the newest first), and the number of steps after it.
"""


def save_files(run: "Run", attempt: "Attempt") -> None:
    """Store the files that an attempt leaves, for a machine that runs the next one. Nothing refers
    to them before `keep_files`. What cannot go there is a notice: then the thread stays here.
    """
    state = run.head.state
    workspace = workspace_of(attempt.payload)
    after = workspace and workspace["after"]
    if state.worktree is None or after is None or after["tree"] is None:
        return
    if state.caller is not None or run.definition.calls:
        return  # the commits that others begin at, or merge, are in the repository here
    if state.given_tags.get(HOST) != ANY_HOST:
        return
    try:
        reason = _save(run, attempt, state.worktree.folder, after)
    except (GitFailed, OSError) as error:
        reason = f"git failed: {error}"
    if reason is not None:
        run.watch.notice(f"thread {state.thread} stays on {hostname()}: {reason}")


def _save(run: "Run", attempt: "Attempt", folder: str, after: "SnapshotPayload") -> str | None:
    engine, thread = run.engine, run.head.thread
    before = _newest(engine.store, thread)
    new = NewFiles(engine.home, thread, None if before is None else before.tags[COMMIT])
    if new.size > MOST_BYTES:
        return f"the step has added {new.size:,} bytes of files, and {MOST_BYTES:,} may move"
    if holds_secret([new.content()], engine.redactor):
        return "its files have a known secret, which the store does not get"
    if before is not None and before.tags[COMMIT] == new.commit:
        ref = Ref(before.value)
    else:
        file = DeliveredFile(f"{new.commit}.pack", 0o600, new.pack())
        [stored] = store_delivered(engine.store, engine.nodes.put, [file]).values()
        ref = Ref(stored)
    tags = {
        COMMIT: new.commit,
        TREE: str(after["tree"]),
        COMMITS: " ".join(commits_of(folder)),
    }
    attempt.files = ref, tags
    return None


def keep_files(store: "Store", attempt: "Attempt", state: "ThreadState") -> None:
    """Name the files of the attempt that leads to this state. Within the transaction that does."""
    assert attempt.files is not None
    ref, tags = attempt.files
    name = files_name(ThreadId(state.thread), state.seq)
    store.set_variable(name, ref, {**tags, STEPS: str(state.steps)}, None)


def may_move(store: "Store", head: "Head") -> bool:
    """Whether another machine could continue: the files of the newest step are in the store."""
    newest = _newest(store, head.thread)
    return newest is not None and newest.tags[STEPS] == str(head.state.steps)


def _newest(store: "Store", thread: ThreadId) -> "Variable | None":
    found = store.variables(files_prefix(thread), limit=1, descending=True)
    return found[0] if found else None


def is_elsewhere(head: "Head") -> bool:
    """Whether the worktree of a queued thread is on another machine. One that is here under the
    name of another is that of a machine that was renamed, unless its files may have changed there.
    """
    own = head.state.worktree
    assert own is not None
    if worktree_host(head.session_hosts) in (None, hostname()):
        return False
    return head.state.given_tags.get(HOST) == ANY_HOST or not is_worktree(own.folder)


def moved_here(run: "Run") -> "Run":
    """The run of a thread whose worktree is made here from the files of its last step.

    Raises:
        UsageError: its files are only there. RoutingFailed: it cannot be made; nothing is stored.
    """
    engine, head = run.engine, run.head
    own, newest = head.state.worktree, _newest(engine.store, head.thread)
    if own is None or newest is None or not may_move(engine.store, head):
        raise UsageError(
            f"the worktree of thread {head.thread} is on {worktree_host(head.session_hosts)}, and "
            "the store does not have its files",
            hint=f"next, for a worker there: uwf thread exec {head.thread} --queue",
        )
    try:
        tree = find_working_tree(own.origin)
        commits = [*newest.tags[COMMITS].split(), own.base]
        commit = newest_known(tree.top, commits)
        if commit is None:
            raise GitFailed(f"the repository {tree.top!r} has none of the commits {commits[0]}, …")
        _receive(engine, head.thread)
        folder, branch = _free_place(engine.home, tree, head.thread)
        with making_worktree(tree, folder, branch) as lock:
            add_worktree(tree.top, folder, commit, branch, inherits=(lock,))
            restore(engine.home, newest.tags[TREE], folder)
            base = newest_known(tree.top, [own.base]) or commit
            head = _recorded(run, tree, (folder, branch, base))
    except (GitFailed, OSError, StoreError) as error:
        raise RoutingFailed(
            f"the worktree of thread {head.thread} cannot move from "
            f"{worktree_host(head.session_hosts)} to {hostname()}: {error}",
            hint=f"clone the repository to {own.origin!r} on this machine, or fetch there, then: "
            f"uwf thread exec {head.thread} --queue",
        ) from error
    run.watch.notice(
        f"the worktree moved from {worktree_host(run.head.session_hosts)} to {folder}, "
        f"at commit {commit[:12]}"
    )
    return run._replace(head=head)


def _receive(engine: "Engine", thread: ThreadId) -> None:
    """Store the snapshots of the steps that this machine lacks."""
    for each in engine.store.variables(files_prefix(thread)):
        if not has_commit(engine.home, each.tags[COMMIT]):
            pack = RecordedFile(engine.store, "", each.value).chunks()
            unpack(engine.home, thread, each.tags[COMMIT], pack)


def _free_place(home: str, tree: WorkingTree, thread: str) -> tuple[str, str]:
    """A folder and a branch for the worktree. Those of an earlier time here stay as they are: they
    may have what an interrupted step has left.
    """
    names = (thread if number == 1 else f"{thread}-{number}" for number in count(1))
    places = ((folder_of(home, name), branch_of(name)) for name in names)
    return next(place for place in places if is_free(tree, *place))


def _recorded(run: "Run", tree: WorkingTree, place: tuple[str, str, str]) -> "Head":
    own, cwd = run.head.state.worktree, run.head.state.cwd
    assert own is not None
    new = Worktree(*place, own.origin)
    cwd = os.path.normpath(Path(new.folder, os.path.relpath(cwd, own.folder)))
    return save_worktree(run.engine, run.head, new, tree.top, cwd)
