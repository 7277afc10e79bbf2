"""A comparison as Markdown, to be put into an issue or a pull request."""

from collections.abc import Iterator, Sequence

from uwf_eval.compare import words
from uwf_eval.compare.records import Comparison, Measured
from uwf_eval.report.markdown import inline

_HEADINGS = ("metric", "A", "range", "B", "range", "B - A", "range", "change", "verdict")


def as_markdown(comparison: Comparison) -> str:
    """Headings, one table and lists of GitHub Flavored Markdown; foreign text is escaped."""
    parts = ["\n".join(_head(comparison))]
    for measured in comparison.tested:
        parts.append(f"**{words.headline(measured)}**")
        parts.append("\n".join(words.explanation(measured, comparison)))
    rows = [_row(each) for each in (*comparison.tested, *comparison.beside) if each.tasks]
    if rows:
        parts.append(_table(rows))
        tests = (each for each in comparison.tested if each.tasks)
        lines = [
            f"{words.name_of(each.metric)}: {words.test_line(each, comparison)}" for each in tests
        ]
        parts.append("\n".join(f"- {line}" for line in lines))
    remarks = list(words.remarks(comparison))
    if remarks:
        parts.append("\n".join(f"- {inline(each)}" for each in remarks))
    return "\n\n".join(part for part in parts if part) + "\n"


def _head(comparison: Comparison) -> Iterator[str]:
    yield "# Comparison"
    yield ""
    for side, name in zip("AB", comparison.names, strict=True):
        yield f"- {side}: {inline(name)}"


def _row(measured: Measured) -> Sequence[str]:
    metric = measured.metric
    return (
        words.name_of(metric),
        words.figure(metric, measured.a.mean if measured.a else None),
        words.mean_range(metric, measured.a),
        words.figure(metric, measured.b.mean if measured.b else None),
        words.mean_range(metric, measured.b),
        words.change(metric, measured.difference),
        words.change_range(metric, measured.interval),
        words.relative(measured),
        words.verdict_of(measured) or "not tested",
    )


def _table(rows: Sequence[Sequence[str]]) -> str:
    lines = [_HEADINGS, ["---", *["---:"] * (len(_HEADINGS) - 2), "---"]]
    lines += [list(row) for row in rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)
