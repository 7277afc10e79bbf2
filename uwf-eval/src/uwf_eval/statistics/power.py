"""How many tasks or repeats would show a difference.

A task's difference varies for two reasons: tasks differ (variance `between`), and a repeat of the
same task comes out otherwise (`within`, for one repeat on each side). Over n tasks with m repeats
the mean difference has the variance (between + within / m) / n, so more repeats help down to
`between` / n and no further: E. Miller, "Adding Error Bars to Evals", arXiv 2411.00640 (2024),
3 and 5. A difference δ is found with probability `power` where

    (t(1 - (1 - level)/2; n - 1) + t(power; n - 1)) · √variance <= |δ|

(for example J. Cohen, "Statistical Power Analysis for the Behavioral Sciences", 2nd ed., 1988).
What is planned is a new comparison, with variances as seen: no judgement on the one that was made
(Hoenig and Heisey, "The abuse of power", The American Statistician 55 (2001) 19-24).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, sqrt
from typing import Final

from uwf_eval.statistics.distributions import normal_quantile, t_quantile
from uwf_eval.statistics.intervals import NOTHING, mean, variance
from uwf_eval.statistics.signflip import least_tasks

Case = tuple[Sequence[float], Sequence[float]]
"""The values of a case's repeats, on side a and on side b."""

MOST: Final = 1_000_000
"""More tasks or repeats than this are not worth naming."""


@dataclass(frozen=True, kw_only=True)
class Spread:
    """Why the differences of tasks vary.

    Attributes:
        tasks: how many there were. total: the variance of their differences.
        between: what would stay with endless repeats; None where no task was repeated on both
            sides. within: variance of one repeat's difference on top of it; None likewise.
    """

    tasks: int
    total: float
    between: float | None
    within: float | None


@dataclass(frozen=True, kw_only=True)
class Aim:
    """What a comparison is to find: a difference `target`, at a level, with a probability."""

    target: float
    level: float = 0.95
    power: float = 0.8


def spread(tasks: Sequence[Sequence[Case]]) -> Spread:
    """The variances of the differences b - a, by analysis of variance: between = the variance of
    the tasks' differences less what repeats explain of it, at least 0.

    Args:
        tasks: of each task its cases (one, where it has no cases), at least one.
    """
    differences = [mean([mean(b) - mean(a) for a, b in cases]) for cases in tasks]
    total = variance(differences)
    repeated = [cases for cases in tasks if all(len(a) > 1 and len(b) > 1 for a, b in cases)]
    if not repeated:
        return Spread(tasks=len(tasks), total=total, between=None, within=None)
    explained = [_of_mean([_noise(a) + _noise(b) for a, b in cases]) for cases in repeated]
    single = [_of_mean([variance(a) + variance(b) for a, b in cases]) for cases in repeated]
    return Spread(
        tasks=len(tasks),
        total=total,
        between=max(total - mean(explained), 0.0),
        within=mean(single),
    )


def _noise(values: Sequence[float]) -> float:
    return variance(values) / len(values)


def _of_mean(variances: Sequence[float]) -> float:
    """The variance of a mean of independent values with these variances."""
    return mean(variances) / len(variances)


def tasks_needed(seen: Spread, aim: Aim, *, bounded: bool) -> int | None:
    """How many tasks, with as many repeats as there were, would find the difference.

    Never fewer than the sign-flip test needs to speak at all. Where the differences did not vary,
    and are `bounded` (scores within 0..1), it is the number of tasks at which the interval of a
    share of which none was seen, z² / (n + z²), is as narrow as the target.

    Returns:
        None where it cannot be known, or is beyond a million.
    """
    target, least = abs(aim.target), least_tasks(1 - aim.level)
    if target <= NOTHING or (seen.total <= NOTHING and not bounded):
        return None
    if seen.total <= NOTHING:
        square = normal_quantile((1 + aim.level) / 2) ** 2
        return max(least, ceil(square * (1 - min(target, 1)) / target - 1e-9))
    normal = normal_quantile((1 + aim.level) / 2) + normal_quantile(aim.power)
    tasks = max(least, 2, ceil(seen.total * (normal / target) ** 2 - 1e-9))
    if tasks > MOST:
        return None
    while not _enough(seen.total, tasks, aim):  # Student's quantiles ask for a few more
        tasks += 1
    return tasks


def repeats_needed(seen: Spread, aim: Aim) -> int | None:
    """How many repeats on each side of the same tasks would find the difference.

    Returns:
        None where no number would, or it cannot be known, or is beyond a million.
    """
    if seen.between is None or seen.within is None or seen.tasks < 2:
        return None
    if seen.tasks < least_tasks(1 - aim.level) or seen.total <= NOTHING:
        return None
    room = seen.tasks * (aim.target / _quantiles(seen.tasks, aim)) ** 2 - seen.between
    if room <= NOTHING or seen.within > MOST * room:
        return None
    return max(1, ceil(seen.within / room - 1e-9))


def _enough(total: float, tasks: int, aim: Aim) -> bool:
    return _quantiles(tasks, aim) * sqrt(total / tasks) <= abs(aim.target)


def _quantiles(tasks: int, aim: Aim) -> float:
    freedom = tasks - 1
    return t_quantile((1 + aim.level) / 2, freedom) + t_quantile(aim.power, freedom)
