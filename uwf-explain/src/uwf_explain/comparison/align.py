"""Align the steps of two threads after their common beginning."""

from collections.abc import Iterator, Sequence
from typing import TypeAlias

Key: TypeAlias = tuple[str, tuple[int, ...]]
"""A role with those that call its thread, and which of its steps this is, after which calls."""

Pair: TypeAlias = tuple[int | None, int | None]
"""The places of two aligned steps, None where a thread has no such step."""


def align(a: Sequence[Key], b: Sequence[Key], common: int) -> Iterator[Pair]:
    """The aligned places: the first `common` ones as they are, the others by their keys.

    The places of each thread come in its own order, unless two pairs cross; then they come in the
    order of `a`.
    """
    yield from ((place, place) for place in range(common))
    in_a = {key: place for place, key in enumerate(a) if place >= common}
    in_b = {key: place for place, key in enumerate(b) if place >= common}
    right = common
    for left in range(common, len(a)):
        partner = in_b.get(a[left])
        # What only B has comes before the pair that follows it in B.
        while partner is not None and right < partner:
            if b[right] not in in_a:
                yield None, right
            right += 1
        yield left, partner
    yield from ((None, place) for place in range(right, len(b)) if b[place] not in in_a)
