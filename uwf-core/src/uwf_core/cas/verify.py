"""Verification: every node's reference, SHA-256, form and schema, its edges, and what is missing.

Continues after errors: each is kept with its place in the graph of nodes, to find who is
affected by it.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Literal, NamedTuple

from uwf_core.cas.check import NodeCheck
from uwf_core.cas.graph import NOWHERE, Graph, GraphNode
from uwf_core.cas.walk import walk
from uwf_core.errors import CorruptNodeError, StoreError
from uwf_core.ids import number_of, ref_of_number

if TYPE_CHECKING:
    from uwf_core.cas.store import Store

Kind = Literal["damaged", "missing"]


class NodeFault(NamedTuple):
    """An error in a node.

    `positions` are places in the graph: all nodes that reach them are affected. They are the
    damaged node, or the nodes that refer to a missing one.
    """

    kind: Kind
    ref: str
    message: str
    positions: tuple[int, ...]


class Scan(NamedTuple):
    """The checked nodes, their errors, and why others could not be read."""

    graph: Graph
    faults: tuple[NodeFault, ...]
    unreadable: str | None = None

    def affected(self, roots: Mapping[str, Iterable[str]]) -> dict[int, list[str]]:
        """For each error, by its index: the names in `roots` whose nodes reach it, sorted."""
        wanted: dict[int, list[int]] = {}
        for index, fault in enumerate(self.faults):
            for position in fault.positions:
                wanted.setdefault(position, []).append(index)
        found: dict[int, list[str]] = {}
        if not wanted:
            return found
        within = self.graph.leading_to(wanted)
        for name in sorted(roots):
            hit: set[int] = set()
            for ref in roots[name]:
                position = self.graph.position(ref)
                if position != NOWHERE and within[position]:
                    hit |= self.graph.reached(position, within, wanted.keys())
            for index in {each for position in hit for each in wanted[position]}:
                found.setdefault(index, []).append(name)
        return found


def scan_all(store: "Store", *, has_edges: bool = True) -> Scan:
    """Check every node of the store; `has_edges`: whether its records have edges."""
    looking = _Looking(store, has_edges)
    return looking.result(looking.all())


def scan_from(store: "Store", roots: Iterable[str]) -> Scan:
    """Check the nodes reachable from `roots`; a missing root is not an error."""
    looking = _Looking(store)
    return looking.result(looking.reached(roots))


class _Looking:
    """A scan under way."""

    def __init__(self, store: "Store", has_edges: bool = True) -> None:
        self._store = store
        self._check = NodeCheck(store.schema, has_edges)
        self._graph = Graph()
        self._faults: list[NodeFault] = []
        self._unreadable: str | None = None

    def all(self) -> Iterator[GraphNode]:
        """Look at every node, one after the other; each as the graph is to have it."""
        checked, position = self._check.node, 0
        try:
            for record in self._store.records():
                try:
                    node: GraphNode | None = checked(record)
                except CorruptNodeError as error:
                    node = self._damaged(record.ref, position, error.message)
                if node is not None:
                    position += 1
                    yield node
        except StoreError as error:
            self._unreadable = str(error)

    def reached(self, roots: Iterable[str]) -> Iterator[GraphNode]:
        """The same for what `roots` lead to."""
        position = 0

        def look(ref: str) -> tuple[GraphNode, Iterable[str]] | None:
            nonlocal position
            node = self._look_at(ref, position)
            if node is None:
                return None
            position += 1
            return node, map(ref_of_number, node[1])

        return walk(roots, look)

    def _look_at(self, ref: str, position: int) -> GraphNode | None:
        """One node by its name; None if there is none."""
        try:
            record = self._store.stored(ref)
            return None if record is None else self._check.node(record._replace(ref=ref))
        except StoreError as error:
            return self._damaged(ref, position, error.message)

    def _damaged(self, ref: str, position: int, message: str) -> GraphNode | None:
        """Keep the error; the references of the node are not trusted."""
        number = number_of(ref)
        positions = () if number is None else (position,)
        self._faults.append(NodeFault("damaged", ref, message, positions))
        return None if number is None else (number, (), 0)

    def result(self, nodes: Iterable[GraphNode]) -> Scan:
        """Check `nodes`; return the errors, including missing nodes."""
        self._graph.extend(nodes)
        if self._unreadable is None:  # else what was not reached would seem to be missing
            self._faults += self._missing()
        return Scan(self._graph, tuple(self._faults), self._unreadable)

    def _missing(self) -> Iterator[NodeFault]:
        for ref, holders in self._graph.dangling().items():
            if self._store.has(ref):
                continue  # it came while the scan went on
            if not self._store.present([self._graph.ref(holder) for holder in holders]):
                continue  # they went together: a collection
            first = self._graph.ref(holders[0])
            message = f"the node is missing, but {first} refers to it"
            yield NodeFault("missing", ref, message, tuple(holders))
