"""Something that happens to a thread between its steps: stored, and folded into its state."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from uwf_core.ids import Ref, ThreadId
from uwf_core.thread.head import Head, create_head, move_head
from uwf_core.thread.names import event_name
from uwf_core.thread.state import Event, begin, fold

if TYPE_CHECKING:
    from uwf_core.engine.engine import Engine


def put_event(
    engine: "Engine", thread: ThreadId, seq: int, kind: str, fields: Mapping[str, Any]
) -> Event:
    """Store an event under its number; `fields` are those that its kind has besides."""
    payload = {"thread": thread, "seq": seq, "atMs": engine.now_ms(), "by": None, **fields}
    ref, plain = engine.nodes.put_plain(kind, payload)
    engine.store.set_variable(event_name(thread, seq, kind), ref, {}, None)
    return Event(kind, ref, plain)


def begin_thread(
    engine: "Engine", thread: ThreadId, fields: Mapping[str, Any], inherited: list[Event]
) -> Head:
    """Store a thread's first event and its head. Within a transaction."""
    started = put_event(engine, thread, 0, "started", fields)
    return create_head(engine.store, Ref(fields["head"]), begin(started, inherited))


def happen(engine: "Engine", head: Head, kind: str, **fields: Any) -> Head:
    """Store an event and move the head to the state after it. Within a transaction."""
    event = put_event(engine, head.thread, head.state.seq, kind, fields)
    return move_head(engine.store, head, head.ref, fold(head.state, event))
