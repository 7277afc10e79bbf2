"""The events of a thread: payloads in, the new head out."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from uwf_core.ids import Ref, ThreadId
from uwf_core.thread.decisions import Event, Worktree, runs
from uwf_core.thread.fold import begin, fold
from uwf_core.thread.head import Head, create_head, move_head
from uwf_core.thread.names import event_name
from uwf_core.workflow.definition import START

if TYPE_CHECKING:
    from uwf_core.api.store import Variable
    from uwf_core.engine.engine import Engine
    from uwf_core.thread.types import StartPayload
    from uwf_core.workflow.definition import Definition


def begin_thread(
    engine: "Engine", thread: ThreadId, fields: Mapping[str, Any], inherited: list[Event]
) -> Head:
    """Store the first event and the head of a thread. Within a transaction."""
    started = _put_event(engine, thread, 0, "started", fields)
    return create_head(engine.store, Ref(fields["head"]), begin(started, inherited))


def create_thread(
    engine: "Engine", thread: ThreadId, definition: "Definition", start: "StartPayload"
) -> Head:
    """Store the start node of a new thread, its first event and its head. Within a transaction."""
    ref = engine.nodes.put("start", start)
    fields = {
        "workflow": definition.ref,
        "workflowName": definition.name,
        "start": ref,
        "head": ref,
        **{name: start[name] for name in ("cwd", "agent", "depth", "limits")},
        "next": runs(definition.graph[START]["new"].role),
    }
    return begin_thread(engine, thread, fields, [])


def save_event(engine: "Engine", head: Head, kind: str, **fields: Any) -> Head:
    """Store an event and move the head to the state after it. Within a transaction."""
    event = _put_event(engine, head.thread, head.state.seq, kind, fields)
    return move_head(engine.store, head, head.ref, fold(head.state, event))


def save_call(
    engine: "Engine", caller: Head, child: Head, name: str, **fields: Any
) -> tuple[Head, "Variable"]:
    """Store that a step of a thread calls another thread: the event of that, and its name in the
    calling one. `fields`: of the event, besides those of a plain call. Within a transaction.
    """
    parent = {"parent": caller.thread, "parentHead": caller.ref, "ledger": child.state.ledger}
    head = save_event(engine, child, "called", **{**_PLAIN_CALL, **parent, **fields})
    assert head.state.caller is not None
    return head, engine.store.set_variable(name, head.state.caller.event, {}, None)


_PLAIN_CALL = dict.fromkeys(("index", "branch", "replaces", "said", "input", "base", "limits"))


def save_worktree(engine: "Engine", head: Head, own: Worktree, repository: str, cwd: str) -> Head:
    """Store that a thread has a worktree of a repository from here on, and works there in `cwd`."""
    with engine.store.transaction():
        fields = {"repository": repository, "cwd": cwd, **own._asdict()}
        return save_event(engine, head, "worktree", **fields)


def _put_event(
    engine: "Engine", thread: ThreadId, seq: int, kind: str, fields: Mapping[str, Any]
) -> Event:
    payload = {"thread": thread, "seq": seq, "atMs": engine.now_ms(), "by": None, **fields}
    ref, plain = engine.nodes.put_plain(kind, payload)
    engine.store.set_variable(event_name(thread, seq, kind), ref, {}, None)
    return Event(kind, ref, plain)
