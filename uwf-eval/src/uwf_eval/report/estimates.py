"""Figures of trials: rates and means with their precision, sums with unknown parts."""

from collections.abc import Sequence
from typing import Final

from uwf_core.api import Usage
from uwf_core.api.record import record
from uwf_eval.statistics.intervals import cluster_mean, wilson_interval
from uwf_eval.statistics.passes import mean_pass_at_k, mean_pass_hat_k

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


def rate_of(clusters: Sequence[Sequence[float]]) -> Rate:
    """The success rate of trials, each 1 or 0, in their clusters."""
    passed, mean = round(sum(map(sum, clusters))), mean_of(clusters)
    low, high = mean.low, mean.high
    if mean.trials and mean.clusters == mean.trials:
        interval = wilson_interval(passed, mean.trials)
        low, high = interval.low, interval.high
    return Rate(
        passed=passed,
        trials=mean.trials,
        value=mean.value,
        low=low,
        high=high,
        clusters=mean.clusters,
    )


def mean_of(clusters: Sequence[Sequence[float]]) -> Mean:
    """The mean of scores, in their clusters."""
    found = cluster_mean(clusters)
    if found is None:
        return Mean(value=None, low=None, high=None, trials=0, clusters=0)
    low, high = (found.interval.low, found.interval.high) if found.interval else (None, None)
    return Mean(value=found.mean, low=low, high=high, trials=found.values, clusters=found.groups)


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


@record
class Amount:
    """What some trials (or steps) used of one thing: dollars, tokens, ms.

    Attributes:
        total: the sum of what is known; None where nothing is.
        mean, median: of those that are known.
        known: how many are, out of `of`.
    """

    total: float | None
    mean: float | None
    median: float | None
    known: int
    of: int

    @property
    def whole(self) -> bool:
        """Whether all of it is known, so that the total is one."""
        return self.known == self.of


def amount(values: Sequence[float | None]) -> Amount:
    """The amount that these values come to; None is unknown."""
    known = [value for value in values if value is not None]
    if not known:
        return Amount(total=None, mean=None, median=None, known=0, of=len(values))
    from statistics import median  # slow to load, and a run needs the rest of this module

    total = sum(known)
    return Amount(
        total=total,
        mean=total / len(known),
        median=float(median(known)),
        known=len(known),
        of=len(values),
    )


def tokens_of(usage: Usage) -> int | None:
    """All tokens that a model read and wrote, the cached ones included; None where reading or
    writing is not known. Services that cache nothing do not speak of it.
    """
    if usage.input_tokens is None or usage.output_tokens is None:
        return None
    cached = (usage.cache_read_tokens or 0) + (usage.cache_write_tokens or 0)
    return usage.input_tokens + usage.output_tokens + cached
