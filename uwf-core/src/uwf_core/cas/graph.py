"""The graph of all nodes as numbers, small enough for a million nodes.

A node is a position; its reference and edges are 64-bit integers in flat arrays, so that a node
takes some 40 bytes and 8 for each edge, where texts in sets take four times that. References are
hashes, evenly spread: their last bits find a slot of a table that is at most half full. Who makes
references that end alike does not know by which steps they look for a free one.
"""

from array import array
from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import accumulate, chain, islice
from os import urandom

from uwf_core.cas.walk import reached
from uwf_core.ids import number_of, ref_of_number

NOWHERE = -1
"""The position of what is not in the store."""

_BITS = 64
_OFTEN = 512
"""How many marked nodes are remembered: types, that nearly every edge leads to, come first."""

_BATCH = 200
"""How many nodes are held as objects at once: what fits a fast cache."""

_CHUNK = 1 << 17
"""Of how many nodes the edges are held as objects at once."""


GraphNode = tuple[int, tuple[int, ...], int]
"""A reference, the references in it with its type among them, and when it was put last (ms)."""


class Graph:
    """Nodes and their edges: `extend` with all nodes, then ask."""

    def __init__(self) -> None:
        self._refs = array("q")
        self._edges = array("q")
        self._ends = array("Q", (0,))
        self._touched = array("q")
        self._table = array("I", bytes(8))
        self._sealed, self._shift = 0, _BITS
        self._secret = int.from_bytes(urandom(8), "big") | 1

    def __len__(self) -> int:
        return len(self._refs)

    def extend(self, nodes: Iterable[GraphNode]) -> None:
        """Add nodes; positions are in their order."""
        nodes = iter(nodes)
        while batch := tuple(islice(nodes, _BATCH)):
            refs, edges, touched = zip(*batch, strict=True)
            self._refs.extend(refs)
            self._touched.extend(touched)
            self._edges.extend(chain.from_iterable(edges))
            end = self._ends.pop()
            self._ends.extend(accumulate(map(len, edges), initial=end))

    def _seal(self) -> None:
        """Make positions findable."""
        if self._sealed == len(self._refs):
            return
        self._sealed = len(self._refs)
        bits = (2 * len(self._refs)).bit_length()
        table = self._table = array("I", bytes(4 << bits))
        mask, secret = len(table) - 1, self._secret
        shift = self._shift = _BITS - bits  # there a product depends on all bits of its factors
        for after, ref in enumerate(self._refs, 1):
            slot = ref & mask
            if table[slot]:
                step = ref * secret >> shift | 1
                while table[slot]:
                    slot = (slot + step) & mask
            table[slot] = after

    def position(self, ref: str) -> int:
        """The position of a node, or `NOWHERE`."""
        self._seal()
        number = number_of(ref)
        return NOWHERE if number is None else self._position(number)

    def _position(self, number: int) -> int:
        table, mask = self._table, len(self._table) - 1
        slot, step = number & mask, 0
        while after := table[slot]:
            if self._refs[after - 1] == number:
                return after - 1
            step = step or number * self._secret >> self._shift | 1
            slot = (slot + step) & mask
        return NOWHERE

    def ref(self, position: int) -> str:
        """The reference of the node at a position."""
        return ref_of_number(self._refs[position])

    def touched_ms(self, position: int) -> int:
        """When the node at a position was put last."""
        return self._touched[position]

    def young(self, since_ms: int) -> Iterator[int]:
        """The positions of nodes that were put at `since_ms` or later."""
        return (position for position, touched in enumerate(self._touched) if touched >= since_ms)

    def edge_numbers(self, position: int) -> tuple[int, ...]:
        """The edges of the node at a position, as they were added."""
        return tuple(self._edges_at(position))

    def edges(self, position: int) -> Iterator[str]:
        """The references in the node at a position."""
        return (ref_of_number(number) for number in self._edges_at(position))

    def _edges_at(self, position: int) -> Sequence[int]:
        return self._edges[self._ends[position] : self._ends[position + 1]]

    def mark(self, roots: Iterable[int], marks: bytearray, stamp: int) -> tuple[int, set[str]]:
        """Give all unmarked nodes that can be reached from `roots` the mark `stamp`.

        Args:
            roots: positions.
            marks: one byte for each position, 0 where there is no mark.
            stamp: 1 to 255.

        Returns:
            How many were marked, and the dangling references on the way.
        """
        self._seal()
        refs, edges, ends = self._refs, self._edges, self._ends
        table, mask = self._table, len(self._table) - 1
        secret, shift = self._secret, self._shift
        waiting, count, missing = array("I"), 0, set[str]()
        often = set[int]()
        for root in roots:
            if not marks[root]:
                marks[root] = stamp
                waiting.append(root)
        while waiting:
            at = waiting.pop()
            count += 1
            for place in range(ends[at], ends[at + 1]):
                number = edges[place]
                if number in often:
                    continue
                slot, step = number & mask, 0
                while after := table[slot]:
                    position = after - 1
                    if refs[position] == number:
                        if not marks[position]:
                            marks[position] = stamp
                            waiting.append(position)
                        elif len(often) < _OFTEN:
                            often.add(number)
                        break
                    step = step or number * secret >> shift | 1
                    slot = (slot + step) & mask
                else:
                    missing.add(ref_of_number(number))
        return count, missing

    def dangling(self) -> dict[str, list[int]]:
        """Dangling references, each with the positions of the nodes that hold it."""
        self._seal()
        missing = set(self._unknown())
        found: dict[str, list[int]] = {}
        if missing:
            for at in range(len(self._refs)):
                for number in self._edges_at(at):
                    if number in missing:
                        found.setdefault(ref_of_number(number), []).append(at)
        return found

    def _unknown(self) -> Iterator[int]:
        """Edges that lead nowhere."""
        for first in range(0, len(self._refs), _CHUNK):
            last = min(first + _CHUNK, len(self._refs))
            numbers = set(self._edges[self._ends[first] : self._ends[last]])
            numbers.difference_update(self._refs[max(0, first - _CHUNK) : last])  # most lie near
            yield from (each for each in numbers if self._position(each) == NOWHERE)

    def leading_to(self, positions: Iterable[int]) -> bytearray:
        """One byte for each node: 1 where one of `positions` can be reached from it."""
        self._seal()
        sources, first = self._reversed()
        marks = bytearray(len(self._refs))
        for position in reached(positions, lambda at: sources[first[at] : first[at + 1]]):
            marks[position] = 1
        return marks

    def _reversed(self) -> tuple["array[int]", "array[int]"]:
        """The reverse edges: sources, and where those of each position begin among them."""
        count = len(self._refs)
        first = array("I", bytes(4 * (count + 1)))
        for number in self._edges:
            position = self._position(number)
            if position != NOWHERE:
                first[position + 1] += 1
        first = array("I", accumulate(first))
        free, sources = first[:], array("I", bytes(4 * first[-1]))
        for at in range(count):
            for number in self._edges_at(at):
                position = self._position(number)
                if position != NOWHERE:
                    sources[free[position]] = at
                    free[position] += 1
        return sources, first

    def reached(self, root: int, within: bytearray, wanted: Collection[int]) -> set[int]:
        """Which of the positions `wanted` are reached from `root` over nodes of `within` alone."""

        def after(at: int) -> Iterator[int]:
            below = map(self._position, self._edges_at(at))
            return (each for each in below if each != NOWHERE and within[each])

        return {at for at in reached([root], after) if at in wanted}
