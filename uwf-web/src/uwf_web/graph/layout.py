"""The layout of a graph: a box for each node and label, and a path for each edge. Pure.

After Sugiyama, Tagawa and Toda (1981): layers, an order with few crossings, columns, paths.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from uwf_web.graph.rows import MANY, Line, Size, Spot, place_in_rows

_SWEEPS = 24
_BETWEEN = 18.0
_FAR = 1e9
_STRAIGHT = 6.0
"""How much more the channels of a long edge pull at each other than at a node."""


def set_columns(rows: Sequence[Sequence[Spot]], chains: Sequence[Sequence[Spot]]) -> None:
    """Set `x` of every spot. `chains`: the spots of each edge."""
    for row in rows:
        _settle(row, [0.0] * len(row), [1.0] * len(row))
    sweeps = _SWEEPS if sum(map(len, rows)) <= MANY else _SWEEPS // 6
    for sweep in range(sweeps):
        for row in rows if sweep % 2 == 0 else rows[::-1]:
            pulls = [_pull(spot, sweep, sweep < sweeps // 2) for spot in row]
            _settle(row, [place for place, _ in pulls], [weight for _, weight in pulls])
    room = {id(spot): row for row in rows for spot in row}
    for chain in chains:
        _straighten(chain[1:-1], room)


def _pull(spot: Spot, sweep: int, is_early: bool) -> tuple[float, float]:
    """Where the neighbours of a spot want it, and how much."""
    beside = [*spot.ups, *spot.downs]
    if is_early:  # first let each side follow the other, then balance both
        beside = (spot.ups if sweep % 2 == 0 else spot.downs) or beside
    weights = [1.0 if spot.is_node or each.is_node else _STRAIGHT for each in beside]
    total = sum(weights)
    if not total:
        return spot.x, 0.1
    return sum(w * each.x for w, each in zip(weights, beside, strict=True)) / total, total


def _straighten(channel: Sequence[Spot], row_of: Mapping[int, Sequence[Spot]]) -> None:
    """Give the spots between two nodes one `x`, as far as each has room."""
    while channel:
        low, high, count = -_FAR, _FAR, 0
        for spot in channel:
            row = row_of[id(spot)]
            before = row[spot.place - 1] if spot.place else None
            after = row[spot.place + 1] if spot.place + 1 < len(row) else None
            least = -_FAR if before is None else before.x + before.right + _BETWEEN + spot.left
            most = _FAR if after is None else after.x - after.left - _BETWEEN - spot.right
            if max(low, least) > min(high, most):
                break
            low, high, count = max(low, least), min(high, most), count + 1
        count = max(count, 1)
        middle = sum(spot.x for spot in channel[:count]) / count
        for spot in channel[:count]:
            spot.x = min(max(middle, low), high)
        channel = channel[count:]


def _settle(row: Sequence[Spot], wanted: Sequence[float], weights: Sequence[float]) -> None:
    """The places nearest to the wanted ones (least squares) that keep the order and the gaps:
    neighbours that would be too near share the mean of what they want.
    """
    offsets, offset = [], 0.0
    for number, spot in enumerate(row):
        offset += spot.left + (row[number - 1].right + _BETWEEN if number else 0.0)
        offsets.append(offset)
    blocks: list[tuple[float, float, int]] = []  # mean, weight, spots
    for place, weight, offset in zip(wanted, weights, offsets, strict=True):
        mean, count = place - offset, 1
        while blocks and blocks[-1][0] > mean:
            before, heavy, several = blocks.pop()
            mean = (before * heavy + mean * weight) / (heavy + weight)
            weight, count = weight + heavy, count + several
        blocks.append((mean, weight, count))
    means = [mean for mean, _, count in blocks for _ in range(count)]
    for spot, mean, offset in zip(row, means, offsets, strict=True):
        spot.x = mean + offset


MARGIN = 12.0
LOOP = 30.0
"""How far a loop reaches out of its node."""
_PORT = 22.0
_GAP = 16.0
_SLOPE = 0.12
_MORE = 60.0


class Rectangle(NamedTuple):
    """A box; `x` and `y` of its upper left corner, in pixels."""

    x: float
    y: float
    width: float
    height: float


Point = tuple[float, float]


class Path(NamedTuple):
    """An edge. `points`: pairs of ends of vertical lines, from source to target, which curves with
    vertical ends connect; of a loop, its two ends at the right of its node. `label` has its place.
    """

    points: tuple[Point, ...]
    label: Rectangle
    is_loop: bool = False


class Layout(NamedTuple):
    """The picture's size, the boxes of the nodes and the paths of the edges."""

    size: Size
    nodes: tuple[Rectangle, ...]
    paths: tuple[Path, ...]


