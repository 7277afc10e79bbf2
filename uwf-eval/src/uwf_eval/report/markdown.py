"""Reports as GitHub Flavored Markdown, for a pull request or a wiki."""

import re
from collections.abc import Iterable, Sequence

from uwf_core.commands import clean
from uwf_eval.report.numbers import utc
from uwf_eval.report.sections import facts, states_text, tables
from uwf_eval.report.summary import Report
from uwf_eval.report.tables import Table, in_lines

_TASKS = 200
_MEANING = re.compile(r"([\\`*_{}\[\]<>()#!|~&@])")


def inline(text: str) -> str:
    """Escape a text, on one line."""
    return _MEANING.sub(r"\\\1", clean(" ".join(text.split())))


def table_markdown(shown: Table) -> str:
    """Render a table; "" without rows."""
    headings, rows = in_lines(shown)
    if not rows:
        return ""
    lines: Iterable[Sequence[str]] = (
        [each.name for each in headings],
        ["---:" if each.kind == "number" else "---" for each in headings],
        *([inline(text) for text in row] for row in rows),
    )
    table = "\n".join(f"| {' | '.join(line)} |" for line in lines)
    return f"{table}\n\n{inline(shown.left_out)}" if shown.left_out else table


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
