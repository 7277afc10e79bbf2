"""Nodes of a home, stored here under the same references."""

from functools import lru_cache
from typing import TYPE_CHECKING

from uwf_core.cas.hashing import META
from uwf_core.cas.references import references_in
from uwf_core.errors import BundleError, PayloadError
from uwf_core.ids import Ref
from uwf_core.original.fields import NotImported
from uwf_core.original.home import OriginalHome, OriginalNode

if TYPE_CHECKING:
    from uwf_core.cas.store import Store

_DEEPEST = 64
_REMEMBERED = 4096
"""How many nodes are remembered: types and workflows, which nearly every step needs, are few."""


class NodeCopy:
    """Stores nodes of a home with all that they refer to, each checked against its type.

    Args:
        home: the home. store: the store of uwf, within a transaction.
    """

    def __init__(self, home: OriginalHome, store: "Store") -> None:
        self.home = home
        self.store = store
        self._node = lru_cache(_REMEMBERED)(home.node)
        self._stored = set[str]()

    def node(self, ref: str) -> OriginalNode:
        """A node of the home; raises as `OriginalHome.node`."""
        return self._node(ref)

    def copy(self, ref: str, depth: int = 0) -> Ref:
        """Store a node.

        Raises:
            MissingNodeError: the home lacks it, or a node that it refers to.
            NotImported: its type rejects it, or is not a type here.
            BundleError, CollisionError: the home is damaged.
        """
        if ref in self._stored:  # else nodes that share others take exponential time
            return Ref(ref)
        if depth > _DEEPEST:
            raise NotImported(f"the node {ref} is nested more than {_DEEPEST} levels deep")
        node = self.node(ref)
        try:
            if node.type == META:
                stored = self.store.put_schema(node.payload)
            else:
                self.copy(node.type, depth + 1)
                for each in references_in(self.store.schema(node.type), node.payload):
                    self.copy(each, depth + 1)
                stored = self.store.put(node.type, node.payload)
        except PayloadError as error:
            raise NotImported(f"the node {ref} is invalid: {error.message}") from error
        if stored != ref:
            raise BundleError(f"the node {ref} gets another reference here: {stored}")
        self._stored.add(ref)
        return stored
