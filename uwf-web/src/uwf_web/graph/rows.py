"""Rows of nodes and labels, in an order with few crossings; the layer of each node.

Nodes stand in even rows; the label of an edge has its own place in an odd row beside its
source, and where an edge passes other rows it keeps a narrow channel free. So nothing can overlap.
"""

from bisect import bisect, insort
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import NamedTuple

Arc = tuple[int, int]
"""The numbers of the nodes at the start and the end of an edge."""


def layers(count: int, arcs: Sequence[Arc]) -> tuple[list[int], set[int]]:
    """The layer of each of `count` nodes, and the numbers of the back edges among `arcs`.

    The search begins at node 0 and takes arcs in their order; an arc to a node on the way to its
    source is a back edge. Loops (source is target) are neither followed nor back edges.
    """
    out: list[list[int]] = [[] for _ in range(count)]
    for number, (source, target) in enumerate(arcs):
        if source != target:
            out[source].append(number)
    order, back = _search(count, arcs, out)
    layer = [0] * count
    for node in order:
        for number in out[node]:
            if number not in back:
                target = arcs[number][1]
                layer[target] = max(layer[target], layer[node] + 1)
    return layer, back


def _search(
    count: int, arcs: Sequence[Arc], out: Sequence[Sequence[int]]
) -> tuple[list[int], set[int]]:
    """Nodes before all that they lead to, and the back edges. Depth first, without recursion."""
    finished: list[int] = []
    back: set[int] = set()
    is_open: dict[int, bool] = {}
    for root in range(count):
        stack = [] if root in is_open else [(root, iter(out[root]))]
        is_open.setdefault(root, True)
        while stack:
            node, rest = stack[-1]
            number = next(rest, None)
            if number is None:
                stack.pop()
                is_open[node] = False
                finished.append(node)
                continue
            target = arcs[number][1]
            if target not in is_open:
                is_open[target] = True
                stack.append((target, iter(out[target])))
            elif is_open[target]:
                back.add(number)
    return finished[::-1], back


_SWEEPS = 12
_EXCHANGES = 6
MANY = 1_500
"""Spots from which on less is tried: a large graph must not keep a page waiting."""


class Size(NamedTuple):
    """Width and height in pixels."""

    width: float
    height: float


class Line(NamedTuple):
    """An edge by the numbers of its nodes, with the size of its label."""

    source: int
    target: int
    label: Size


@dataclass(slots=True, eq=False)
class Spot:
    """A place in a row: of a node, of a label, or a channel. `left` and `right` from its `x`;
    `top` and `bottom` of its row.
    """

    left: float
    right: float
    height: float
    x: float = 0.0
    top: float = 0.0
    bottom: float = 0.0
    ups: "list[Spot]" = field(default_factory=list)
    downs: "list[Spot]" = field(default_factory=list)
    is_node: bool = False
    place: int = 0


class Rows(NamedTuple):
    """The spots of all rows, of each node, and of each line from its upper to its lower node;
    `back`: the lines that lead upwards.
    """

    rows: list[list[Spot]]
    nodes: list[Spot]
    chains: list[list[Spot]]
    back: set[int]


def place_in_rows(nodes: Sequence[Spot], lines: Sequence[Line]) -> Rows:
    """Rows in their order from left to right. `nodes` have their sizes, and get their links."""
    layer, back = layers(len(nodes), [(line.source, line.target) for line in lines])
    rows: list[list[Spot]] = [[] for _ in range(2 * max(layer, default=0) + 1)]
    for number, spot in enumerate(nodes):
        rows[2 * layer[number]].append(spot)
    chains = []
    for number, line in enumerate(lines):
        ends = (line.target, line.source) if number in back else (line.source, line.target)
        upper, lower = 2 * layer[ends[0]], 2 * layer[ends[1]]
        labelled = lower - 1 if number in back else upper + 1
        chain = [nodes[ends[0]]]
        for row in range(upper + 1, lower):
            size = line.label if row == labelled else Size(0, 0)
            chain.append(Spot(size.width / 2, size.width / 2, size.height))
            rows[row].append(chain[-1])
        chain += [] if line.source == line.target else [nodes[ends[1]]]
        for above, below in pairwise(chain):
            above.downs.append(below)
            below.ups.append(above)
        chains.append(chain)
    return Rows(_ordered(rows), list(nodes), chains, back)


def _ordered(rows: list[list[Spot]]) -> list[list[Spot]]:
    best, fewest = rows, None
    is_large = sum(map(len, rows)) > MANY
    for sweep in range(2 if is_large else _SWEEPS):
        for row in rows:
            _number(row)
        is_down = sweep % 2 == 0
        for row in rows if is_down else rows[::-1]:
            _number(sorted_ := sorted(row, key=lambda spot: _middle(spot, is_down)))
            row[:] = sorted_
        if not is_large:
            _exchange(rows)
        crossings = sum(map(_crossings, rows))
        if fewest is None or crossings < fewest:
            best, fewest = [list(row) for row in rows], crossings
        if not fewest:
            break
    for row in best:
        _number(row)
    return best


def _number(row: Sequence[Spot]) -> None:
    for place, spot in enumerate(row):
        spot.place = place


def _middle(spot: Spot, is_down: bool) -> float:
    """The middle of its neighbours in the row that is already in order."""
    places = sorted(each.place for each in (spot.ups if is_down else spot.downs))
    if not places:
        return spot.place
    half = len(places) // 2
    return (places[half] + places[~half]) / 2


def _exchange(rows: Sequence[list[Spot]]) -> None:
    """Exchange neighbours while that saves crossings."""
    for _ in range(_EXCHANGES):
        is_better = False
        for row in rows:
            for at in range(len(row) - 1):
                one, other = row[at], row[at + 1]
                saved = _between(one, other) - _between(other, one)
                if saved > 0:
                    row[at], row[at + 1] = other, one
                    one.place, other.place = other.place, one.place
                    is_better = True
        if not is_better:
            return


def _between(left: Spot, right: Spot) -> int:
    """Crossings of the links of two neighbours."""
    total = 0
    for ours, theirs in ((left.ups, right.ups), (left.downs, right.downs)):
        places = sorted(each.place for each in theirs)
        total += sum(bisect(places, each.place - 1) for each in ours)
    return total


def _crossings(row: Sequence[Spot]) -> int:
    """Crossings between a row and the next one."""
    seen: list[int] = []
    total = 0
    for spot in row:
        places = sorted(each.place for each in spot.downs)
        total += sum(len(seen) - bisect(seen, place) for place in places)
        for place in places:
            insort(seen, place)
    return total
