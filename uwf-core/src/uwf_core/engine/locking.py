"""The thread of a run: locked, recovered, and whether there is a step to run."""

from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING

from uwf_core.engine.advance import recover
from uwf_core.engine.context import Run
from uwf_core.engine.find import find_thread
from uwf_core.engine.open_plugins import OpenPlugins
from uwf_core.engine.results import Outcome, exec_document, with_notices
from uwf_core.engine.watch import Broadcast, Watch
from uwf_core.errors import WrongStateError
from uwf_core.ids import Ref, ThreadId
from uwf_core.thread import lifecycle
from uwf_core.thread.calls import check_open, head_at_call
from uwf_core.thread.head import Head, nodes_present, read_head
from uwf_core.thread.lock import thread_lock

if TYPE_CHECKING:
    from uwf_core.engine.engine import Engine
    from uwf_core.process.cancel import Cancel


@contextmanager
def locked_thread(engine: "Engine", word: str, watch: Watch, cancel: "Cancel") -> Iterator[Run]:
    """Lock a thread and recover what an earlier run left behind.

    Raises:
        BusyError: another process runs it.
        WrongStateError: it was called, and its result is recorded or its caller cancelled.
    """
    thread = find_thread(engine, word)
    with (
        cancel.governing(),
        with_notices(engine, thread),
        locked_head(engine, thread, watch.notice) as head,
    ):
        engine.store.on_lost(lambda: cancel.set("the lease of the thread is lost"))
        if head.state.caller is not None:
            check_open(engine.store, head)
        if engine.definition(Ref(head.state.workflow)).calls:
            head = head_at_call(engine.store, head)
        with (
            closing(OpenPlugins(engine)) as plugins,
            closing(Broadcast(watch, engine.observers)) as broadcast,
        ):
            yield Run(engine, head, broadcast, cancel, plugins)


@contextmanager
def locked_head(
    engine: "Engine", thread: ThreadId, notice: Callable[[str], None]
) -> Iterator[Head]:
    """The head of a thread, locked and recovered; raises as `locked_thread`."""
    with thread_lock(engine.store, thread, engine.now_ms()):
        head = read_head(engine.store, thread)
        lifecycle.check_usable(head, is_whole=nodes_present(engine.store, head))
        head = recover(engine, head, notice)
        if head.state.suspension is not None:
            from uwf_core.engine.expiry import expire_if_due  # not for every step

            head = expire_if_due(engine, head)
        yield head


def nothing_to_run(engine: "Engine", head: Head) -> Outcome | None:
    """The outcome of exec if the thread is completed, or waits for a person or at a limit;
    None if there is a step to run.

    Raises:
        WrongStateError: it is cancelled.
    """
    state = head.state
    if state.status == "cancelled":
        raise WrongStateError(
            f"thread {head.thread} is cancelled",
            hint=f"to continue from its last step in a new thread: uwf thread fork {head.ref}",
        )
    reason = state.suspension and state.suspension.reason
    if reason == "limit":
        from uwf_core.engine.budget import still_reached

        reason = "limit" if still_reached(engine, state) else None
    if state.status == "completed" or reason in ("role", "limit"):
        return Outcome(exec_document(head, []), lifecycle.exit_code(state))
    return None
