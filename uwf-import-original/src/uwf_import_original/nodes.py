"""Nodes of a home, stored in a bundle under the same references."""

from functools import lru_cache

from uwf_core.api.importers import BundleMaker
from uwf_core.errors import BundleError, PayloadError
from uwf_core.ids import Ref
from uwf_core.importers.write_bundles import META, NodeRecord
from uwf_import_original.fields import NotImported
from uwf_import_original.home import OriginalHome

_DEEPEST = 64
_REMEMBERED = 4096
"""How many nodes are remembered: types and workflows, which nearly every step needs, are few."""


class NodeCopy:
    """Stores nodes of a home with all that they refer to, each checked against its type."""

    def __init__(self, home: OriginalHome, maker: BundleMaker) -> None:
        self._maker = maker
        self._node = lru_cache(_REMEMBERED)(home.node)
        self._stored = set[str]()

    def node(self, ref: str) -> NodeRecord:
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
                stored = self._maker.put_type(node.payload)
            else:
                self.copy(node.type, depth + 1)
                for each in self._maker.references(node.type, node.payload):
                    self.copy(each, depth + 1)
                stored = self._maker.put(node.type, node.payload)
        except PayloadError as error:
            raise NotImported(f"the node {ref} is invalid: {error.message}") from error
        if stored != ref:
            raise BundleError(f"the node {ref} gets another reference here: {stored}")
        self._stored.add(ref)
        return stored
