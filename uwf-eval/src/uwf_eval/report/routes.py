"""Which roles ran, one after the other, and what came of it."""

from collections.abc import Iterable, Sequence
from itertools import groupby

from uwf_core.api.record import record
from uwf_eval.records import Trial
from uwf_eval.report.states import COUNTED

KEPT = 12
"""Routes that are told of; the rest is added up."""
_LONGEST = 24
"""Stations of a route that are told of."""


@record
class Station:
    """A role on a route, and how often it ran in a row."""

    role: str
    times: int


@record
class RouteShare:
    """A route and its trials.

    Attributes:
        stations: the roles in order; none for the sum of all routes that are rarer.
        left_out: stations that are not told of, since the route is too long.
        routes: how many routes this is; 1, more for the sum.
        trials: how many took it. counted: of these, how many have a score. passed: of those.
        score: mean of the scores, None where there is none.
    """

    stations: Sequence[Station]
    left_out: int
    routes: int
    trials: int
    counted: int
    passed: int
    score: float | None


def routes_of(trials: Iterable[Trial]) -> Sequence[RouteShare]:
    """The routes of these trials, the most frequent first; trials without a step have none."""
    groups: dict[tuple[str, ...], list[Trial]] = {}
    for trial in trials:
        if trial.steps:
            groups.setdefault(tuple(step.role for step in trial.steps), []).append(trial)
    order = sorted(groups, key=lambda roles: (-len(groups[roles]), roles))
    shares = [_share(_stations(roles), 1, groups[roles]) for roles in order[:KEPT]]
    rest = [trial for roles in order[KEPT:] for trial in groups[roles]]
    return [*shares, _share([], len(order) - KEPT, rest)] if rest else shares


def _stations(roles: Iterable[str]) -> list[Station]:
    return [Station(role=role, times=len(list(run))) for role, run in groupby(roles)]


def _share(stations: Sequence[Station], routes: int, trials: Sequence[Trial]) -> RouteShare:
    counted = [trial for trial in trials if trial.state in COUNTED]
    scores = [trial.score for trial in counted if trial.score is not None]
    return RouteShare(
        stations=stations[:_LONGEST],
        left_out=max(len(stations) - _LONGEST, 0),
        routes=routes,
        trials=len(trials),
        counted=len(counted),
        passed=sum(trial.passed is True for trial in counted),
        score=sum(scores) / len(scores) if scores else None,
    )
