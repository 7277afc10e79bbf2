"""A new thread that shares the chain of another up to a step; nothing is copied."""

from typing import TYPE_CHECKING

from uwf_core.engine.find import find_step
from uwf_core.engine.past import index_of_fork
from uwf_core.errors import WrongStateError
from uwf_core.ids import Ref, ThreadId
from uwf_core.thread.chain import failure_of, is_step, read_step
from uwf_core.thread.head import create_head

if TYPE_CHECKING:
    from uwf_core.cas.store import Store
    from uwf_core.engine.documents import StartedDocument
    from uwf_core.engine.engine import Engine


def fork_step(engine: "Engine", word: str) -> "StartedDocument":
    """A thread that goes on from a step, or from a start.

    Sessions come along as inherited: they are forked when their role speaks again, never
    continued.

    Raises:
        UnknownIdError: there is no such step. WrongStateError: it is a failed attempt.
    """
    store, ref = engine.store, find_step(engine, word)
    _check_success(store, ref)
    thread = ThreadId.new(engine.now_ms())
    index = index_of_fork(engine, thread, ref)
    with store.transaction():
        create_head(store, thread, ref, index)
    return {"workflow": index.workflow, "workflowName": index.workflow_name, "thread": thread}


def _check_success(store: "Store", ref: Ref) -> None:
    if is_step(store.get(ref).payload) and failure_of(store, read_step(store, ref)) is not None:
        raise WrongStateError(
            f"{ref} is a failed attempt; a thread cannot go on from it",
            hint="`uwf step list THREAD` shows the steps that can be forked",
        )
