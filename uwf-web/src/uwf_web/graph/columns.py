"""The x of each spot: near its neighbours, in the order of its row, and apart from the next."""

from collections.abc import Mapping, Sequence

from uwf_web.graph.rows import MANY, Spot

_SWEEPS = 24
_GAP = 18.0
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
            least = -_FAR if before is None else before.x + before.right + _GAP + spot.left
            most = _FAR if after is None else after.x - after.left - _GAP - spot.right
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
        offset += spot.left + (row[number - 1].right + _GAP if number else 0.0)
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
