"""The sign-flip permutation test: could these differences be chance?

If A and B are the same, then within each task it was chance which of the two results was called A:
each difference could as well have had the other sign. The p-value is the share of all 2^n ways to
set the signs in which the sum is at least as far from 0 as the one that was seen. It supposes
neither normal differences nor equal variances, and is exact for any number of tasks: R. A. Fisher,
"The Design of Experiments" (1935), 21; E. J. G. Pitman, "Significance tests which may be applied
to samples from any populations", Supplement to the Journal of the Royal Statistical Society 4
(1937) 119-130.

Three ways to the same number, the first that fits:
- the differences lie on a grid (scores such as thirds): by the polynomial ∏(1 + x^(2k)), whose
  coefficients count the ways to each sum, for any number of tasks (Pagano and Tritchler, "On
  obtaining permutation distributions in polynomial time", Journal of the American Statistical
  Association 78 (1983) 435-440; Streitberg and Röhmel, "Exact distributions for permutation and
  rank tests", Statistical Software Newsletter 12 (1986) 10-17);
- up to 30 tasks: the sums of either half of the tasks, sorted, each searched in the other half,
  n·2^(n/2) steps instead of 2^n (Horowitz and Sahni, "Computing partitions with applications to
  the knapsack problem", Journal of the ACM 21 (1974) 277-292);
- else a sample of signs with a seed, the seen ones counted among them, so that it stays a valid
  p-value (Phipson and Smyth, "Permutation p-values should never be zero", Statistical Applications
  in Genetics and Molecular Biology 9 (2010) 39).
"""

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import repeat
from math import ceil, fsum, lcm, log2
from typing import Final

MOST_HALVED: Final = 30
"""Tasks up to which differences that lie on no grid are counted exactly."""

SAMPLES: Final = 9_999
_GREATEST_DENOMINATOR: Final = 1_000
_FINEST_GRID: Final = 1_000_000
_MOST_WORK: Final = 1 << 33  # bits that are moved; less than a second
_ROUNDING: Final = 1e-9


@dataclass(frozen=True, kw_only=True)
class SignFlip:
    """What the test found.

    Attributes:
        p: two-sided, within 0 < p <= 1.
        exact: all ways were counted; else `samples` of them.
    """

    p: float
    exact: bool
    samples: int = 0


def sign_flip(differences: Sequence[float], *, samples: int = SAMPLES, seed: int = 0) -> SignFlip:
    """The two-sided sign-flip test of the differences of tasks.

    Neither the order of the tasks nor a change of all signs changes the result. Differences of 0
    say nothing for either side and change nothing.

    Args:
        differences: one of each task.
        samples: how many ways are drawn where they are not all counted. seed: what they are
            drawn with.
    """
    largest = max(map(abs, differences), default=0.0)
    sizes = sorted(abs(each) for each in differences if abs(each) > _ROUNDING * largest)
    seen = abs(fsum(differences))
    if not sizes or seen <= _ROUNDING * fsum(sizes):
        return SignFlip(p=1.0, exact=True)
    grid = _grid(sizes)
    if grid is not None:
        return SignFlip(p=_p_on_grid(grid, differences, sizes), exact=True)
    if len(sizes) <= MOST_HALVED:
        return SignFlip(p=_p_halved(sizes, seen), exact=True)
    return SignFlip(p=_p_sampled(sizes, seen, samples, seed), exact=False, samples=samples)


def least_tasks(p: float) -> int:
    """The fewest tasks that can give a p-value of at most `p`: 6 for 0.05. The smallest p-value of
    n tasks is 2 / 2^n, where all differ one way.
    """
    return max(ceil(1 - log2(p) - 1e-12), 1)


def _grid(sizes: Sequence[float]) -> tuple[list[int], int] | None:
    """The sizes as whole multiples of 1 / q, and q; None where there is no such q in reach."""
    from fractions import Fraction

    scale = 1
    for size in set(sizes):
        near = Fraction(size).limit_denominator(_GREATEST_DENOMINATOR)
        scale = lcm(scale, near.denominator)
        if scale > _FINEST_GRID or abs(size - near) > 1e-12 * max(1.0, size):
            return None
    steps = [round(size * scale) for size in sizes]
    if sum(steps) * (len(steps) + 1) * len(steps) > _MOST_WORK:
        return None
    return steps, scale


def _p_on_grid(
    grid: tuple[list[int], int], differences: Sequence[float], sizes: Sequence[float]
) -> float:
    """Counts with one whole number whose digits, of n + 1 bits each, are the coefficients."""
    steps, scale = grid
    seen = abs(round(fsum(differences) * scale))
    bits = len(sizes) + 1
    ways = 1
    for step in steps:
        ways += ways << (step * bits)
    # The digit at s counts the ways in which the positive ones sum to s; their total is
    # 2s - sum(steps). Those with a total of at least `seen` are the digits from here on.
    from_here = (sum(steps) + seen + 1) // 2
    upper = ways >> (from_here * bits)
    count: int = upper % ((1 << bits) - 1)  # the sum of the digits, which is at most 2^n
    return min(1.0, 2 * count / (1 << len(sizes)))


def _p_halved(sizes: Sequence[float], seen: float) -> float:
    left, right = _signed_sums(sizes[0::2]), _signed_sums(sizes[1::2])
    bound = seen - _ROUNDING * fsum(sizes)
    too_small = sum(map(bisect_left, repeat(right), [bound - each for each in left]))
    count = len(left) * len(right) - too_small
    return min(1.0, 2 * count / (1 << len(sizes)))


def _signed_sums(sizes: Sequence[float]) -> list[float]:
    """All 2^n sums of ±sizes, ascending: each step merges two ascending lists."""
    sums = [0.0]
    for size in sizes:
        sums = sorted([each - size for each in sums] + [each + size for each in sums])
    return sums


def _p_sampled(sizes: Sequence[float], seen: float, samples: int, seed: int) -> float:
    from random import Random

    tables = [_byte_sums(sizes[start : start + 8]) for start in range(0, len(sizes), 8)]
    # A subset's sum s is of the positive ones; the total is 2s - sum(sizes).
    whole = fsum(sizes)
    room = _ROUNDING * whole
    low, high = (whole - seen) / 2 + room, (whole + seen) / 2 - room
    draw, width, count = Random(seed).randbytes, len(tables), 0
    for _ in range(samples):
        positive = 0.0
        for sums, byte in zip(tables, draw(width), strict=True):
            positive += sums[byte]
        if positive >= high or positive <= low:
            count += 1
    return (count + 1) / (samples + 1)


def _byte_sums(sizes: Sequence[float]) -> list[float]:
    """The sum of the sizes that a byte's bits choose, for each of the 256 bytes."""
    sums = [0.0]
    for size in [*sizes, *[0.0] * (8 - len(sizes))]:
        sums += [each + size for each in sums]
    return sums


def holm(p_values: Sequence[float]) -> list[float]:
    """p-values such that the chance of even one false finding among all stays at the level.

    The i-th smallest of m becomes the greatest of (m - j + 1) · p_(j) for j <= i, at most 1.
    S. Holm, "A simple sequentially rejective multiple test procedure", Scandinavian Journal of
    Statistics 6 (1979) 65-70. It needs no independence.

    Returns:
        The adjusted values in the order in which they came.
    """
    adjusted = [0.0] * len(p_values)
    running = 0.0
    for place, index in enumerate(sorted(range(len(p_values)), key=p_values.__getitem__)):
        running = max(running, (len(p_values) - place) * p_values[index])
        adjusted[index] = min(running, 1.0)
    return adjusted
