"""Nodes of a thread in a store, and its events: payloads in, references or the new head out.

The JSON Schema of a node and its references follow from the node's typed class.
"""

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from uwf_core.ids import Ref, ThreadId
from uwf_core.shape.kinds import JsonSchema, Shape
from uwf_core.shape.shapes import payload_schema, shape_of
from uwf_core.thread.decisions import Event, runs
from uwf_core.thread.head import Head, create_head, move_head
from uwf_core.thread.names import event_name
from uwf_core.thread.state import begin, fold
from uwf_core.thread.types import NODES
from uwf_core.workflow.definition import START

if TYPE_CHECKING:
    from uwf_core.cas.store import Store
    from uwf_core.engine.engine import Engine
    from uwf_core.thread.types import StartPayload
    from uwf_core.workflow.definition import Definition


_IDS = (Ref, ThreadId)


class Nodes:
    """Writes typed nodes. The schema node of a type is stored with the first node of that type."""

    def __init__(self, store: "Store") -> None:
        self._store = store
        self._types = store.types.kinds

    def put(self, kind: str, payload: Mapping[str, Any]) -> Ref:
        """Store a node of one of the kinds of `thread.types.NODES`."""
        return self.put_plain(kind, payload)[0]

    def put_plain(self, kind: str, payload: Mapping[str, Any]) -> tuple[Ref, Any]:
        """Like `put`; also returns the payload as it reads back."""
        # An id as plain text: the payload then need not be read back to be checked.
        plain = {name: str(each) if type(each) in _IDS else each for name, each in payload.items()}
        return self._store.put_plain(self.type(kind), plain)

    def type(self, kind: str) -> Ref:
        """The reference of a kind's schema node. It is stored here, or, if this process knows it
        from another store, with the first node of the kind.
        """
        if kind not in self._types:
            self._types[kind] = self._store.put_schema(schema_of(kind), trusted=True)
        return self._types[kind]


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


def _put_event(
    engine: "Engine", thread: ThreadId, seq: int, kind: str, fields: Mapping[str, Any]
) -> Event:
    payload = {"thread": thread, "seq": seq, "atMs": engine.now_ms(), "by": None, **fields}
    ref, plain = engine.nodes.put_plain(kind, payload)
    engine.store.set_variable(event_name(thread, seq, kind), ref, {}, None)
    return Event(kind, ref, plain)


def schema_of(kind: str) -> JsonSchema:
    """The JSON Schema of a kind of node."""
    return payload_schema(NODES[kind], f"uwf {kind}")


def targets_of(kind: str, payload: Mapping[str, Any]) -> Iterator[tuple[str, str, tuple[str, ...]]]:
    """The references in a node of `kind`: key, reference, and the kinds it may lead to. None
    where the kind is not one of `NODES`.
    """
    if kind in NODES:
        shape = shape_of(NODES[kind])
        for name, value in payload.items():
            for ref, kinds in _targets(shape.at(name), value):
                yield name, ref, kinds


def _targets(shape: Shape | None, value: Any) -> Iterator[tuple[str, tuple[str, ...]]]:
    if value is None or shape is None:
        return
    if shape.to is not None:
        yield value, shape.to.kinds
        return
    for inner, part in shape.parts(value):
        yield from _targets(inner, part)
