"""A comparison as text for a terminal of any width, and as Markdown."""

import textwrap
from collections.abc import Iterator

from uwf_core.commands import Screen, fields
from uwf_core.markdown import inline
from uwf_eval.compare import wording
from uwf_eval.compare.changes import tables_of, tally
from uwf_eval.compare.records import Comparison, Measured
from uwf_eval.report.markdown import table_markdown
from uwf_eval.report.tables import table_text

_STYLES = {"better": "ok", "worse": "error", "no_difference": "bold", "cannot_tell": "warning"}
_WIDEST = 100


def as_text(comparison: Comparison, screen: Screen) -> str:
    """The verdict, the figures, and what was left out."""
    width = min(screen.width, _WIDEST)
    parts = [fields(list(zip("AB", comparison.names, strict=True)), screen)]
    for measured in comparison.tested:
        parts.append("\n".join(_verdict(measured, comparison, screen, width)))
    parts.append(table_text(wording.figures(comparison), screen._replace(width=width)))
    remarks = wording.remarks(comparison)
    parts.append("\n".join(_wrapped(f"- {each}", width, "  ") for each in remarks))
    if (found := comparison.changes) is not None:
        parts += [*(table_text(each, screen) for each in tables_of(found)), tally(found)]
    return "\n\n".join(part for part in parts if part)


def _verdict(
    measured: Measured, comparison: Comparison, screen: Screen, width: int
) -> Iterator[str]:
    style = _STYLES[measured.verdict or "cannot_tell"]
    for line in textwrap.wrap(wording.headline(measured), width):
        yield screen.paint(line, style)
    for sentence in wording.explanation(measured, comparison):
        yield _wrapped(sentence, width)
    if measured.tasks:
        yield screen.paint(_wrapped(wording.test_line(measured, comparison), width), "dim")


def _wrapped(text: str, width: int, indent: str = "") -> str:
    return textwrap.fill(text, max(width, 20), subsequent_indent=indent)


def as_markdown(comparison: Comparison) -> str:
    """The same in GitHub Flavored Markdown; text of users is escaped."""
    names = zip("AB", comparison.names, strict=True)
    parts = ["# Comparison", "\n".join(f"- {side}: {inline(name)}" for side, name in names)]
    for measured in comparison.tested:
        parts.append(f"**{wording.headline(measured)}**")
        parts.append("\n".join(wording.explanation(measured, comparison)))
    parts.append(table_markdown(wording.figures(comparison, beside="range")))
    tests = [
        f"- {wording.name_of(each.metric)}: {wording.test_line(each, comparison)}"
        for each in comparison.tested
        if each.tasks
    ]
    parts.append("\n".join(tests))
    parts.append("\n".join(f"- {inline(each)}" for each in wording.remarks(comparison)))
    if (found := comparison.changes) is not None:
        parts += [*map(table_markdown, tables_of(found)), tally(found)]
    return "\n\n".join(part for part in parts if part) + "\n"
