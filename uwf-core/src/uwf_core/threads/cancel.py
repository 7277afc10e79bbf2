"""Cancel a thread permanently, or delete a finished one."""

from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

from uwf_core.api.events import ThreadEnded
from uwf_core.engine.advance import recover
from uwf_core.engine.find import find_thread
from uwf_core.engine.nodes import save_event
from uwf_core.engine.results import Broadcast, Watch, errors_file, forget_run
from uwf_core.errors import WrongStateError
from uwf_core.thread.head import head_of, nodes_present, read_head
from uwf_core.thread.lifecycle import check_cancel, check_present, check_remove
from uwf_core.thread.lock import thread_lock
from uwf_core.thread.names import head_name, prefixes_of
from uwf_core.thread.types import cancels
from uwf_core.threads.control import stop_run
from uwf_core.views.show import show_thread

if TYPE_CHECKING:
    from uwf_core.engine.documents import RemovedDocument, ThreadDocument
    from uwf_core.engine.engine import Engine


def cancel_thread(engine: "Engine", word: str, watch: Watch) -> "ThreadDocument":
    """Cancel a thread permanently; stops its run first.

    Raises:
        WrongStateError: it is finished already.
        BusyError: its run does not stop in time.
    """
    thread = find_thread(engine, word)
    head = read_head(engine.store, thread)
    check_cancel(head.state, thread)
    check_present(thread, is_whole=nodes_present(engine.store, head))
    stop_run(engine, thread)
    store = engine.store
    with thread_lock(store, thread, engine.now_ms()):
        head = recover(engine, read_head(store, thread), watch)
        check_cancel(head.state, thread)
        now = engine.now_ms()
        with store.transaction():
            head = save_event(engine, head, "cancelled", by=engine.person(), next=cancels())
    ended = ThreadEnded(
        thread=thread,
        workflow=head.state.workflow,
        workflow_name=head.state.workflow_name,
        status="cancelled",
        at_ms=now,
    )
    with closing(Broadcast(watch, engine.observers)) as broadcast:
        broadcast.load()
        broadcast.event(ended)
    return show_thread(engine, thread)


def remove_thread(engine: "Engine", word: str) -> "RemovedDocument":
    """Delete the names of a finished thread; the next `cas gc` deletes its nodes.

    Raises:
        WrongStateError: it is not finished.
    """
    thread = find_thread(engine, word)
    document = show_thread(engine, thread)
    store = engine.store
    with thread_lock(store, thread, engine.now_ms()), store.transaction():
        found = store.rows(head_name(thread), limit=1)
        if not found:
            raise WrongStateError(f"thread {thread} was deleted meanwhile")
        if document["status"] != "corrupt":  # else its tags may be unreadable
            state = head_of(found[0]).state
            check_remove(state._replace(status=document["status"]), thread)
        for prefix in (head_name(thread), *prefixes_of(thread)):
            for each in store.rows(prefix):
                store.delete_variable(each)
    forget_run(engine.home, thread)
    Path(errors_file(engine.home, thread)).unlink(missing_ok=True)
    return {
        "thread": thread,
        "status": document["status"],
        "steps": document["steps"],
        "head": document["head"],
        "removed": True,
    }
