"""Cancel a thread permanently, or delete a finished one."""

from contextlib import ExitStack, closing
from pathlib import Path
from typing import TYPE_CHECKING

from uwf_core.engine.advance import recover
from uwf_core.engine.events import save_event
from uwf_core.engine.find import find_thread
from uwf_core.engine.notices import forget_notices
from uwf_core.engine.results import announce_end, errors_file, forget_run
from uwf_core.engine.watch import Broadcast, Watch
from uwf_core.errors import CorruptNodeError, UnknownIdError, WrongStateError
from uwf_core.ids import ThreadId
from uwf_core.thread.calls import check_open, descendants_of, head_at_call, open_below
from uwf_core.thread.decisions import cancels
from uwf_core.thread.head import ORIGINAL, Head, head_of, nodes_present, read_head
from uwf_core.thread.lifecycle import (
    check_cancel,
    check_head,
    check_present,
    check_remove,
    check_writable,
)
from uwf_core.thread.lock import thread_lock
from uwf_core.thread.names import FINISHED, head_name, prefixes_of
from uwf_core.threads.control import stop_runs
from uwf_core.views.show import show_thread

if TYPE_CHECKING:
    from uwf_core.cas.store import Store
    from uwf_core.engine.documents import RemovedDocument, ThreadDocument
    from uwf_core.engine.engine import Engine
    from uwf_core.engine.worktree_documents import RemovedWorktree
    from uwf_core.thread.names import Status


def cancel_thread(
    engine: "Engine", word: str, watch: Watch, expected: str | None = None
) -> "ThreadDocument":
    """Cancel a thread permanently; stops its run first. `expected`: the reference of its head.

    Raises:
        WrongStateError: it is finished already, or has another head.
        BusyError: its run does not stop in time.
    """
    thread = find_thread(engine, word)
    head = head_at_call(engine.store, read_head(engine.store, thread))
    check_writable(head)
    check_head(head, expected)
    check_cancel(head.state, thread)
    check_present(thread, is_whole=nodes_present(engine.store, head))
    if head.state.caller is not None:
        check_open(engine.store, head)
    stop_runs(engine, thread)
    head = _cancel(engine, thread, watch)
    for child in open_below(engine.store, thread):
        _cancel(engine, child, watch, is_below=True)
    with closing(Broadcast(watch, engine.observers)) as broadcast:
        broadcast.load()
        announce_end(engine, head, broadcast)
    return show_thread(engine, thread)


def _cancel(engine: "Engine", thread: ThreadId, watch: Watch, *, is_below: bool = False) -> Head:
    """Cancel one thread, unless it is finished and below one that is cancelled."""
    store = engine.store
    with thread_lock(store, thread, engine.now_ms()):
        head = head_at_call(store, recover(engine, read_head(store, thread), watch.notice))
        if is_below and head.state.status in FINISHED:
            return head
        check_cancel(head.state, thread)
        with store.transaction():
            by = engine.person()
            return save_event(engine, head, "cancelled", by=by, cause="person", next=cancels())


def remove_thread(engine: "Engine", word: str) -> "RemovedDocument":
    """Delete the names of a finished thread and of all that it called; the next `cas gc` deletes
    their nodes.

    Raises:
        WrongStateError: it is not finished, or another thread called it.
    """
    thread = find_thread(engine, word)
    document = show_thread(engine, thread)
    store = engine.store
    with ExitStack() as locks:
        locks.enter_context(thread_lock(store, thread, engine.now_ms()))
        _check_removable(engine, thread, document["status"])
        below = descendants_of(store, thread)
        for child in below:
            locks.enter_context(thread_lock(store, child, engine.now_ms()))
        worktrees = [kept for each in (*below, thread) for kept in _without_worktree(engine, each)]
        with store.transaction():
            for each in (thread, *below):
                _delete_names(store, each)
    if Path(engine.home, "files.git").is_dir():
        from uwf_core.files.keeping import forget  # only where files are recorded

        forget(engine.home, (thread, *below))
    for each in (thread, *below):
        forget_run(engine.home, each)
        forget_notices(engine.home, each)
        Path(errors_file(engine.home, each)).unlink(missing_ok=True)
        Path(engine.home, "worktrees", f".{each}.lock").unlink(missing_ok=True)  # interrupted
    return {
        "thread": thread,
        "status": document["status"],
        "steps": document["steps"],
        "head": document["head"],
        "removed": True,
        "worktrees": worktrees,
    }


def _without_worktree(engine: "Engine", thread: ThreadId) -> "list[RemovedWorktree]":
    """Remove the worktree of a thread, if it has one; what is left of it, or of the folder that a
    fork with files has in its place.
    """
    try:
        own = read_head(engine.store, thread).state.worktree
    except (UnknownIdError, CorruptNodeError):  # `rm` is the way to delete a damaged thread
        return []
    if own is None and not Path(engine.home, "worktrees", thread).is_dir():
        return []
    from uwf_core.threads.worktree import plain_folder_of, remove_worktree_of  # for few threads

    home = engine.home
    return plain_folder_of(home, thread) if own is None else remove_worktree_of(home, thread, own)


def _check_removable(engine: "Engine", thread: ThreadId, status: "Status") -> None:
    store = engine.store
    found = store.rows(head_name(thread), limit=1)
    if not found:
        raise WrongStateError(f"thread {thread} was deleted meanwhile")
    if status == "corrupt" or ORIGINAL in found[0].tags:  # unreadable, or it never ends
        return
    state = head_of(found[0]).state
    check_remove(state._replace(status=status), thread)
    caller = state.caller
    if caller is not None and store.rows(head_name(ThreadId(caller.thread)), limit=1):
        raise WrongStateError(
            f"thread {thread} was called by thread {caller.thread}, whose record needs it",
            hint=f"to remove both: uwf thread rm {caller.thread}",
        )


def _delete_names(store: "Store", thread: ThreadId) -> None:
    for prefix in (head_name(thread), *prefixes_of(thread)):
        for each in store.rows(prefix):
            store.delete_variable(each)
