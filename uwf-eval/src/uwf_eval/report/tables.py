"""What a table says, once: text, Markdown and the page render the same value.

A page has room for drawings and small print; text and Markdown show small print only where the
column gives it a heading of its own (`beside`).
"""

from collections.abc import Iterator, Sequence
from typing import Literal, TypeAlias

from uwf_core.commands import Column, Screen, clean
from uwf_core.commands import table as columns_text
from uwf_core.named_tuple import NamedTuple
from uwf_eval.report.numbers import NONE

Kind = Literal["text", "number", "words"]


class Strip(NamedTuple):
    """A drawing: a value within 0..1 with its interval, in the colour of a configuration."""

    number: int | None
    value: float | None
    low: float | None
    high: float | None


class Bar(NamedTuple):
    """A drawing: lengths one after the other, each a share of the width and a class."""

    parts: Sequence[tuple[float, str]]


class Value(NamedTuple):
    """What a cell shows.

    Attributes:
        text: the value. below: its small print.
        drawn: what the page draws beside it; described: that in words.
        mark: what the page shows before it: a configuration's symbol, or a swatch of this class.
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
        name: its heading. kind: what its cells hold.
        least, rank: how it gives way on a narrow terminal (see `uwf_core.commands.Column`).
        beside: in text and Markdown, the heading of a second column with the small print.
        drawn: on the page, the heading of a second column with the drawing.
        page: whether the page has it; if not, its small print or a drawing shows the same.
    """

    name: str
    kind: Kind = "text"
    least: int | None = None
    rank: int = 0
    beside: str = ""
    drawn: str = ""
    page: bool = True


class Row(NamedTuple):
    """A cell for each column; an inner row is a part of the row above it."""

    cells: Sequence[Content]
    inner: bool = False


class Table(NamedTuple):
    """A table with its title.

    Attributes:
        note: what the page says about it. empty: what the page says where there are no rows.
        left_out: what it does not list, "" where it lists all.
    """

    title: str
    headings: Sequence[Heading]
    rows: Sequence[Row]
    note: str = ""
    empty: str = ""
    left_out: str = ""


class Fact(NamedTuple):
    """A figure of the whole run: its name and value, its range, and what it is over."""

    name: str
    value: str
    beside: str = ""
    below: str = ""


def value(content: Content) -> Value:
    """A cell's content; a bare text is a value without small print."""
    return content if isinstance(content, Value) else Value(content)


def in_lines(table: Table) -> tuple[list[Heading], list[list[str]]]:
    """The headings and texts of a table without drawings, its small print in columns."""
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
    """A table without the columns in which nothing is said; "" where it has no rows."""
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
