"""Nodes of a thread in a store: payloads in, references out."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from uwf_core.ids import Ref
from uwf_core.thread.shape import schema_of

if TYPE_CHECKING:
    from uwf_core.cas.store import Store


class Nodes:
    """Writes typed nodes; a type's schema node is stored with the first node of that type."""

    def __init__(self, store: "Store") -> None:
        self._store = store
        self._types = store.types.kinds

    def put(self, kind: str, payload: Mapping[str, Any]) -> Ref:
        """Store a node of one of the kinds of `thread.types.NODES`."""
        return self.put_plain(kind, payload)[0]

    def put_plain(self, kind: str, payload: Mapping[str, Any]) -> tuple[Ref, Any]:
        """As `put`; gives the payload beside, as it reads back."""
        # A reference as plain text: the payload then need not be read back to be checked.
        plain = {name: str(each) if type(each) is Ref else each for name, each in payload.items()}
        return self._store.put_plain(self.type(kind), plain)

    def type(self, kind: str) -> Ref:
        """The reference of a kind's schema node, which is stored if need be: here, or, where this
        process knows it from another store, with the first node of the kind.
        """
        if kind not in self._types:
            self._types[kind] = self._store.put_schema(schema_of(kind), trusted=True)
        return self._types[kind]
