"""Tables as values: text, Markdown and the HTML page render the same table.

The page shows drawings and small print; text and Markdown show small print only in columns that
have a separate heading for it (`beside`).
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Literal, NamedTuple, TypeAlias

from uwf_core.commands import Column, Screen, clean
from uwf_core.commands import table as columns_text
from uwf_eval.report.estimates import Mean, Rate
from uwf_eval.report.numbers import NONE, mean_range, percent, rate_range, score

Kind = Literal["text", "number", "words"]


class Strip(NamedTuple):
    """A drawing: a value from 0 to 1 with its interval, in the colour of a configuration."""

    number: int | None
    value: float | None
    low: float | None
    high: float | None


class Bar(NamedTuple):
    """A drawing: stacked lengths, each a share of the width and a class."""

    parts: Sequence[tuple[float, str]]


class Value(NamedTuple):
    """The content of a cell.

    Attributes:
        text: the value. below: its small print.
        drawn: the drawing on the page; described: the description of a bar. A strip is described by
            its row, its column and its values.
        mark: on the page before the text: a configuration's symbol, or a swatch of this class.
    """

    text: str
    below: Sequence[str] = ()
    drawn: Strip | Bar | None = None
    described: str = ""
    mark: int | str | None = None


Content: TypeAlias = Value | str


class Heading(NamedTuple):
    """A column.

    Attributes:
        name: its heading. kind: of its cells.
        least, rank: how it shrinks on a narrow terminal (see `uwf_core.commands.Column`).
        beside: in text and Markdown, the heading of a second column with the small print.
        drawn: on the page, the heading of a second column with the drawing.
        page: whether the page has it; if not, its small print or a drawing has the same content.
    """

    name: str
    kind: Kind = "text"
    least: int | None = None
    rank: int = 0
    beside: str = ""
    drawn: str = ""
    page: bool = True


class Row(NamedTuple):
    """A cell for each column; an inner row belongs to the row above it."""

    cells: Sequence[Content]
    inner: bool = False


class Table(NamedTuple):
    """A table with its title.

    Attributes:
        note: its description on the page. empty: shown on the page without rows.
        left_out: a sentence about rows that are not listed, or "".
    """

    title: str
    headings: Sequence[Heading]
    rows: Sequence[Row]
    note: str = ""
    empty: str = ""
    left_out: str = ""


Columns: TypeAlias = Sequence[tuple[Heading, Callable[[Any], Content]]]
"""Each heading with its cell of an item, which a row is about."""


def table_of(title: str, columns: Columns, items: Iterable[Any], **more: str) -> Table:
    """A table with a row for each item. `more`: as in `Table`."""
    rows = [Row([cell(each) for _, cell in columns]) for each in items]
    return Table(title, [heading for heading, _ in columns], rows, **more)


def rate_value(rate: Rate, number: int | None = None) -> Value:
    """A share with its interval and counts; `number`: of the configuration, for its colour."""
    counts = f"{rate.passed:,} of {rate.trials:,}" if rate.trials else "no trial counts"
    drawn = Strip(number, rate.value, rate.low, rate.high)
    return Value(percent(rate.value), (rate_range(rate), counts), drawn)


def mean_value(mean: Mean, number: int | None = None) -> Value:
    """A mean score with its interval and the number of trials."""
    drawn = Strip(number, mean.value, mean.low, mean.high)
    return Value(score(mean.value), (mean_range(mean), f"n = {mean.trials:,}"), drawn)


class Fact(NamedTuple):
    """A figure of the whole run: name, value, range, and the trials that it covers."""

    name: str
    value: str
    beside: str = ""
    below: str = ""


def value(content: Content) -> Value:
    """The content of a cell as a value; a plain text has no small print."""
    return content if isinstance(content, Value) else Value(content)


def in_lines(table: Table) -> tuple[list[Heading], list[list[str]]]:
    """The headings and texts of a table without drawings, with small print in columns."""
    headings = [each for heading in table.headings for each in _with_small_print(heading)]
    rows = [
        [text for n, heading in enumerate(table.headings) for text in _texts(heading, row, n)]
        for row in table.rows
    ]
    return headings, rows


def _with_small_print(heading: Heading) -> Iterator[Heading]:
    yield heading
    if heading.beside:
        yield Heading(heading.beside, "number", rank=heading.rank + 1)


def _texts(heading: Heading, row: Row, n: int) -> Iterator[str]:
    cell = value(row.cells[n])
    yield f"· {cell.text}" if row.inner and n == 0 else cell.text
    if heading.beside:
        yield cell.below[0] if cell.below else ""


def table_text(shown: Table, screen: Screen) -> str:
    """Render a table without its empty columns; "" without rows."""
    headings, rows = in_lines(shown)
    texts = [dict(enumerate(map(clean, row))) for row in rows]
    columns = [
        Column(str(n), each.name.upper(), each.least, each.rank, each.kind == "number")
        for n, each in enumerate(headings)
        if n == 0 or any(row[n] not in ("", NONE) for row in texts)
    ]
    lines = [{str(n): text for n, text in row.items()} for row in texts]
    parts = [
        columns_text(columns, lines, screen) if lines else "",
        screen.paint(shown.left_out, "dim"),
    ]
    return "\n".join(part for part in parts if part)
