"""The nodes of a bundle: each valid by its type, all there, none too many or too dear."""

from typing import TYPE_CHECKING, cast

from uwf_core.cas.bounds import Budget
from uwf_core.cas.bundle import Bundle
from uwf_core.cas.codec import decode
from uwf_core.cas.graph import Graph
from uwf_core.cas.store import Store
from uwf_core.cas.verify import scan_all
from uwf_core.errors import BundleError, PayloadError

if TYPE_CHECKING:
    from uwf_core.api.store import StoreBackend


MOST_WORKFLOWS = 8
"""Of how many workflows the schemas of a bundle may be."""


def store_of(bundle: Bundle) -> Store:
    """The bundle as a store, to be read."""
    return Store(cast("StoreBackend", bundle), lambda: 0)


def check_nodes(bundle: Bundle) -> Graph:
    """Check each node against its type, and that what they refer to exists; return their graph.
    Unless the bundle is plain, exactly the nodes reachable from its variables exist.

    Raises:
        BundleError: a node is invalid, missing, or does not belong there.
    """
    _check_budget(bundle, MOST_WORKFLOWS if bundle.is_plain else len(bundle.manifest.threads))
    scan = scan_all(store_of(bundle), has_edges=False)
    for fault in scan.faults:
        raise BundleError(f"the node {fault.ref}: {fault.message}", where=bundle.location())
    graph = scan.graph
    if bundle.is_plain:
        return graph
    marks = bytearray(len(graph))
    roots = [graph.position(variable.value) for variable in bundle.contents]
    reached, _ = graph.mark(roots, marks, 1)
    if reached < len(graph):
        stray = graph.ref(marks.find(0))
        raise BundleError(f"the node {stray} is not part of the thread", where=bundle.location())
    return graph


def _check_budget(bundle: Bundle, workflows: int) -> None:
    """That all schemas together take no longer to compile than those of two workflows for each
    thread, of which most share one: a thread has one, and the types of nodes that outputs refer to.
    One schema after the other could be within its budget, and all of them take hours.
    """
    budget = Budget(files=2 * min(workflows, MOST_WORKFLOWS))
    for ref in bundle.schemas:
        record = bundle.get(ref)
        assert record is not None
        try:
            schema = decode(record.data)
        except PayloadError as error:
            raise BundleError(f"the node {ref}: {error.message}") from error
        for excess in budget.excesses(schema):
            raise BundleError(
                f"the schemas of the bundle take too long to check; at {ref}: {excess.message}",
                where=bundle.location(),
            )
