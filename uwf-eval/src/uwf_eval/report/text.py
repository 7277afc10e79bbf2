"""Reports as text for a terminal of any width, and for a pipe."""

from uwf_core.commands import Column, Screen, clean, fields, table
from uwf_eval.report.numbers import NONE, utc
from uwf_eval.report.sections import facts, states_text, tables
from uwf_eval.report.summary import Report
from uwf_eval.report.tables import Table, in_lines

_TASKS = 60


def table_text(shown: Table, screen: Screen) -> str:
    """A table without the columns in which nothing is said; "" where it has no rows."""
    headings, rows = in_lines(shown)
    texts = [dict(enumerate(map(clean, row))) for row in rows]
    columns = [
        Column(str(n), each.name.upper(), each.least, each.rank, each.kind == "number")
        for n, each in enumerate(headings)
        if n == 0 or any(row[n] not in ("", NONE) for row in texts)
    ]
    lines = [{str(n): text for n, text in row.items()} for row in texts]
    parts = [table(columns, lines, screen) if lines else "", screen.paint(shown.left_out, "dim")]
    return "\n".join(part for part in parts if part)


def report_text(report: Report, screen: Screen) -> str:
    """The whole report."""
    overall = [("trials", states_text(report.overall.states))]
    for name, shown, beside, below in facts(report):
        extra = f" ({beside})" if beside and shown != NONE else ""
        overall.append((name.lower(), f"{screen.paint(shown, 'bold')}{extra}, {below}"))
    parts = [
        _head(report, screen),
        fields(overall, screen),
        *(table_text(each, screen) for each in tables(report, _TASKS)),
        _hints(report, screen),
    ]
    return "\n\n".join(part for part in parts if part)


def _head(report: Report, screen: Screen) -> str:
    run = report.run
    ended = "" if run.finished_at_ms else ", not finished"
    command = " ".join(("uwf-eval", *run.command)) if run.command else ""
    lines = [
        screen.paint(clean(run.name or run.run), "bold"),
        f"{run.run}  {utc(run.started_at_ms)}{ended}",
        screen.paint(clean(command), "dim"),
    ]
    return "\n".join(line for line in lines if line)


def _hints(report: Report, screen: Screen) -> str:
    states, run = report.overall.states, report.run.run
    again = states.infra_error or states.not_run
    first = next((each.numbers[0] for each in report.failures if each.numbers), None)
    lines = [f"next: uwf-eval resume {run}"] if again else []
    lines += [] if first is None else [f"next: uwf-eval show {run}/{first}"]
    return "\n".join(screen.paint(line, "dim") for line in lines)
