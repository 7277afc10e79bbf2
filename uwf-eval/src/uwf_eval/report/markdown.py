"""The report as Markdown, for a pull request or a wiki."""

import re
from collections.abc import Iterable, Sequence

from uwf_core.commands import clean, duration
from uwf_eval.report.numbers import (
    at_least,
    dollars,
    mean_range,
    percent,
    rate_range,
    score,
    tokens,
    utc,
)
from uwf_eval.report.states import States
from uwf_eval.report.summary import Line, Report, trials_in
from uwf_eval.report.text import route_text

_TASKS = 200
_MEANING = re.compile(r"([\\`*_{}\[\]<>()#+!|~&@-])")


def inline(text: str) -> str:
    """Foreign text on one line, in which nothing means anything to Markdown."""
    return _MEANING.sub(r"\\\1", clean(" ".join(text.split())))


def report_markdown(report: Report) -> str:
    """The whole report."""
    parts = [
        _head(report),
        *_section("Configurations", _configurations(report)),
        *_section("Tasks", _tasks(report)),
        *_section("Judges", _judges(report)),
        *_section("Roles", _roles(report)),
        *_section("Routes", _routes(report)),
        *_section("Failures", _failures(report)),
    ]
    return "\n\n".join(parts) + "\n"


def _head(report: Report) -> str:
    run, line = report.run, report.overall
    lines = [
        f"# {inline(run.name or run.run)}",
        "",
        f"Run `{run.run}`, {utc(run.started_at_ms)}"
        + ("" if run.finished_at_ms else ", not finished")
        + ".",
        "",
        f"- Trials: {_states(line.states)}",
        f"- Passed: **{percent(line.success.value)}** ({rate_range(line.success)}), "
        f"{line.success.passed} of {line.success.trials}",
        f"- Mean score: **{score(line.score.value)}** ({mean_range(line.score)}), "
        f"n = {trials_in(line.score, report)}",
    ]
    lines += [
        f"- pass@{each.k}: {score(each.at)}, pass^{each.k}: {score(each.all)}, over {each.items} "
        f"of {each.of} cases"
        for each in line.passes[-1:]
        if each.k > 1
    ]
    spent = at_least(line.spent, dollars(line.spent.total))
    cost = f"{dollars(line.cost.mean)} each, {spent} in all" if line.spent.total else "not known"
    lines.append(f"- Cost: {cost}")
    lines += ["", "Ranges are 95 % intervals."]
    return "\n".join(lines)


def _states(states: States) -> str:
    words = (
        (states.scored, "scored"),
        (states.failed, "failed"),
        (states.infra_error, "infra error (not counted)"),
        (states.tampered, "tampered (not counted)"),
        (states.not_run, "not run"),
    )
    return ", ".join(f"{number} {word}" for number, word in words if number) or "none"


def _section(title: str, table: str | None) -> Sequence[str]:
    return [f"## {title}\n\n{table}"] if table else []


def _table(heads: str, rows: Iterable[Sequence[str]]) -> str | None:
    """A table; a heading that ends in `:` is set to the right."""
    names = heads.split("|")
    lines = [f"| {' | '.join(name.rstrip(':') for name in names)} |"]
    lines.append(f"| {' | '.join('---:' if name.endswith(':') else '---' for name in names)} |")
    body = [f"| {' | '.join(row)} |" for row in rows]
    return "\n".join([*lines, *body]) if body else None


_LINE = "N:|Passed:|95 %:|Score:|95 %:|Cost:|Tokens:|Time:|Apart"


def _line(name: str, line: Line) -> Sequence[str]:
    states = line.states
    apart = ((states.infra_error, "infra error"), (states.tampered, "tampered"),
             (states.not_run, "not run"))  # fmt: skip
    median = line.duration.median
    return [
        name,
        str(states.counted),
        percent(line.success.value),
        rate_range(line.success),
        score(line.score.value),
        mean_range(line.score),
        dollars(line.cost.mean),
        tokens(line.tokens.mean),
        duration(None if median is None else round(median)),
        ", ".join(f"{number} {word}" for number, word in apart if number),
    ]


def _configurations(report: Report) -> str | None:
    if len(report.configurations) < 2:
        return None
    rows = [_line(inline(each.configuration.label), each.line) for each in report.configurations]
    return _table(f"Configuration|{_LINE}", rows)


def _tasks(report: Report) -> str | None:
    rows = []
    for each in report.tasks[:_TASKS]:
        rows.append(_line(inline(each.task.name), each.line))
        if len(each.configurations) > 1:
            rows += [
                _line(f"… {inline(inner.configuration.label)}", inner.line)
                for inner in each.configurations
            ]
    table = _table(f"Task|{_LINE}", rows)
    more = len(report.tasks) - _TASKS
    return f"{table}\n\n{more} tasks more are left out." if more > 0 else table


def _judges(report: Report) -> str | None:
    return _table(
        "Judge|Weight:|Score:|95 %:|N:|Failed:|Agrees with itself:",
        [
            [
                inline(each.name),
                f"{each.weight:g}" if each.weight else "informs",
                score(each.score.value),
                mean_range(each.score),
                str(each.score.trials),
                str(each.failed),
                score(each.agreement),
            ]
            for each in report.overall.judges
        ],
    )


def _roles(report: Report) -> str | None:
    return _table(
        "Role|Steps:|Time:|Tokens:|Cost:|Corrections:",
        [
            [
                inline(each.role),
                str(each.steps),
                duration(each.duration_ms),
                at_least(each.tokens, tokens(each.tokens.total)),
                at_least(each.cost, dollars(each.cost.total)),
                str(each.corrections),
            ]
            for each in report.roles
        ],
    )


def _routes(report: Report) -> str | None:
    return _table(
        "Route|Trials:|Passed:|Score:",
        [
            [
                inline(route_text(each)),
                str(each.trials),
                f"{each.passed} of {each.counted}",
                score(each.score),
            ]
            for each in report.routes
        ],
    )


def _failures(report: Report) -> str | None:
    return _table(
        "Kind|Trials:|State|For example",
        [
            [inline(each.kind), str(each.trials), each.state.replace("_", " "),
             inline(each.message)]
            for each in report.failures
        ],
    )  # fmt: skip
