"""A mean of trials that are clustered in tasks, with an interval.

Repeats of one task are alike, so that 10 repeats of 6 tasks are not 60 observations. What is drawn
at random, and what the interval is about, are tasks: each counts as its mean, whatever its number
of repeats (the cluster-robust estimate for clusters that count alike: Cameron and Miller, "A
practitioner's guide to cluster-robust inference", Journal of Human Resources 50 (2015) 317-372;
Miller, "Adding Error Bars to Evals", arXiv 2411.00640 (2024), 2.2).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import fsum, inf, sqrt

from uwf_eval.statistics.distributions import normal_quantile, t_half_width, t_quantile
from uwf_eval.statistics.signflip import least_tasks

NOTHING = 1e-15
"""A variance or a share below this is rounding."""


@dataclass(frozen=True, kw_only=True)
class Interval:
    """A range that contains the true value at the requested level, both ends included."""

    low: float
    high: float

    def holds(self, value: float) -> bool:
        """Whether it contains `value`."""
        return self.low <= value <= self.high

    def inside(self, margin: float) -> bool:
        """Whether it is inside -margin … +margin."""
        return -margin <= self.low and self.high <= margin


@dataclass(frozen=True, kw_only=True)
class Estimate:
    """A mean over groups (tasks), with its interval if the data allow one.

    Attributes:
        mean: of the groups' means, so that each group counts alike.
        interval: None if the data do not give one (a single group, or an unbounded quantity that
            never varied).
        groups: their number. values: the number in all groups.
    """

    mean: float
    interval: Interval | None
    groups: int
    values: int


def cluster_mean(
    groups: Sequence[Sequence[float]], level: float = 0.95, *, bounded: bool = True
) -> Estimate | None:
    """The mean over groups (tasks) of values (trials), with its interval.

    Args:
        groups: the values of each task; a group without values is passed over.
        level: the share of intervals that hold the true mean, such as 0.95.
        bounded: the values lie within 0..1 (scores, passed or not): `bounded_interval`; else
            (dollars, tokens, ms) Student's interval over the groups' means.

    Returns:
        None where there is no value at all.

    Raises:
        ValueError: `bounded`, and a value is not within 0..1; or `level` is not within 0..1.
    """
    means = [mean(group) for group in groups if group]
    if not means:
        return None
    return estimate(means, sum(len(group) for group in groups), level, bounded=bounded)


def estimate(means: Sequence[float], values: int, level: float, *, bounded: bool) -> Estimate:
    """The estimate from the means of groups, at least one, which have so many `values` in all."""
    interval = bounded_interval(means, level) if bounded else student_interval(means, level)
    return Estimate(mean=mean(means), interval=interval, groups=len(means), values=values)


def student_interval(means: Sequence[float], level: float) -> Interval | None:
    """m ± t(n - 1) · s / √n; None for a single value and where nothing varies, for then nothing
    is known of how much it could.
    """
    _check_level(level)
    deviation = sqrt(variance(means))
    centre = mean(means)
    if len(means) < 2 or deviation <= 1e-12 * abs(centre):
        return None
    half = t_half_width(deviation, len(means), level)
    return Interval(low=centre - half, high=centre + half)


def bounded_interval(means: Sequence[float], level: float) -> Interval:
    """The interval of a mean of values within 0..1: Wilson's, at the effective number of tasks.

    Student's interval fails here: near 0 and 1 tasks are often all alike, its width is then 0, and
    with 6 tasks it holds the true rate in 85 of 100 cases instead of 95. Wilson's interval is

        centre and width as in `wilson_interval`, with n* = m(1 - m) / (s²/n) for the trials,

    the number of independent trials that would be as precise (Dean and Pagano, "Evaluating
    confidence interval methods for binomial proportions in clustered surveys", Journal of Survey
    Statistics and Methodology 3 (2015) 484-503; Franco, Little, Louis and Slud, "Comparative study
    of confidence intervals for proportions in complex sample surveys", same journal 7 (2019)
    334-364). Where all tasks are alike, n* is their number: then each is taken for one trial.
    The quantile is of Student's t with (n - 1) / (1 - r) degrees of freedom, r = (spread of the
    tasks) / m(1 - m): if tasks only fail or pass, r = 1 and the mean alone determines how much
    they vary (Wilson's normal quantile); where r is near 0, the variance is an estimate from n
    numbers (Student's quantile). The interpolation is our own; the simulation in the tests shows
    that it holds 93-97 % over rates from 0.05 to 0.95 at 6 tasks and more.

    Raises:
        ValueError: a value is not within 0..1.
    """
    _check_level(level)
    if not all(-1e-9 <= each <= 1 + 1e-9 for each in means):
        raise ValueError(f"a score must be within 0..1, not {min(means)} … {max(means)}")
    count = len(means)
    centre = min(max(mean(means), 0.0), 1.0)
    most = centre * (1 - centre)
    spread = variance(means)
    if spread <= NOTHING or most <= NOTHING:
        return wilson_around(centre, count, t_quantile((1 + level) / 2, inf))
    share = min(spread * (count - 1) / count / most, 1.0)
    freedom = (count - 1) / (1 - share) if share < 1 else inf
    return wilson_around(centre, most / (spread / count), t_quantile((1 + level) / 2, freedom))


def mean(values: Sequence[float]) -> float:
    """The mean, without loss to rounding."""
    return fsum(values) / len(values)


def variance(values: Sequence[float]) -> float:
    """The variance with n - 1 below the line; 0 for a single value."""
    if len(values) < 2:
        return 0.0
    centre = mean(values)
    return fsum((each - centre) ** 2 for each in values) / (len(values) - 1)


def _check_level(level: float) -> None:
    if not 0 < level < 1:
        raise ValueError(f"a level must be between 0 and 1, not {level}")


def wilson_interval(successes: float, trials: float, level: float = 0.95) -> Interval:
    """The interval of a success rate p = successes / trials of independent trials.

        (p + z²/2n ± z √(p(1 - p)/n + z²/4n²)) / (1 + z²/n),  z the normal quantile

    E. B. Wilson, "Probable inference, the law of succession, and statistical inference", Journal
    of the American Statistical Association 22 (1927) 209-212; recommended for small n by Brown,
    Cai and DasGupta, "Interval estimation for a binomial proportion", Statistical Science 16
    (2001) 101-133. Repeats of one task are not independent: for them see `cluster_mean`.

    Args:
        successes: within 0..trials. trials: more than 0; neither needs to be whole.
        level: the share of intervals that hold the true rate, such as 0.95.

    Raises:
        ValueError: the numbers are not of these ranges.
    """
    _check_level(level)
    if not (trials > 0 and 0 <= successes <= trials):
        raise ValueError(f"{successes} successes of {trials} trials are impossible")
    return wilson_around(successes / trials, trials, normal_quantile((1 + level) / 2))


def wilson_around(share: float, trials: float, quantile: float) -> Interval:
    """Wilson's interval around a share, with another quantile than the normal one."""
    square = quantile * quantile / trials
    centre = (share + square / 2) / (1 + square)
    half = quantile * sqrt(max(share * (1 - share), 0.0) / trials + square / (4 * trials))
    half /= 1 + square
    # The share itself is within, whatever rounding says where it is 0 or 1.
    return Interval(
        low=max(min(centre - half, share), 0.0), high=min(max(centre + half, share), 1.0)
    )


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
