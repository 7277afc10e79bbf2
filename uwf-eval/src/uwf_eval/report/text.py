"""The report for a terminal, also a narrow one, and for a pipe."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from uwf_core.commands import Column, Screen, clean, duration, table
from uwf_eval.report.numbers import (
    NONE,
    NOT_ENOUGH,
    at_least,
    dollars,
    known,
    mean_range,
    percent,
    plural,
    rate_range,
    score,
    tokens,
    utc,
)
from uwf_eval.report.routes import RouteShare
from uwf_eval.report.states import States
from uwf_eval.report.summary import Line, Report, trials_in

_TASKS = 60
_LINES = (
    Column("name", "", least=18),
    Column("n", "N", right=True),
    Column("passed", "PASSED", right=True),
    Column("range", "95%", right=True),
    Column("score", "SCORE", right=True),
    Column("score_range", "95%", rank=1, right=True),
    Column("cost", "COST", rank=3, right=True),
    Column("tokens", "TOKENS", rank=4, right=True),
    Column("time", "TIME", rank=2, right=True),
    Column("apart", "APART", least=8, rank=5),
)
_ROLES = (
    Column("role", "ROLE", least=8),
    Column("steps", "STEPS", right=True),
    Column("time", "TIME", right=True),
    Column("share", "", right=True),
    Column("tokens", "TOKENS", right=True),
    Column("cost", "COST", right=True, rank=1),
    Column("trouble", "SENT BACK", right=True, rank=2),
)
_JUDGES = (
    Column("name", "JUDGE", least=8),
    Column("weight", "WEIGHT", right=True, rank=2),
    Column("score", "SCORE", right=True),
    Column("range", "95%", right=True),
    Column("n", "N", right=True),
    Column("failed", "FAILED", right=True),
    Column("agreement", "AGREES", right=True, rank=1),
)
_FAILURES = (
    Column("kind", "KIND", least=8),
    Column("trials", "TRIALS", right=True),
    Column("state", "STATE"),
    Column("message", "FOR EXAMPLE", least=12, rank=1),
)
_ROUTES = (
    Column("trials", "TRIALS", right=True),
    Column("passed", "PASSED", right=True),
    Column("score", "SCORE", right=True),
    Column("route", "ROUTE", least=16),
)


def report_text(report: Report, screen: Screen) -> str:
    """The whole report."""
    parts = [
        _head(report, screen),
        _whole(report, screen),
        _lines("CONFIGURATION", _configuration_rows(report), screen),
        _lines("TASK", _task_rows(report), screen),
        _left_out(report),
        table(_JUDGES, [_judge(each) for each in report.overall.judges], screen)
        if report.overall.judges
        else "",
        table(_ROLES, _role_rows(report), screen) if report.roles else "",
        table(_ROUTES, [_route_row(each) for each in report.routes], screen)
        if report.routes
        else "",
        _failures(report, screen),
        _hints(report, screen),
    ]
    return "\n\n".join(part for part in parts if part)


def _head(report: Report, screen: Screen) -> str:
    run = report.run
    ended = "" if run.finished_at_ms else ", not finished"
    name = clean(run.name or run.run)
    command = " ".join(("uwf-eval", *run.command)) if run.command else ""
    lines = [
        screen.paint(name, "bold"),
        f"{run.run}  {utc(run.started_at_ms)}{ended}",
        screen.paint(clean(command), "dim"),
    ]
    return "\n".join(line for line in lines if line)


def _whole(report: Report, screen: Screen) -> str:
    line = report.overall
    pairs = [
        ("trials", states_text(line.states, screen)),
        ("passed", _passed(line, screen)),
        ("score", _score(report, screen)),
        *((f"pass@{each.k}", _repeats(each)) for each in line.passes[-1:] if each.k > 1),
        ("cost", _cost(line)),
        ("tokens", _tokens(line)),
        ("time", _time(line)),
    ]
    return "\n".join(f"{screen.paint(name.ljust(8), 'dim')}{value}" for name, value in pairs)


def states_text(states: States, screen: Screen) -> str:
    """How trials ended, those that count first; the others are said to be apart."""
    counted = [f"{states.scored:,} scored"] + ([f"{states.failed:,} failed"] * (states.failed > 0))
    apart = [
        screen.paint(f"{number:,} {word}", style)
        for number, word, style in (
            (states.infra_error, "infra error", "warning"),
            (states.tampered, "tampered", "error"),
            (states.not_run, "not run", "dim"),
        )
        if number
    ]
    said = ", ".join(counted)
    return f"{said}; apart: {', '.join(apart)}" if apart else said


def _passed(line: Line, screen: Screen) -> str:
    success = line.success
    if success.value is None:
        return "no trial counts"
    share = screen.paint(percent(success.value), "bold")
    return f"{share} ({rate_range(success)}), {success.passed:,} of {success.trials:,}"


def _score(report: Report, screen: Screen) -> str:
    mean = report.overall.score
    if mean.value is None:
        return "no trial counts"
    value = screen.paint(score(mean.value), "bold")
    return f"{value} ({mean_range(mean)}), n = {trials_in(mean, report)}"


def _repeats(each: Any) -> str:
    over = plural(each.items, "case")
    of = f" of {each.of:,}" if each.items < each.of else ""
    return f"{score(each.at)}, pass^{each.k} {score(each.all)}, over {over}{of}"


def _cost(line: Line) -> str:
    if line.cost.mean is None and not line.spent.total:
        return "not known"
    each = f"{dollars(line.cost.mean)} each"
    partly = f" ({known(line.cost)})" if known(line.cost) else ""
    return f"{each}{partly}, {at_least(line.spent, dollars(line.spent.total))} in all"


def _tokens(line: Line) -> str:
    if line.tokens.mean is None:
        return "not known"
    partly = f" ({known(line.tokens)})" if known(line.tokens) else ""
    return f"{tokens(line.tokens.mean)} each{partly}"


def _time(line: Line) -> str:
    if line.duration.median is None:
        return NONE
    total = duration(round(line.duration.total or 0))
    return f"{duration(round(line.duration.median))} median, {total} in all"


def _lines(title: str, rows: Iterable[Mapping[str, Any]], screen: Screen) -> str:
    listed = list(rows)
    if not listed:
        return ""
    columns = (_LINES[0]._replace(title=title), *_LINES[1:])
    empty = {each.key for each in columns if all(row[each.key] in ("", NONE) for row in listed)}
    return table([each for each in columns if each.key not in empty], listed, screen)


def _configuration_rows(report: Report) -> Iterable[Mapping[str, Any]]:
    if len(report.configurations) > 1:
        for each in report.configurations:
            yield _row(each.configuration.label, each.line)


def _task_rows(report: Report) -> Iterable[Mapping[str, Any]]:
    for each in report.tasks[:_TASKS]:
        yield _row(clean(each.task.name), each.line)
        if len(each.configurations) > 1:
            for inner in each.configurations:
                yield _row(f"· {inner.configuration.label}", inner.line)


def _left_out(report: Report) -> str:
    more = len(report.tasks) - _TASKS
    return f"{plural(more, 'task')} more; --format json has all" if more > 0 else ""


def _row(name: str, line: Line) -> Mapping[str, Any]:
    states = line.states
    apart = (
        (states.infra_error, "infra"),
        (states.tampered, "tampered"),
        (states.not_run, "not run"),
    )
    median = line.duration.median
    return {
        "name": clean(name),
        "n": f"{states.counted:,}",
        "passed": percent(line.success.value),
        "range": _brief(rate_range(line.success)),
        "score": score(line.score.value),
        "score_range": _brief(mean_range(line.score)),
        "cost": dollars(line.cost.mean),
        "tokens": tokens(line.tokens.mean),
        "time": duration(None if median is None else round(median)),
        "apart": ", ".join(f"{number:,} {word}" for number, word in apart if number),
    }


def _brief(said: str) -> str:
    """A range as a cell says it."""
    return "too few" if said == NOT_ENOUGH else said


def _judge(each: Any) -> Mapping[str, Any]:
    return {
        "name": clean(each.name),
        "weight": f"{each.weight:g}" if each.weight else "informs",
        "score": score(each.score.value),
        "range": _brief(mean_range(each.score)),
        "n": f"{each.score.trials:,}",
        "failed": f"{each.failed:,}",
        "agreement": score(each.agreement),
    }


def _role_rows(report: Report) -> Sequence[Mapping[str, Any]]:
    whole = sum(each.duration_ms for each in report.roles) or 1
    return [
        {
            "role": clean(each.role),
            "steps": f"{each.steps:,}",
            "time": duration(each.duration_ms),
            "share": percent(each.duration_ms / whole),
            "tokens": at_least(each.tokens, tokens(each.tokens.total)),
            "cost": at_least(each.cost, dollars(each.cost.total)),
            "trouble": f"{each.corrections:,}",
        }
        for each in report.roles
    ]


def route_text(each: RouteShare) -> str:
    """A route on one line: `developer → reviewer ×2`."""
    if not each.stations:
        return f"{plural(each.routes, 'rarer route')}, added up"
    stops = [
        stop.role + (f" ×{stop.times}" if stop.times > 1 else "") for stop in each.stations
    ]  # fmt: skip
    more = [f"… {each.left_out:,} more"] if each.left_out else []
    return clean(" → ".join([*stops, *more]))


def _route_row(each: RouteShare) -> Mapping[str, Any]:
    return {
        "trials": f"{each.trials:,}",
        "passed": f"{each.passed:,} of {each.counted:,}",
        "score": score(each.score),
        "route": route_text(each),
    }


def _failures(report: Report, screen: Screen) -> str:
    rows = [
        {
            "kind": clean(each.kind),
            "trials": f"{each.trials:,}",
            "state": each.state.replace("_", " "),
            "message": clean(each.message),
        }
        for each in report.failures
    ]
    return table(_FAILURES, rows, screen) if rows else ""


def _hints(report: Report, screen: Screen) -> str:
    states = report.overall.states
    lines = []
    if states.infra_error or states.not_run:
        lines.append(f"`uwf-eval resume {report.run.run}` runs what is left or failed by accident")
    first = next((each.numbers[0] for each in report.failures if each.numbers), None)
    if first is not None:
        lines.append(f"`uwf-eval show {report.run.run}/{first}` shows a trial")
    return "\n".join(screen.paint(line, "dim") for line in lines)
