"""How far the repetitions of a judge agree. Pure."""

from collections.abc import Sequence
from itertools import combinations
from math import fsum


def agreement_of(scores: Sequence[float]) -> float | None:
    """1 - the mean absolute difference of all pairs, within 0..1; None for fewer than two."""
    if len(scores) < 2:
        return None
    apart = [abs(one - other) for one, other in combinations(scores, 2)]
    return 1.0 - fsum(apart) / len(apart)
