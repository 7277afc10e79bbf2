"""Reports as GitHub Flavored Markdown, for a pull request or a wiki."""

from uwf_core.markdown import inline, table
from uwf_eval.report.numbers import utc
from uwf_eval.report.sections import facts, states_text, tables
from uwf_eval.report.summary import Report
from uwf_eval.report.tables import Table, in_lines

_TASKS = 200


def table_markdown(shown: Table) -> str:
    """Render a table; "" without rows."""
    headings, rows = in_lines(shown)
    if not rows:
        return ""
    found = table(
        [each.name for each in headings],
        (list(map(inline, row)) for row in rows),
        [at for at, each in enumerate(headings) if each.kind == "number"],
    )
    return f"{found}\n\n{inline(shown.left_out)}" if shown.left_out else found


def report_markdown(report: Report) -> str:
    """Render the whole report."""
    run = report.run
    ended = "" if run.finished_at_ms else ", not finished"
    lines = [f"- Trials: {states_text(report.overall.states)}"]
    for name, value, beside, below in facts(report):
        lines.append(f"- {name}: **{value}**{f' ({beside})' if beside else ''}, {below}")
    parts = [
        f"# {inline(run.name or run.run)}",
        f"Run `{run.run}`, {utc(run.started_at_ms)}{ended}.",
        "\n".join(lines),
        "Ranges are 95 % intervals.",
    ]
    for each in tables(report, _TASKS):
        if shown := table_markdown(each):
            parts.append(f"## {each.title}\n\n{shown}")
    return "\n\n".join(parts) + "\n"
