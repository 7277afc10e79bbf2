"""Tables of the page: cells have their column's name, so that a narrow screen shows a list."""

from collections.abc import Iterator

from uwf_core.markup import Child, Markup, join, tag
from uwf_eval.report.html.marks import bar, key, scale, strip
from uwf_eval.report.tables import Bar, Heading, Row, Strip, Table, Value, value


def section(title: str, note: Child, *content: Markup | None) -> Markup:
    """A part of the page."""
    return tag("section", tag("h2", title), tag("p", note, class_="note"), *content)


def table_section(shown: Table) -> Markup | None:
    """A table with its title; None without rows and without a text for that."""
    if not shown.rows:
        return section(shown.title, shown.empty) if shown.empty else None
    note = " ".join(filter(None, (shown.note, shown.left_out)))
    return section(shown.title, note, table(shown))


def table(shown: Table) -> Markup:
    """A table with its drawings."""
    columns = [(each, n) for n, each in enumerate(shown.headings) if each.page]
    head = [cell for heading, _ in columns for cell in _headings(heading, shown)]
    rows = [
        tag("tr", *(cell for heading, n in columns for cell in _cells(heading, row, n)),
            class_="inner" if row.inner else None)
        for row in shown.rows
    ]  # fmt: skip
    body = (tag("caption", shown.title), tag("thead", tag("tr", *head)), tag("tbody", *rows))
    return tag("table", *body, class_=shown.title.lower().replace(" ", "-"))


def _headings(heading: Heading, shown: Table) -> Iterator[Markup]:
    if heading.drawn:
        drawn = [value(row.cells[shown.headings.index(heading)]).drawn for row in shown.rows]
        labels = scale() if isinstance(drawn[0], Strip) else None
        yield tag("th", tag("span", heading.drawn), labels, scope="col", class_="plot")
    yield tag("th", heading.name, scope="col", class_=_class(heading))


def _cells(heading: Heading, row: Row, n: int) -> Iterator[Markup]:
    cell = value(row.cells[n])
    mark = key(cell.mark) if cell.mark is not None else None
    shown = join(mark, cell.text, *(tag("small", each) for each in cell.below if each))
    if n == 0:
        yield tag("th", shown, scope="row")
        return
    if heading.drawn:
        yield tag("td", _drawing(cell, heading, row), class_="plot", data_label=heading.drawn)
    yield tag("td", shown, class_=_class(heading), data_label=heading.name)


def _drawing(cell: Value, heading: Heading, row: Row) -> Markup | None:
    match cell.drawn:
        case Strip(number, middle, low, high):
            what = f"{value(row.cells[0]).text}, {heading.drawn.lower()}"
            return strip(number, middle, low, high, ", ".join((what, cell.text, *cell.below)))
        case Bar(parts):
            return bar(parts, cell.described)
    return None


def _class(heading: Heading) -> str | None:
    return None if heading.kind == "text" else heading.kind
