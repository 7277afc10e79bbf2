"""Estimates from trials: rates and means with intervals, sums with unknown parts."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Final

from uwf_core.api import Usage
from uwf_eval.statistics.intervals import cluster_mean, wilson_interval
from uwf_eval.statistics.passes import mean_pass_at_k, mean_pass_hat_k

_WANTED: Final = (1, 2, 5, 10, 20, 50, 100)


@dataclass(frozen=True, kw_only=True)
class Mean:
    """A mean of scores.

    Attributes:
        value: from 0 to 1, None if no trial counts. Clusters have equal weight.
        low, high: a 95 % interval with the tasks (or cases) as clusters; None if it cannot be
            computed.
        clusters: their number; equal to `trials` if each trial is one.
    """

    value: float | None
    low: float | None
    high: float | None
    trials: int
    clusters: int


@dataclass(frozen=True, kw_only=True)
class Rate(Mean):
    """The share of the counted trials that passed; without clusters its interval is Wilson's. The
    value can differ from `passed` / `trials` if clusters have different sizes.
    """

    passed: int


@dataclass(frozen=True, kw_only=True)
class Passes:
    """pass@k: at least one of k repeats passes; pass^k: all of them do.

    Attributes:
        at, all: None if nothing was repeated k times.
        items: the number of items that were (an item is one case in one configuration), of `of`.
    """

    k: int
    at: float | None
    all: float | None
    items: int
    of: int


def rate_of(clusters: Sequence[Sequence[float]]) -> Rate:
    """The success rate of clustered trials, each 1 or 0."""
    passed, mean = round(sum(map(sum, clusters))), mean_of(clusters)
    found = Rate(**vars(mean), passed=passed)
    if mean.trials and mean.clusters == mean.trials:
        interval = wilson_interval(passed, mean.trials)
        return replace(found, low=interval.low, high=interval.high)
    return found


def mean_of(clusters: Sequence[Sequence[float]]) -> Mean:
    """The mean of clustered scores."""
    found = cluster_mean(clusters)
    if found is None:
        return Mean(value=None, low=None, high=None, trials=0, clusters=0)
    low, high = (found.interval.low, found.interval.high) if found.interval else (None, None)
    return Mean(value=found.mean, low=low, high=high, trials=found.values, clusters=found.groups)


def passes_of(counts: Sequence[tuple[int, int]]) -> Sequence[Passes]:
    """pass@k and pass^k for k = 1, 2, 5, 10, … and the largest number of repeats.

    Args:
        counts: of each item (a case in one configuration) its trials and passed trials.
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


@dataclass(frozen=True, kw_only=True)
class Amount:
    """The dollars, tokens or ms that trials (or steps) used.

    Attributes:
        total: the sum of all that is known; None if nothing is.
        mean, median: of the values that are known exactly.
        known: the number of these values, of `of`.
    """

    total: float | None
    mean: float | None
    median: float | None
    known: int
    of: int

    @property
    def whole(self) -> bool:
        """Whether all values are known."""
        return self.known == self.of


def cost_amount(usages: Iterable[Usage]) -> Amount:
    """The dollars that were used."""
    return amount([(each.cost_usd, each.is_exact("costUsd")) for each in usages])


def token_amount(usages: Iterable[Usage]) -> Amount:
    """The tokens that were used."""
    return amount([(each.tokens, has_tokens(each)) for each in usages])


def has_tokens(usage: Usage) -> bool:
    """Whether all tokens are known. Unknown cached tokens do not count, because services without a
    cache omit them.
    """
    return usage.is_exact("inputTokens", "outputTokens")


def amount(values: Sequence[tuple[float | None, bool]]) -> Amount:
    """The amount of these values; each is exact, or the known part of one (None: nothing)."""
    total = sum(value for value, _ in values if value is not None)
    exact = [value for value, is_exact in values if is_exact and value is not None]
    if not exact:
        return Amount(total=total or None, mean=None, median=None, known=0, of=len(values))
    from statistics import median  # slow to load, and a run needs the rest of this module

    return Amount(
        total=total,
        mean=sum(exact) / len(exact),
        median=float(median(exact)),
        known=len(exact),
        of=len(values),
    )
