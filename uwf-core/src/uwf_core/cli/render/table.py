"""Tables for people: columns shrink and disappear on a narrow terminal."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from uwf_core.cli.render.colours import Screen, cells, fit, wrap

_GAP = 2
_INDENT = "  "
_NOTHING = "–"
_BELOW_LINES = 4


class Column(NamedTuple):
    """A column of a table.

    Attributes:
        key: the row's key that it shows.
        title: its heading.
        least: its minimum width in cells; None: it never shrinks.
        rank: if space is short, the column of the highest rank goes first; 0 stays.
        right: aligned to the right, for numbers.
        status: the cell is a status word and gets its style.
        below: without space beside the others it stays, on a line below them. One that never
            shrinks is the first to go there, and is wrapped to a few lines.
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
        lines += [line for each in below for line in _below(each, row[each.key], screen.width)]
    return "\n".join(lines)


def _below(column: Column, text: str, width: int) -> list[str]:
    """The lines of a cell below its row; an empty one takes none."""
    room = width - len(_INDENT)
    if text == _NOTHING or not text:
        return []
    shown = wrap(text, room, _BELOW_LINES) if column.least is None else [fit(text, room)]
    return [_INDENT + each for each in shown]


def _cell(value: Any) -> str:
    return _NOTHING if value is None else " ".join(str(value).split())


def _squeeze(columns: list[Column], widths: dict[str, int], room: int) -> list[Column]:
    """The columns that stay; shrinks `widths` to fit into `room` as far as possible."""
    wanted = dict(widths)
    while True:
        excess = sum(widths[each.key] for each in columns) + _GAP * (len(columns) - 1) - room
        if excess <= 0:
            _widen(columns, widths, wanted, -excess)
            return columns
        whole = next((each for each in columns if each.below and each.least is None), None)
        if whole is not None:
            columns.remove(whole)
            continue
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


def _widen(
    columns: Sequence[Column], widths: dict[str, int], wanted: Mapping[str, int], spare: int
) -> None:
    """Give the room of columns that went to those that shrank for them, from the left."""
    for column in columns:
        more = min(wanted[column.key] - widths[column.key], spare)
        widths[column.key] += more
        spare -= more


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


def in_order(commands: Sequence[str]) -> list[str]:
    """`next: …`, and `then: …` for each later command, which a person types."""
    return [f"{'then' if at else 'next'}: {each}" for at, each in enumerate(commands)]
