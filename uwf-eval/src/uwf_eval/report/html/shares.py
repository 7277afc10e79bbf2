"""Bars: where time and tokens go, which routes were taken, why trials failed; and the judges."""

from collections.abc import Sequence
from typing import Final

from uwf_core.commands import duration
from uwf_eval.records import TrialState
from uwf_eval.report.failures import FailureShare
from uwf_eval.report.html.marks import bar, scale, strip
from uwf_eval.report.html.markup import Markup, join, tag
from uwf_eval.report.html.table import Column, Row, figure, section, table
from uwf_eval.report.judges import JudgeShare
from uwf_eval.report.numbers import (
    NONE,
    at_least,
    dollars,
    known,
    mean_range,
    percent,
    plural,
    score,
    tokens,
)
from uwf_eval.report.roles import RoleShare
from uwf_eval.report.routes import RouteShare

_MEANING: Final[dict[TrialState, str]] = {
    "failed": "counts as a failure, score 0",
    "infra_error": "counts as nothing; resume runs it again",
    "tampered": "counts as nothing; look at it",
}


def judges_section(judges: Sequence[JudgeShare]) -> Markup:
    """What each judge said on average."""
    if not judges:
        return section("Judges", "No judge has said anything yet.")
    columns = (
        Column("Judge"),
        Column("Mean score", "plot", scale()),
        Column("Score", "number"),
        Column("Agrees with itself", "number"),
        Column("Failed", "number"),
        Column("Cost", "number"),
    )
    rows = [
        Row(
            (
                join(each.name, tag("small", f"{each.judge}, {_weight(each)}")),
                _judge_strip(each),
                figure(
                    score(each.score.value), mean_range(each.score), f"n = {each.score.trials:,}"
                ),
                _agreement(each),
                join(f"{each.failed:,}", tag("small", each.error) if each.error else None),
                at_least(each.cost, dollars(each.cost.total)),
            )
        )
        for each in judges
    ]
    note = (
        "A judge that failed gave no score, which is not a low one. Agreement is 1 less the mean "
        "difference between repetitions of one judgement: a judge that disagrees with itself "
        "cannot tell workflows apart."
    )
    return section("Judges", note, table("What the judges said", columns, rows))


def _weight(each: JudgeShare) -> str:
    return f"weight {each.weight:g}" if each.weight else "informs only"


def _judge_strip(each: JudgeShare) -> Markup:
    mean = each.score
    said = f"{each.name}: {score(mean.value)}, {mean_range(mean)}, n = {mean.trials}"
    return strip(0, mean.value, mean.low, mean.high, said)


def _agreement(each: JudgeShare) -> Markup:
    if each.agreement is None:
        return join(NONE, tag("small", "asked once each"))
    return join(score(each.agreement), tag("small", f"in {plural(each.repeated, 'trial')}"))


def roles_section(roles: Sequence[RoleShare]) -> Markup:
    """Time and tokens by role."""
    title = "Where time and tokens go"
    if not roles:
        return section(title, "No trial has run a step.")
    columns = (
        Column("Role"),
        Column("Share of time", "plot"),
        Column("Time", "number"),
        Column("Share of tokens", "plot"),
        Column("Tokens", "number"),
        Column("Cost", "number"),
        Column("Steps", "number"),
    )
    time = sum(each.duration_ms for each in roles) or 1
    used = sum(each.tokens.total or 0 for each in roles) or 1
    rows = [_role(each, each.duration_ms / time, (each.tokens.total or 0) / used) for each in roles]
    note = "All steps of all trials, by the role that took them. Cached tokens are counted in."
    return section(title, note, table("Time, tokens and cost by role", columns, rows))


def _role(each: RoleShare, of_time: float, of_tokens: float) -> Row:
    trouble = [plural(each.corrections, "correction")] if each.corrections else []
    trouble += [plural(each.attempts, "failed attempt")] if each.attempts else []
    cells = (
        each.role,
        bar([(of_time, "tone0")], f"{each.role}: {percent(of_time)} of the time"),
        join(duration(each.duration_ms), tag("small", percent(of_time))),
        bar([(of_tokens, "tone3")], f"{each.role}: {percent(of_tokens)} of the tokens"),
        join(
            at_least(each.tokens, tokens(each.tokens.total)),
            tag("small", known(each.tokens) or percent(of_tokens)),
        ),
        join(at_least(each.cost, dollars(each.cost.total)), tag("small", known(each.cost))),
        join(f"{each.steps:,}", tag("small", ", ".join(trouble))),
    )
    return Row(cells)


def routes_section(routes: Sequence[RouteShare]) -> Markup:
    """Which roles ran in which order."""
    if not routes:
        return section("Routes taken", "No trial has run a step.")
    columns = (
        Column("Route"),
        Column("Trials", "plot"),
        Column("Number", "number"),
        Column("Passed", "number"),
        Column("Score", "number"),
    )
    most = max(each.trials for each in routes)
    rows = []
    for each in routes:
        other = each.trials - each.passed
        parts = [(each.passed / most, "passed"), (other / most, "other")]
        said = f"{each.passed:,} passed, {other:,} did not or do not count"
        passed = f"{each.passed:,} of {each.counted:,}"
        cells = (_route(each), bar(parts, said), f"{each.trials:,}", passed, score(each.score))
        rows.append(Row(cells))
    note = "From the first step to the last. The green part of a bar passed."
    return section("Routes taken", note, table("Routes and what came of them", columns, rows))


def _route(each: RouteShare) -> Markup:
    if not each.stations:
        return join(f"{plural(each.routes, 'rarer route')}, added up")
    stops = [
        tag("li", stop.role, tag("small", f"×{stop.times}") if stop.times > 1 else None)
        for stop in each.stations
    ]
    if each.left_out:
        stops.append(tag("li", f"… {each.left_out:,} more"))
    return tag("ol", *stops, class_="route")


def failures_section(failures: Sequence[FailureShare]) -> Markup:
    """Why trials failed or have no score."""
    if not failures:
        return section("Failures by kind", "None.")
    columns = (
        Column("Kind"),
        Column("Trials", "plot"),
        Column("Number", "number"),
        Column("What it means"),
        Column("For example", "words"),
    )
    most = max(each.trials for each in failures)
    rows = [
        Row(
            (
                tag("code", each.kind),
                bar(
                    [(each.trials / most, f"state-{each.state}")],
                    f"{each.kind}: {plural(each.trials, 'trial')}",
                ),
                join(f"{each.trials:,}", tag("small", f"in {plural(each.tasks, 'task')}")),
                _MEANING.get(each.state, each.state),
                join(each.message or NONE, tag("small", _numbers(each))),
            )
        )
        for each in failures
    ]
    note = "Why trials did not get to the end, or were not judged. A low score is no failure."
    return section("Failures by kind", note, table("Failures and their meaning", columns, rows))


def _numbers(each: FailureShare) -> str:
    said = ", ".join(str(number) for number in each.numbers)
    more = " …" if each.trials > len(each.numbers) else ""
    return f"trial{'s' if each.trials > 1 else ''} {said}{more}"
