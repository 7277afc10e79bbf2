"""Tables for people: columns shrink and disappear on a narrow terminal."""

from collections.abc import Mapping, Sequence
from typing import Any

from uwf_core.cli.render.colours import Screen, cells, fit
from uwf_core.named_tuple import NamedTuple

_GAP = 2
_INDENT = "  "


class Column(NamedTuple):
    """A column of a table.

    Attributes:
        key: the row's key that it shows.
        title: its heading.
        least: its minimum width in cells; None: it never shrinks.
        rank: if space is short, the column of the highest rank goes first; 0 stays.
        right: aligned to the right, for numbers.
        status: the cell is a status word and gets its style.
        below: without space beside the others it stays, on a line below them.
    """

    key: str
    title: str
    least: int | None = None
    rank: int = 0
    right: bool = False
    status: bool = False
    below: bool = False


def table(columns: Sequence[Column], rows: Sequence[Mapping[str, Any]], screen: Screen) -> str:
    """The rows under their headings, each line at most as wide as the screen where it can be."""
    texts = [{column.key: _cell(row.get(column.key)) for column in columns} for row in rows]
    widths = {
        column.key: max([cells(column.title), *(cells(row[column.key]) for row in texts)])
        for column in columns
    }
    shown = _squeeze(list(columns), widths, screen.width)
    below = [each for each in columns if each.below and each not in shown]
    heading = _line({column.key: column.title for column in shown}, shown, widths, None)
    lines = [screen.paint(heading, "dim")]
    for row in texts:
        lines.append(_line(row, shown, widths, screen))
        lines += [_INDENT + fit(row[each.key], screen.width - len(_INDENT)) for each in below]
    return "\n".join(lines)


def _cell(value: Any) -> str:
    return "–" if value is None else " ".join(str(value).split())


def _squeeze(columns: list[Column], widths: dict[str, int], room: int) -> list[Column]:
    """The columns that stay; shrinks `widths` to fit into `room` as far as possible."""
    while True:
        excess = sum(widths[each.key] for each in columns) + _GAP * (len(columns) - 1) - room
        if excess <= 0:
            return columns
        soft = [
            each for each in columns if each.least is not None and widths[each.key] > each.least
        ]
        if soft:
            widest = max(soft, key=lambda each: widths[each.key])
            widths[widest.key] = max(widest.least or 1, widths[widest.key] - excess)
            continue
        victim = max(columns, key=lambda each: each.rank)
        if victim.rank == 0:
            return columns
        columns.remove(victim)


def _line(
    row: Mapping[str, str],
    columns: Sequence[Column],
    widths: Mapping[str, int],
    screen: Screen | None,
) -> str:
    parts = []
    for column in columns:
        text = fit(row[column.key], widths[column.key])
        padding = " " * (widths[column.key] - cells(text))
        if screen and column.status:
            text = screen.status(text)
        parts.append(padding + text if column.right else text + padding)
    return (" " * _GAP).join(parts).rstrip()


def fields(pairs: Sequence[tuple[str, str | None]], screen: Screen) -> str:
    """Names and values, one pair per line; pairs without a value are omitted."""
    there = [(name, value) for name, value in pairs if value]
    width = max((cells(name) for name, _ in there), default=0)
    return "\n".join(
        f"{screen.paint(name, 'dim')}{' ' * (width - cells(name))}  "
        + value.replace("\n", "\n" + " " * (width + _GAP))
        for name, value in there
    )
