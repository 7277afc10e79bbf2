"""Tables whose cells know their column's name, so that a narrow screen can set them as a list."""

from collections.abc import Iterable, Sequence
from typing import Literal

from uwf_core.named_tuple import NamedTuple
from uwf_eval.report.html.markup import Child, Markup, tag

Kind = Literal["text", "number", "plot", "words"]


class Column(NamedTuple):
    """A column: its name, what its cells hold, and what its heading shows below the name."""

    name: str
    kind: Kind = "text"
    below: Markup | None = None


class Row(NamedTuple):
    """A row: a cell for each column, the first of which is its heading."""

    cells: Sequence[Child]
    class_: str | None = None


def table(
    caption: str, columns: Sequence[Column], rows: Iterable[Row | Markup], class_: str | None = None
) -> Markup:
    """The table; a row that is markup already is taken as it is."""
    head = tag("tr", *(_heading(column) for column in columns))
    body = [row if isinstance(row, Markup) else _row(columns, row) for row in rows]
    words = (tag("caption", caption), tag("thead", head), tag("tbody", *body))
    return tag("table", *words, class_=class_)


def group(name: str, width: int) -> Markup:
    """A row that says what the rows below it have in common."""
    return tag("tr", tag("th", name, scope="rowgroup", colspan=width, class_="group"))


def figure(value: str, *below: str) -> Markup:
    """A number with what belongs to it below."""
    return tag("span", tag("b", value), *(tag("small", each) for each in below if each))


def section(title: str, note: Child, *content: Markup | None) -> Markup:
    """A part of the page."""
    return tag("section", tag("h2", title), tag("p", note, class_="note"), *content)


def _heading(column: Column) -> Markup:
    name = tag("span", column.name) if column.below else column.name
    return tag("th", name, column.below, scope="col", class_=_class(column))


def _row(columns: Sequence[Column], row: Row) -> Markup:
    first, *others = zip(columns, row.cells, strict=True)
    cells = [
        tag("td", content, class_=_class(column), data_label=column.name)
        for column, content in others
    ]
    return tag("tr", tag("th", first[1], scope="row"), *cells, class_=row.class_)


def _class(column: Column) -> str | None:
    return None if column.kind == "text" else column.kind
