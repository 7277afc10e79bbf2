"""A new thread that shares the chain of another up to a step; nothing is copied."""

from typing import TYPE_CHECKING

from uwf_core.engine.find import find_step
from uwf_core.engine.nodes import begin_thread
from uwf_core.errors import WrongStateError
from uwf_core.ids import Ref, ThreadId
from uwf_core.thread.history import inherited_steps, is_start, read_start, read_step
from uwf_core.thread.types import runs
from uwf_core.workflow.definition import START

if TYPE_CHECKING:
    from uwf_core.engine.documents import StartedDocument
    from uwf_core.engine.engine import Engine
    from uwf_core.thread.head import Head


def fork_step(engine: "Engine", word: str) -> "StartedDocument":
    """Create a thread that continues from a step or a start.

    It inherits the sessions: each is forked when its role runs again, never continued.

    Raises:
        UnknownIdError: unknown step. WrongStateError: it is a failed attempt.
    """
    store, ref = engine.store, find_step(engine, word)
    thread = ThreadId.new(engine.now_ms())
    with store.transaction():
        head = fork_at(engine, thread, ref)
    state = head.state
    return {"workflow": state.workflow, "workflowName": state.workflow_name, "thread": thread}


def fork_at(engine: "Engine", thread: ThreadId, ref: Ref) -> "Head":
    """Create `thread` at a step or start, within a transaction.

    Raises:
        StoreError: a node of the chain is missing or damaged.
        WrongStateError: it is a failed attempt.
    """
    store = engine.store
    payload = store.get(ref).payload
    start = ref if is_start(payload) else Ref(read_step(store, ref).payload["start"])
    begun = read_start(store, start)
    definition = engine.definition(Ref(begun["workflow"]))
    if is_start(payload):
        to = runs(definition.graph[START]["new"].role)
    elif payload["failure"] is not None:
        raise WrongStateError(
            f"{ref} is a failed attempt; a thread cannot continue from it",
            hint="next: uwf step list THREAD",
        )
    else:
        to = payload["next"]
    fields = {
        "workflow": begun["workflow"],
        "workflowName": definition.name,
        "start": start,
        "head": ref,
        "cwd": begun["cwd"],
        "agent": begun["agent"],
        "next": to,
    }
    return begin_thread(engine, thread, fields, inherited_steps(store, ref))
