"""The results of a run by judge, role, route and kind of failure."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby

from uwf_eval.records import JudgeResult, Trial, TrialState, TrialStep
from uwf_eval.report.estimates import Amount, Mean, cost_amount, mean_of, token_amount
from uwf_eval.report.groups import COUNTED, CaseGroup, Clustering
from uwf_eval.report.numbers import clip

_ROUTES = 12
"""The most listed routes; all others are one entry."""
_STATIONS = 24
"""The most listed stations of a route."""
_NUMBERS = 5
_MESSAGE = 400


@dataclass(frozen=True, kw_only=True)
class JudgeShare:
    """The results of one judge in all trials.

    Attributes:
        name: in the tasks. judge: its kind and name. Judges with equal names and kinds are one.
        weight: in the trial's score; the highest if tasks differ; 0: informational.
        score: the mean of its scores, clustered like the trials' scores.
        failed: how often it failed and gave no score. error: the first error.
        agreement: the mean over the `repeated` trials with several repetitions; None without
            any.
        cost: of its model calls.
    """

    name: str
    judge: str
    weight: float
    tasks: int
    score: Mean
    failed: int
    error: str | None
    agreement: float | None
    repeated: int
    cost: Amount


def judges_of(groups: Sequence[CaseGroup], clustering: Clustering) -> Sequence[JudgeShare]:
    """Every judge of these groups, informational ones last."""
    found: dict[tuple[str, str], list[tuple[CaseGroup, list[JudgeResult]]]] = defaultdict(list)
    for group in groups:
        for key, results in group.judges.items():
            found[key].append((group, results))
    shares = [_judge(name, judge, own, clustering) for (name, judge), own in found.items()]
    return sorted(shares, key=lambda each: (each.weight == 0, -each.tasks, each.name))


def _judge(
    name: str,
    judge: str,
    own: Sequence[tuple[CaseGroup, Sequence[JudgeResult]]],
    clustering: Clustering,
) -> JudgeShare:
    results = [each for _, some in own for each in some]
    scores = ((group, [x.score for x in some if x.score is not None]) for group, some in own)
    errors = [each.error for each in results if each.error is not None]
    agreements = [each.agreement for each in results if each.agreement is not None]
    return JudgeShare(
        name=name,
        judge=judge,
        weight=max(each.weight for each in results),
        tasks=len({group.cell.task for group, _ in own}),
        score=mean_of(clustering.clusters(scores)),
        failed=len(errors),
        error=errors[0] if errors else None,
        agreement=sum(agreements) / len(agreements) if agreements else None,
        repeated=len(agreements),
        cost=cost_amount([each.usage for each in results]),
    )


@dataclass(frozen=True, kw_only=True)
class RoleShare:
    """The steps of one role in all trials of the run.

    Attributes:
        steps: their number, in `trials` trials.
        duration_ms: of all steps.
        attempts: failed attempts before the steps. corrections: rejected outputs.
    """

    role: str
    steps: int
    trials: int
    duration_ms: int
    tokens: Amount
    cost: Amount
    attempts: int
    corrections: int


def roles_of(trials: Iterable[Trial]) -> Sequence[RoleShare]:
    """Every role of these trials, the longest duration first."""
    found: dict[str, list[TrialStep]] = defaultdict(list)
    numbers: dict[str, set[int]] = defaultdict(set)
    for trial in trials:
        for step in trial.steps:
            found[step.role].append(step)
            numbers[step.role].add(trial.number)
    shares = [
        RoleShare(
            role=role,
            steps=len(steps),
            trials=len(numbers[role]),
            duration_ms=sum(each.duration_ms for each in steps),
            tokens=token_amount([each.usage for each in steps]),
            cost=cost_amount([each.usage for each in steps]),
            attempts=sum(each.attempts for each in steps),
            corrections=sum(each.corrections for each in steps),
        )
        for role, steps in found.items()
    ]
    return sorted(shares, key=lambda each: (-each.duration_ms, each.role))


@dataclass(frozen=True, kw_only=True)
class Station:
    """A role of a route, and how often it ran in a row."""

    role: str
    times: int


@dataclass(frozen=True, kw_only=True)
class RouteShare:
    """A route and its trials.

    Attributes:
        stations: the roles in order; empty for the sum of all rarer routes.
        left_out: the number of stations beyond the limit.
        routes: 1, or more for the sum.
        trials: with this route. counted: those with a score. passed: of those.
        score: the mean of the scores, None without any.
    """

    stations: Sequence[Station]
    left_out: int
    routes: int
    trials: int
    counted: int
    passed: int
    score: float | None


def routes_of(trials: Iterable[Trial]) -> Sequence[RouteShare]:
    """The routes of these trials, the most frequent first; trials without steps have none."""
    found: dict[tuple[str, ...], list[Trial]] = defaultdict(list)
    for trial in trials:
        if trial.steps:
            found[tuple(step.role for step in trial.steps)].append(trial)
    order = sorted(found, key=lambda roles: (-len(found[roles]), roles))
    shares = [_route(roles, 1, found[roles]) for roles in order[:_ROUTES]]
    rest = [trial for roles in order[_ROUTES:] for trial in found[roles]]
    return [*shares, _route((), len(order) - _ROUTES, rest)] if rest else shares


def _route(roles: Iterable[str], routes: int, trials: Sequence[Trial]) -> RouteShare:
    stations = [Station(role=role, times=len(list(run))) for role, run in groupby(roles)]
    counted = [trial for trial in trials if trial.state in COUNTED]
    scores = [trial.score for trial in counted if trial.score is not None]
    return RouteShare(
        stations=stations[:_STATIONS],
        left_out=max(len(stations) - _STATIONS, 0),
        routes=routes,
        trials=len(trials),
        counted=len(counted),
        passed=sum(trial.passed is True for trial in counted),
        score=sum(scores) / len(scores) if scores else None,
    )


@dataclass(frozen=True, kw_only=True)
class FailureShare:
    """One kind of failure.

    Attributes:
        state: of the trials; a kind with two states has two entries.
        trials: their number. tasks: the number of their tasks.
        message: an example. numbers: of the first few trials.
    """

    kind: str
    state: TrialState
    trials: int
    tasks: int
    message: str
    numbers: Sequence[int]


def failures_of(trials: Iterable[Trial]) -> Sequence[FailureShare]:
    """The failures of these trials, the most frequent first."""
    found: dict[tuple[str, TrialState], list[Trial]] = defaultdict(list)
    for trial in trials:
        if kind := _kind(trial):
            found[kind, trial.state].append(trial)
    shares = [
        FailureShare(
            kind=kind,
            state=state,
            trials=len(own),
            tasks=len({trial.cell.task for trial in own}),
            message=clip(next(filter(None, map(reason_of, own)), ""), _MESSAGE),
            numbers=[trial.number for trial in own[:_NUMBERS]],
        )
        for (kind, state), own in found.items()
    ]
    return sorted(shares, key=lambda each: (-each.trials, each.kind, each.state))


def reason_of(trial: Trial) -> str:
    """Why a trial has no score or a score of 0; "" if it needs no reason."""
    if trial.tampered:
        return "changed: " + ", ".join(trial.tampered)
    return trial.failure.message if trial.failure else ""


def _kind(trial: Trial) -> str | None:
    if trial.state == "tampered":
        return "tampered"
    if trial.failure is not None:
        return trial.failure.kind
    return "unknown" if trial.state in ("failed", "infra_error") else None
