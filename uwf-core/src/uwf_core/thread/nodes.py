"""Nodes of a thread in a store: payloads in, references out.

The JSON Schema of a node and its references follow from the node's typed class.
"""

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from uwf_core.fields.kinds import AnyOf, JsonSchema, ListOf, RecordOf, Shape
from uwf_core.fields.records import constant_schemas, shape_of
from uwf_core.ids import Ref, ThreadId
from uwf_core.thread.types import NODES

if TYPE_CHECKING:
    from uwf_core.cas.store import Store


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


def schema_of(kind: str) -> JsonSchema:
    """The JSON Schema of a kind of node."""
    return constant_schemas()[f"uwf {kind}"]


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


def shown(store: "Store", kind: str, payload: Mapping[str, Any]) -> Any:
    """A node as documents have it: with what `To.shown` makes of a reference in its place."""
    return _shown(store, shape_of(NODES[kind]), payload)


def _shown(store: "Store", shape: Shape | None, value: Any) -> Any:
    if isinstance(shape, AnyOf):
        shape = shape.only
    if value is None or shape is None:
        return value
    if shape.to is not None:
        make = shape.to.shown
        return value if make is None else make(store.payload(Ref(value)))
    if isinstance(shape, ListOf):
        return [_shown(store, shape.items[0], each) for each in value]
    if isinstance(shape, RecordOf):
        return {name: _shown(store, shape.at(name), each) for name, each in value.items()}
    return value
