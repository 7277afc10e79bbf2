"""Trials of both sides on sealed tasks -> what the decision is made from."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import isclose

from uwf_eval.compare.measure import is_bounded, weigh
from uwf_eval.compare.pairs import Pair, pair_up
from uwf_eval.compare.records import CompareOptions, Metric
from uwf_eval.records import Trial
from uwf_eval.statistics.intervals import mean
from uwf_eval.statistics.power import Case
from uwf_improve.gate.bar import SHARES, Bar, GuardMetric
from uwf_improve.gate.decide import Evidence


@dataclass(frozen=True, kw_only=True)
class Contest:
    """The trials of the champion and of the edit, one run of each.

    Attributes:
        units: of each sealed task the unit that it belongs to (`Place.unit`).
        infra_errors: of each side, how many trials ended as infra_error before they were repeated.
    """

    champion: Sequence[Trial]
    edit: Sequence[Trial]
    units: Mapping[str, str]
    infra_errors: tuple[int, int] = (0, 0)


def weigh_evidence(bar: Bar, contest: Contest) -> Evidence:
    """Measure the metric and the guards over units: all tasks of a source count as one.

    Raises:
        ValueError: a trial is of a task that is not in `units`.
    """
    strange = {each.cell.task for each in (*contest.champion, *contest.edit)} - set(contest.units)
    if strange:
        raise ValueError(f"trials of tasks that are not sealed: {', '.join(sorted(strange))}")
    found = pair_up(contest.champion, contest.edit)
    never_run = _never_run(bar, found.pairs, contest)
    pairs = [
        replace(each, task=contest.units[each.task], case=f"{each.task}/{each.case}")
        for each in found.pairs
    ]
    sample = weigh(bar.metric, pairs, CompareOptions(metrics=(bar.metric,), over="task"))
    left_out = sum(each.trials for each in found.left_out)
    champion, edit = (_unit_means(sample.cases, side) for side in (0, 1))
    return Evidence(
        champion=champion,
        edit=edit,
        worse={each.metric: _worse(each.metric, pairs, contest) for each in bar.guards},
        missing=left_out + sum(sample.measured.unknown) + never_run,
    )


def _unit_means(cases: Sequence[Sequence[Case]], side: int) -> list[float]:
    return [mean([mean(case[side]) for case in unit]) for unit in cases]


def _never_run(bar: Bar, pairs: Sequence[Pair], contest: Contest) -> int:
    """Trials of sealed tasks that the bar asks for and that are on neither side."""
    cases: dict[str, list[int]] = {task: [] for task in contest.units}
    for pair in pairs:
        cases[pair.task] += [len(pair.a), len(pair.b)]
    sides = [count for counts in cases.values() for count in counts or (0, 0)]
    return sum(max(bar.repeats - count, 0) for count in sides)


def _worse(metric: GuardMetric, pairs: Sequence[Pair], contest: Contest) -> float | None:
    if metric in SHARES:
        return _share_change(metric, contest)
    return _change(metric, pairs)  # type: ignore[arg-type]


def _share_change(metric: GuardMetric, contest: Contest) -> float:
    before, after = len(contest.champion) or 1, len(contest.edit) or 1
    if metric == "infra_errors":
        return contest.infra_errors[1] / after - contest.infra_errors[0] / before
    tampered = [
        sum(trial.state == "tampered" for trial in side)
        for side in (contest.champion, contest.edit)
    ]
    return tampered[1] / after - tampered[0] / before


def _change(metric: Metric, pairs: Sequence[Pair]) -> float | None:
    """By how much the edit is worse: of bounded metrics the difference, of others a share of the
    champion's mean. None where a value is unknown, or the share has no base.
    """
    measured = weigh(metric, pairs, CompareOptions(metrics=(metric,), over="task")).measured
    if measured.difference is None or measured.a is None or any(measured.unknown):
        return None
    if is_bounded(metric):
        return -measured.difference
    if isclose(measured.difference, 0.0, abs_tol=1e-12):
        return 0.0
    return measured.relative
