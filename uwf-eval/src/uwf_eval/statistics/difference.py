"""The interval of a difference of means over the same tasks."""

from collections.abc import Sequence
from math import fsum, sqrt

from uwf_eval.statistics.intervals import (
    NOTHING,
    Estimate,
    Interval,
    bounded_interval,
    mean,
    student_interval,
    variance,
    wilson_interval,
)
from uwf_eval.statistics.signflip import least_tasks

SAME = 1e-12
"""Means that differ by less are equal."""


def paired_difference(
    a: Sequence[float], b: Sequence[float], level: float = 0.95, *, bounded: bool = True
) -> Estimate:
    """The mean of b - a over tasks, with its interval.

    Args:
        a, b: the mean of each task on either side, in the same order; at least one.
        bounded: the values lie within 0..1, so that the interval is `bounded_difference`; else it
            is Student's over the differences, None where they do not vary.

    Raises:
        ValueError: the sides are not of one length, or empty, or out of bounds.
    """
    if len(a) != len(b) or not a:
        raise ValueError(f"{len(a)} and {len(b)} tasks cannot be paired")
    differences = [right - left for left, right in zip(a, b, strict=True)]
    return Estimate(
        mean=mean(differences),
        interval=bounded_difference(a, b, level)
        if bounded
        else student_interval(differences, level),
        groups=len(a),
        values=len(a) + len(b),
    )


def bounded_difference(a: Sequence[float], b: Sequence[float], level: float) -> Interval:
    """The interval of a paired difference of means within 0..1: `square_and_add`.

    If all tasks have the same difference d (usually 0), the data do not show how much tasks vary.
    The interval is then d ± z² / (n + z²), Wilson's upper end for the share of tasks that come
    out otherwise, of which none was among n (as the "rule of three" of Hanley and Lippman-Hand,
    Journal of the American Medical Association 249 (1983) 1743-1745), times how far they are off:
    |d| if n differences that all point one way are more than chance (`least_tasks`), else 1, the
    most there can be.
    """
    differences = [right - left for left, right in zip(a, b, strict=True)]
    if variance(differences) > NOTHING:
        return square_and_add(a, b, level)
    centre = mean(differences)
    unseen = wilson_interval(0, len(a), level).high
    clear = abs(centre) > SAME and len(a) >= least_tasks(1 - level)
    reach = unseen * (abs(centre) if clear else 1.0)
    return Interval(low=max(centre - reach, -1.0), high=min(centre + reach, 1.0))


def square_and_add(a: Sequence[float], b: Sequence[float], level: float) -> Interval:
    """The interval of a paired difference out of the intervals of its two means.

        low  = d - √((m_b - l_b)² - 2c(m_b - l_b)(u_a - m_a) + (u_a - m_a)²)
        high = d + √((u_b - m_b)² - 2c(u_b - m_b)(m_a - l_a) + (m_a - l_a)²)

    with l, u of `bounded_interval` and c the correlation of the two sides over tasks, 0 where a
    side does not vary: R. G. Newcombe, "Improved confidence intervals for the difference between
    binomial proportions based on paired data", Statistics in Medicine 17 (1998) 2635-2650; for
    other means G. Y. Zou and A. Donner, "Construction of confidence limits about effect measures",
    Statistics in Medicine 27 (2008) 1693-1702. Student's interval over the differences fails
    where success is rare or nearly sure, as it does for a mean.
    """
    left, right = bounded_interval(a, level), bounded_interval(b, level)
    mean_a, mean_b, c = mean(a), mean(b), correlation(a, b)
    difference = mean_b - mean_a
    low = difference - _joined(mean_b - right.low, left.high - mean_a, c)
    high = difference + _joined(right.high - mean_b, mean_a - left.low, c)
    return Interval(low=max(low, -1.0), high=min(high, 1.0))


def _joined(one: float, other: float, c: float) -> float:
    return sqrt(max(one * one - 2 * c * one * other + other * other, 0.0))


def correlation(a: Sequence[float], b: Sequence[float]) -> float:
    """Pearson's correlation; 0 where a side does not vary."""
    spread = variance(a) * variance(b)
    if spread <= NOTHING * NOTHING:
        return 0.0
    mean_a, mean_b = mean(a), mean(b)
    products = fsum((x - mean_a) * (y - mean_b) for x, y in zip(a, b, strict=True))
    return max(-1.0, min(1.0, products / (len(a) - 1) / sqrt(spread)))
