"""Reports as text for a terminal of any width, and for a pipe."""

from uwf_core.commands import Screen, clean, fields
from uwf_eval.report.numbers import NONE, utc
from uwf_eval.report.sections import facts, states_text, tables
from uwf_eval.report.summary import Report
from uwf_eval.report.tables import table_text

_TASKS = 60


def report_text(report: Report, screen: Screen) -> str:
    """Render the whole report."""
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
    command = " ".join(("uwf eval", *run.command)) if run.command else ""
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
    lines = [f"next: uwf eval resume {run}"] if again else []
    lines += [] if first is None else [f"next: uwf eval show {run}/{first}"]
    return "\n".join(screen.paint(line, "dim") for line in lines)
