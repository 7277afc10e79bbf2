"""A figure with its target, and the table of all."""

from collections.abc import Iterable
from typing import NamedTuple


class Figure(NamedTuple):
    """One line of the table.

    Attributes:
        name: what was measured.
        value: the figure, None if it could not be measured (`note` has the reason).
        unit: what one is: `x py`, `ms`, `MB`.
        most: the target, the most that the value may be; None where there is none.
        note: what else there is to say.
    """

    name: str
    value: float | None
    unit: str
    most: float | None = None
    note: str = ""

    @property
    def verdict(self) -> str:
        """ok, MISSED, or nothing where there is no target or no value."""
        if self.value is None or self.most is None:
            return ""
        return "ok" if self.value <= self.most else "MISSED"


HEADING = ("figure", "value", "unit", "target", "", "note")


def table(figures: Iterable[Figure]) -> str:
    """The figures as a table for people."""
    rows = [HEADING, *(_row(figure) for figure in figures)]
    widths = [max(len(row[column]) for row in rows) for column in range(len(HEADING))]
    lines = ["  ".join(_cells(row, widths)).rstrip() for row in rows]
    return "\n".join([lines[0], "  ".join("-" * width for width in widths), *lines[1:]])


def _row(figure: Figure) -> tuple[str, ...]:
    value = "-" if figure.value is None else number(figure.value)
    target = "" if figure.most is None else f"≤ {number(figure.most)}"
    return figure.name, value, figure.unit, target, figure.verdict, figure.note


def _cells(row: tuple[str, ...], widths: list[int]) -> list[str]:
    right = {1, 3}
    return [
        cell.rjust(width) if column in right else cell.ljust(width)
        for column, (cell, width) in enumerate(zip(row, widths, strict=True))
    ]


def number(value: float) -> str:
    """Three figures that count, without an exponent."""
    if value >= 100:
        return f"{value:,.0f}"
    return f"{value:.3g}"
