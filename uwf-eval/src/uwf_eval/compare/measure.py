"""Measures one metric over all pairs, and plans a comparison that can decide."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from math import isfinite

from uwf_eval.compare.pairs import Pair
from uwf_eval.compare.records import CompareOptions, Measured, Metric, Plan
from uwf_eval.records import StepTrial, Trial
from uwf_eval.report.estimates import has_tokens
from uwf_eval.statistics.intervals import SAME, estimate, mean, paired_difference
from uwf_eval.statistics.power import Aim, Case, repeats_needed, spread, tasks_needed


def is_bounded(metric: Metric) -> bool:
    """Whether its values are from 0 to 1."""
    return metric in ("score", "passed", "valid", "status", "fields")


def higher_is_better(metric: Metric) -> bool:
    """Whether higher values are better; of dollars, tokens, ms and corrections lower ones are."""
    return is_bounded(metric)


def value_of(metric: Metric, trial: Trial) -> float | None:
    """The metric of a trial: a share, 0 or 1, dollars, tokens, ms or a number; None: unknown."""
    match metric:
        case "score":
            value: float | None = trial.score
        case "passed":
            value = None if trial.passed is None else float(trial.passed)
        case "cost":
            value = trial.usage.cost_usd if trial.usage.is_exact("costUsd") else None
        case "tokens":
            value = trial.usage.tokens if has_tokens(trial.usage) else None
        case "duration":
            value = trial.duration_ms
        case _:
            value = None if trial.recorded is None else _of_step(metric, trial.recorded)
    return value if value is not None and isfinite(value) else None


def _of_step(metric: Metric, found: StepTrial) -> float | None:
    match metric:
        case "valid":
            return float(found.got is not None)
        case "status":
            return float(found.same_status)
        case "fields":
            return found.same_fields
    return float(found.corrections)


@dataclass(frozen=True, kw_only=True)
class MetricSample:
    """A metric of the pairs: its measures, and the input of the test.

    Attributes:
        cases: of each unit (task or case), its cases with their values.
        differences: B - A of each unit.
    """

    measured: Measured
    cases: Sequence[Sequence[Case]]
    differences: Sequence[float]


def weigh(metric: Metric, pairs: Sequence[Pair], options: CompareOptions) -> MetricSample:
    """Measure a metric; trials without a value are skipped and counted as unknown."""
    values = [(_values(metric, pair.a), _values(metric, pair.b)) for pair in pairs]
    unknown = (
        sum(len(pair.a) - len(a) for pair, (a, _) in zip(pairs, values, strict=True)),
        sum(len(pair.b) - len(b) for pair, (_, b) in zip(pairs, values, strict=True)),
    )
    cases = _cases(pairs, values, options)
    if not cases:
        nothing = Measured(metric=metric, tasks=0, unknown=unknown)
        return MetricSample(measured=nothing, cases=(), differences=())
    means_a = [mean([mean(a) for a, _ in each]) for each in cases]
    means_b = [mean([mean(b) for _, b in each]) for each in cases]
    differences = [right - left for left, right in zip(means_a, means_b, strict=True)]
    bounded = is_bounded(metric)
    effect = paired_difference(means_a, means_b, options.level, bounded=bounded)
    trials_a = sum(len(a) for each in cases for a, _ in each)
    trials_b = sum(len(b) for each in cases for _, b in each)
    a = estimate(means_a, trials_a, options.level, bounded=bounded)
    b = estimate(means_b, trials_b, options.level, bounded=bounded)
    measured = Measured(
        metric=metric,
        tasks=len(cases),
        a=a,
        b=b,
        difference=effect.mean,
        interval=effect.interval,
        relative=None if abs(a.mean) <= SAME else effect.mean / a.mean,
        margin=_margin(a.mean, bounded, options),
        higher=sum(each > SAME for each in differences),
        lower=sum(each < -SAME for each in differences),
        equal=sum(abs(each) <= SAME for each in differences),
        unknown=unknown,
    )
    return MetricSample(measured=measured, cases=cases, differences=differences)


def _cases(
    pairs: Sequence[Pair], values: Sequence[Case], options: CompareOptions
) -> Sequence[Sequence[Case]]:
    groups: dict[tuple[str, str], list[Case]] = {}
    for pair, (a, b) in zip(pairs, values, strict=True):
        if a and b:
            one = (pair.task, pair.case if options.over == "case" else "")
            groups.setdefault(one, []).append((a, b))
    return list(groups.values())


def _values(metric: Metric, trials: Iterable[Trial]) -> list[float]:
    values = [value_of(metric, trial) for trial in trials]
    return [value for value in values if value is not None]


def _margin(mean_a: float, bounded: bool, options: CompareOptions) -> float | None:
    """The margin in the unit of the metric; None if A's mean is 0."""
    if bounded:
        return options.within
    return None if abs(mean_a) <= SAME else options.within * abs(mean_a)


def plans(weighed: MetricSample, options: CompareOptions) -> list[Plan]:
    """Plans for the smallest difference that matters, and for the observed one if it is larger."""
    if not weighed.cases:
        return []
    seen = spread(weighed.cases)
    # With several metrics, plan for the strictest step of Holm's method.
    level = 1 - (1 - options.level) / len(options.metrics)
    bounded = is_bounded(weighed.measured.metric)
    repeats_now = sum(len(a) for cases in weighed.cases for a, _ in cases)
    repeats_now += sum(len(b) for cases in weighed.cases for _, b in cases)
    found = []
    for kind, target in _targets(weighed.measured):
        aim = Aim(target=target, level=level, power=options.power)
        plan = Plan(
            kind="margin" if kind == "margin" else "seen",
            target=target,
            tasks=tasks_needed(seen, aim, bounded=bounded),
            repeats=repeats_needed(seen, aim),
            tasks_now=seen.tasks,
            repeats_now=repeats_now / 2 / sum(map(len, weighed.cases)),
        )
        found.append(plan)
    return found


def _targets(measured: Measured) -> Iterator[tuple[str, float]]:
    margin, difference = measured.margin or 0.0, abs(measured.difference or 0.0)
    if difference > margin:
        yield "seen", difference
    if margin > 0:
        yield "margin", margin
