"""Success rates and mean scores with what is known of their precision."""

from collections.abc import Sequence
from typing import Final

from uwf_core.api.record import record
from uwf_eval.statistics.cluster import cluster_mean
from uwf_eval.statistics.interval import Interval
from uwf_eval.statistics.passes import mean_pass_at_k, mean_pass_hat_k
from uwf_eval.statistics.wilson import wilson_interval

_WANTED: Final = (1, 2, 5, 10, 20, 50, 100)


@record
class Rate:
    """How many of the trials that count have passed.

    Attributes:
        value: within 0..1, None where no trial counts. Where trials are clustered, each cluster
            counts alike, so that it is not quite `passed` by `trials` if some have more of them.
        low, high: a 95 % interval: Wilson's where all trials are of one kind, else with the tasks
            (or cases) as clusters; None where that is not to be known.
        clusters: how many there are; equal to `trials` where each trial is on its own.
    """

    passed: int
    trials: int
    value: float | None
    low: float | None
    high: float | None
    clusters: int


@record
class Mean:
    """A mean of scores, with a 95 % interval where there are enough of them."""

    value: float | None
    low: float | None
    high: float | None
    trials: int
    clusters: int


@record
class Passes:
    """pass@k: at least one of k repeats passes; pass^k: all of them do.

    Attributes:
        at, all: None where nothing was repeated k times.
        items: how many were (an item is one case in one configuration), out of `of`.
    """

    k: int
    at: float | None
    all: float | None
    items: int
    of: int


def rate_of(groups: Sequence[Sequence[float]]) -> Rate:
    """The success rate of trials, each 1 or 0, in their clusters."""
    n, good = sum(map(len, groups)), round(sum(map(sum, groups)))
    if n and len(groups) == n:
        return _rate(good, n, good / n, wilson_interval(good, n), n)
    estimate = cluster_mean(groups)
    if estimate is None:
        return _rate(0, 0, None, None, 0)
    return _rate(good, n, estimate.mean, estimate.interval, estimate.groups)


def _rate(
    passed: int, trials: int, value: float | None, interval: Interval | None, clusters: int
) -> Rate:
    low, high = _ends(interval)
    return Rate(passed=passed, trials=trials, value=value, low=low, high=high, clusters=clusters)


def mean_of(groups: Sequence[Sequence[float]]) -> Mean:
    """The mean of scores, in their clusters."""
    estimate = cluster_mean(groups)
    if estimate is None:
        return Mean(value=None, low=None, high=None, trials=0, clusters=0)
    low, high = _ends(estimate.interval)
    return Mean(
        value=estimate.mean,
        low=low,
        high=high,
        trials=estimate.values,
        clusters=estimate.groups,
    )


def _ends(interval: Interval | None) -> tuple[float | None, float | None]:
    return (None, None) if interval is None else (interval.low, interval.high)


def passes_of(counts: Sequence[tuple[int, int]]) -> Sequence[Passes]:
    """pass@k and pass^k for k of 1, 2, 5, 10, … and the most repeats there are.

    Args:
        counts: of each item (a case in one configuration) its trials, and how many passed.
    """
    most = max((n for n, _ in counts), default=0)
    wanted = {k for k in _WANTED if k < most} | ({most} if most else set())
    return [
        Passes(
            k=k,
            at=mean_pass_at_k(counts, k),
            all=mean_pass_hat_k(counts, k),
            items=sum(n >= k for n, _ in counts),
            of=len(counts),
        )
        for k in sorted(wanted)
    ]
