"""Which node refers to which: the whole store as numbers, small enough for a million nodes.

A node is a position; its reference and edges are 64-bit integers in flat arrays, so that a node
takes some 40 bytes and 8 for each edge, where texts in sets take four times that. References are
hashes, evenly spread: their first bits find a bucket of one or two positions.
"""

from array import array
from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import accumulate

from uwf_core.ids import number_of, ref_of_number

NOWHERE = -1
"""The position of what is not in the store."""

_BITS = 64
_HALF = 1 << 63
_OFTEN = 512
"""How many marked nodes are remembered: types, that nearly every edge leads to, come first."""

_CHUNK = 1 << 18
"""How many numbers are held as objects at once."""


class Graph:
    """Nodes and their edges: `add` all nodes, then ask."""

    def __init__(self) -> None:
        self._refs = array("q")
        self._edges = array("q")
        self._ends = array("Q")
        self._touched = array("q")
        self._slots = array("I")
        self._buckets = array("I")
        self._shift = _BITS
        self._sealed = 0

    def __len__(self) -> int:
        return len(self._refs)

    def add(self, ref: int, edges: Iterable[int], touched_ms: int = 0) -> None:
        """Add a node with the references in it, its type among them; all as numbers."""
        self._refs.append(ref)
        self._touched.append(touched_ms)
        self._edges.extend(edges)
        self._ends.append(len(self._edges))

    def _seal(self) -> None:
        """Make positions findable."""
        if self._sealed == len(self._refs) > 0:
            return
        self._sealed = len(self._refs)
        bits = max(1, len(self._refs).bit_length())
        shift = self._shift = _BITS - bits
        starts = array("I", bytes(4 * ((1 << bits) + 1)))
        for ref in self._refs:
            starts[((ref + _HALF) >> shift) + 1] += 1
        starts = array("I", accumulate(starts))
        slots = self._slots = array("I", bytes(4 * len(self._refs)))
        free = starts[:]
        for position, ref in enumerate(self._refs):
            bucket = (ref + _HALF) >> shift
            slot = free[bucket]
            free[bucket] = slot + 1
            slots[slot] = position
        self._buckets = starts

    def position(self, ref: str) -> int:
        """Where a node is, `NOWHERE` if it is not there."""
        self._seal()
        number = number_of(ref)
        return NOWHERE if number is None else self._position(number)

    def _position(self, number: int) -> int:
        bucket = (number + _HALF) >> self._shift
        refs = self._refs
        for slot in range(self._buckets[bucket], self._buckets[bucket + 1]):
            position = self._slots[slot]
            if refs[position] == number:
                return position
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
        first = self._ends[position - 1] if position else 0
        return self._edges[first : self._ends[position]]

    def mark(self, roots: Iterable[int], marks: bytearray, stamp: int) -> tuple[int, set[str]]:
        """Give all unmarked nodes that can be reached from `roots` the mark `stamp`.

        Args:
            roots: positions.
            marks: one byte for each position, 0 where there is no mark.
            stamp: 1 to 255.

        Returns:
            How many were marked, and references on the way that point to nothing.
        """
        self._seal()
        refs, edges, ends = self._refs, self._edges, self._ends
        slots, buckets, shift = self._slots, self._buckets, self._shift
        half = _HALF
        waiting, count, missing = array("I"), 0, set[str]()
        often = set[int]()
        for root in roots:
            if not marks[root]:
                marks[root] = stamp
                waiting.append(root)
        while waiting:
            at = waiting.pop()
            count += 1
            for number in edges[ends[at - 1] if at else 0 : ends[at]]:
                if number in often:
                    continue
                bucket = (number + half) >> shift
                for slot in range(buckets[bucket], buckets[bucket + 1]):
                    position = slots[slot]
                    if refs[position] == number:
                        if not marks[position]:
                            marks[position] = stamp
                            waiting.append(position)
                        elif len(often) < _OFTEN:
                            often.add(number)
                        break
                else:
                    missing.add(ref_of_number(number))
        return count, missing

    def dangling(self) -> dict[str, list[int]]:
        """References that point to nothing, each with the positions of the nodes that hold it."""
        missing: set[int] = set()
        for first in range(0, len(self._edges), _CHUNK):
            missing.update(set(self._edges[first : first + _CHUNK]).difference(self._refs))
        found: dict[str, list[int]] = {}
        if missing:
            for at in range(len(self._refs)):
                for number in self._edges_at(at):
                    if number in missing:
                        found.setdefault(ref_of_number(number), []).append(at)
        return found

    def leading_to(self, positions: Iterable[int]) -> bytearray:
        """One byte for each node: 1 where one of `positions` can be reached from it."""
        self._seal()
        sources, first = self._reversed()
        marks = bytearray(len(self._refs))
        waiting = array("I")
        for position in positions:
            if not marks[position]:
                marks[position] = 1
                waiting.append(position)
        while waiting:
            at = waiting.pop()
            for source in sources[first[at] : first[at + 1]]:
                if not marks[source]:
                    marks[source] = 1
                    waiting.append(source)
        return marks

    def _reversed(self) -> tuple["array[int]", "array[int]"]:
        """Who refers to whom: sources, and where those of each position begin among them."""
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
        found, seen, waiting = set[int](), {root}, [root]
        while waiting:
            at = waiting.pop()
            if at in wanted:
                found.add(at)
            for number in self._edges_at(at):
                position = self._position(number)
                if position != NOWHERE and within[position] and position not in seen:
                    seen.add(position)
                    waiting.append(position)
        return found
