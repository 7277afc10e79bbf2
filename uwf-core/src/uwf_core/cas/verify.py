"""Verification: every node's reference, SHA-256, form and schema, its edges, and what is missing.

Nothing stops it: each fault is kept with its place in the graph of nodes, which tells who is
affected by it.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Literal

from uwf_core.api.store import Record
from uwf_core.cas.check import NodeCheck
from uwf_core.cas.graph import NOWHERE, Graph
from uwf_core.errors import CorruptNodeError, StoreError
from uwf_core.ids import number_of, ref_of_number
from uwf_core.named_tuple import NamedTuple

if TYPE_CHECKING:
    from uwf_core.cas.store import Store

Kind = Literal["damaged", "missing"]


class Fault(NamedTuple):
    """What is wrong with a node.

    `positions` are places in the graph: whoever leads there is affected. That is the damaged node
    itself, or the nodes that refer to a missing one.
    """

    kind: Kind
    ref: str
    message: str
    positions: tuple[int, ...]


class Scan(NamedTuple):
    """Nodes that were looked at, what is wrong with them, and why others could not be read."""

    graph: Graph
    faults: tuple[Fault, ...]
    unreadable: str | None = None

    def affected(self, roots: Mapping[str, Iterable[str]]) -> dict[int, list[str]]:
        """For each fault, by its index: the names in `roots` whose nodes lead to it, sorted."""
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
    """Look at every node of the store; `has_edges` says whether its records come with edges."""
    looking = _Looking(store, has_edges)
    try:
        for record in store.records():
            looking.look(record)
    except StoreError as error:
        return looking.result(unreadable=str(error))
    return looking.result()


def scan_from(store: "Store", roots: Iterable[str]) -> Scan:
    """Look at the nodes that `roots` lead to; a root that is missing is not among the faults."""
    looking = _Looking(store)
    waiting = list(dict.fromkeys(roots))
    seen = set(waiting)
    while waiting:
        ref = waiting.pop()
        for edge in looking.look_at(ref):
            if edge not in seen:
                seen.add(edge)
                waiting.append(edge)
    return looking.result()


class _Looking:
    """A scan under way."""

    def __init__(self, store: "Store", has_edges: bool = True) -> None:
        self._store = store
        self._has_edges = has_edges
        self._check = NodeCheck(store.schema)
        self._graph = Graph()
        self._faults: list[Fault] = []

    def look_at(self, ref: str) -> Iterable[str]:
        """Look at one node by its name; what it refers to."""
        try:
            record = self._store.stored(ref)
        except StoreError as error:
            self._add_damaged(ref, number_of(ref), error.message)
            return ()
        if record is None:
            return ()
        return map(ref_of_number, self.look(record._replace(ref=ref)))

    def look(self, record: Record) -> Iterable[int]:
        """Look at a record; its edges."""
        number = number_of(record.ref)
        try:
            if number is None:
                raise CorruptNodeError("its reference is none")
            edges = self._check.edges(record, number)
            if self._has_edges and edges != record.edges:
                raise CorruptNodeError("its edges are not the references in it")
        except CorruptNodeError as error:
            self._add_damaged(record.ref, number, error.message)
            return ()
        self._graph.add(number, edges)
        return edges

    def _add_damaged(self, ref: str, number: int | None, message: str) -> None:
        positions: tuple[int, ...] = ()
        if number is not None:
            positions = (len(self._graph),)
            self._graph.add(number, ())
        self._faults.append(Fault("damaged", ref, message, positions))

    def result(self, unreadable: str | None = None) -> Scan:
        """The faults, with what is missing."""
        if unreadable is None:  # else what was not reached would seem to be missing
            self._faults += self._missing()
        return Scan(self._graph, tuple(self._faults), unreadable)

    def _missing(self) -> Iterator[Fault]:
        for ref, holders in self._graph.dangling().items():
            if self._store.has(ref):
                continue  # it came while the scan went on
            if not self._store.present([self._graph.ref(holder) for holder in holders]):
                continue  # they went together: a collection
            first = self._graph.ref(holders[0])
            message = f"there is no such node, but {first} refers to it"
            yield Fault("missing", ref, message, tuple(holders))