def layout(nodes: Sequence[Size], lines: Sequence[Line]) -> Layout:
    """Place nodes and labels of these sizes; node 0 is the start."""
    loops = {line.source: line.label for line in lines if line.source == line.target}
    spots = [_spot(size, loops.get(number)) for number, size in enumerate(nodes)]
    found = place_in_rows(spots, lines)
    set_columns(found.rows, found.chains)
    size = _set_heights(found.rows)
    boxes = [
        Rectangle(spot.x - each.width / 2, _middle(spot) - each.height / 2, *each)
        for spot, each in zip(spots, nodes, strict=True)
    ]
    ports = _ports(found.chains, boxes, spots)
    paths = [
        _path(line, found.chains[number], ports[number], number in found.back)
        if line.source != line.target
        else _loop(boxes[line.source], line.label)
        for number, line in enumerate(lines)
    ]
    return Layout(size, tuple(boxes), tuple(paths))


def _spot(size: Size, loop: Size | None) -> Spot:
    half, height = size.width / 2, size.height
    if loop is None:
        return Spot(half, half, height, is_node=True)
    return Spot(half, half + LOOP + loop.width, max(height, loop.height), is_node=True)


def _set_heights(rows: Sequence[Sequence[Spot]]) -> Size:
    """Set top and bottom of each row, and shift all by the margin. Gaps grow with what they hold,
    so that no curve is too flat.
    """
    left = min((spot.x - spot.left for row in rows for spot in row), default=0.0) - MARGIN
    bottom, width = 0.0, 0.0
    for row in rows:
        far = max((abs(spot.x - up.x) for spot in row for up in spot.ups), default=0.0)
        top = bottom + (_GAP + min(far * _SLOPE, _MORE) if bottom else MARGIN)
        bottom = top + max(spot.height for spot in row)
        for spot in row:
            spot.top, spot.bottom, spot.x = top, bottom, spot.x - left
            width = max(width, spot.x + spot.right)
    return Size(width + MARGIN, bottom + MARGIN)


def _middle(spot: Spot) -> float:
    return (spot.top + spot.bottom) / 2


def _ports(
    chains: Sequence[Sequence[Spot]], boxes: Sequence[Rectangle], spots: Sequence[Spot]
) -> list[dict[bool, Point]]:
    """Where each chain leaves its upper node (True) and reaches its lower one (False): side by
    side, in the order of where they lead.
    """
    box_of = {id(spot): box for spot, box in zip(spots, boxes, strict=True)}
    leads: dict[tuple[int, bool], list[tuple[float, int]]] = defaultdict(list)
    for number, chain in enumerate(chains):
        if len(chain) > 1:
            leads[id(chain[0]), True].append((chain[1].x, number))
            leads[id(chain[-1]), False].append((chain[-2].x, number))
    found: list[dict[bool, Point]] = [{} for _ in chains]
    for (key, is_lower), ends in leads.items():
        box = box_of[key]
        step = min(_PORT, box.width / (len(ends) + 1))
        first = box.x + (box.width - (len(ends) - 1) * step) / 2
        for place, (_, number) in enumerate(sorted(ends)):
            found[number][is_lower] = (first + place * step, box.y + is_lower * box.height)
    return found


def _path(line: Line, chain: Sequence[Spot], ports: dict[bool, Point], is_back: bool) -> Path:
    start, end = ports[True], ports[False]
    points = [start, (start[0], chain[0].bottom)]
    for spot in chain[1:-1]:
        points += [(spot.x, spot.top), (spot.x, spot.bottom)]
    points += [(end[0], chain[-1].top), end]
    holder = chain[-2] if is_back else chain[1]
    x, y = holder.x - line.label.width / 2, _middle(holder) - line.label.height / 2
    return Path(tuple(points[::-1] if is_back else points), Rectangle(x, y, *line.label))


def _loop(box: Rectangle, label: Size) -> Path:
    right, middle = box.x + box.width, box.y + box.height / 2
    ends = ((right, middle - box.height / 5), (right, middle + box.height / 5))
    return Path(ends, Rectangle(right + LOOP, middle - label.height / 2, *label), is_loop=True)
