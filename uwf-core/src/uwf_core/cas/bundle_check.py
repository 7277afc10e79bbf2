"""The nodes of a bundle: each valid by its type, all there, none too many."""

from typing import TYPE_CHECKING, cast

from uwf_core.cas.bundle import Bundle
from uwf_core.cas.graph import Graph
from uwf_core.cas.store import Store
from uwf_core.cas.verify import scan_all
from uwf_core.errors import BundleError

if TYPE_CHECKING:
    from uwf_core.api.store import StoreBackend


def store_of(bundle: Bundle) -> Store:
    """The bundle as a store, to be read."""
    return Store(cast("StoreBackend", bundle), lambda: 0)


def check_nodes(bundle: Bundle) -> Graph:
    """Check each node against its type, and that there are exactly those that the variables lead
    to; which refers to which.

    Raises:
        BundleError: a node is invalid, missing, or does not belong there.
    """
    scan = scan_all(store_of(bundle), has_edges=False)
    for fault in scan.faults:
        raise BundleError(f"the node {fault.ref}: {fault.message}", where=bundle.location())
    marks = bytearray(len(scan.graph))
    roots = [scan.graph.position(variable.value) for variable in bundle.contents]
    reached, _ = scan.graph.mark(roots, marks, 1)
    if reached < len(scan.graph):
        stray = scan.graph.ref(marks.find(0))
        raise BundleError(
            f"the node {stray} does not belong to what the bundle holds", where=bundle.location()
        )
    return scan.graph
