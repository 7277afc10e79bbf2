"""A comparison as text for a terminal of any width."""

import textwrap
from collections.abc import Iterator

from uwf_core.commands import Column, Screen, fields, table
from uwf_eval.compare import words
from uwf_eval.compare.records import Comparison, Measured

_STYLES = {"better": "ok", "worse": "error", "no_difference": "bold", "cannot_tell": "warning"}
_WIDEST = 100
_COLUMNS = (
    Column("metric", "METRIC"),
    Column("a", "A", right=True),
    Column("b", "B", right=True),
    Column("change", "B - A", right=True),
    Column("range", "RANGE", rank=1, right=True),
    Column("relative", "CHANGE", rank=3, right=True),
    Column("verdict", "VERDICT", least=11, rank=2),
)


def as_text(comparison: Comparison, screen: Screen) -> str:
    """The verdict first, then the figures, then what would help and what was left out."""
    width = min(screen.width, _WIDEST)
    parts = [fields(list(zip("AB", comparison.names, strict=True)), screen)]
    for measured in comparison.tested:
        parts.append("\n".join(_verdict(measured, comparison, screen, width)))
    rows = [_row(each) for each in (*comparison.tested, *comparison.beside) if each.tasks]
    if rows:
        parts.append(table(_COLUMNS, rows, screen._replace(width=width)))
    remarks = list(words.remarks(comparison))
    if remarks:
        parts.append("\n".join(_wrapped(f"- {each}", width, "  ") for each in remarks))
    return "\n\n".join(parts)


def _verdict(
    measured: Measured, comparison: Comparison, screen: Screen, width: int
) -> Iterator[str]:
    style = _STYLES[measured.verdict or "cannot_tell"]
    for line in textwrap.wrap(words.headline(measured), width):
        yield screen.paint(line, style)
    for sentence in words.explanation(measured, comparison):
        yield _wrapped(sentence, width)
    if measured.tasks:
        yield screen.paint(_wrapped(words.test_line(measured, comparison), width), "dim")


def _row(measured: Measured) -> dict[str, str]:
    metric = measured.metric
    return {
        "metric": words.name_of(metric),
        "a": words.figure(metric, measured.a.mean if measured.a else None),
        "b": words.figure(metric, measured.b.mean if measured.b else None),
        "change": words.change(metric, measured.difference),
        "range": words.change_range(metric, measured.interval),
        "relative": words.relative(measured),
        "verdict": words.verdict_of(measured) or "not tested",
    }


def _wrapped(text: str, width: int, indent: str = "") -> str:
    return textwrap.fill(text, max(width, 20), subsequent_indent=indent)
