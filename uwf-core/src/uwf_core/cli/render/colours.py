"""Colours and width of a stream."""

import os
from collections.abc import Mapping
from typing import IO, Final, NamedTuple

STYLES: Final[Mapping[str, str]] = {
    "bold": "1", "dim": "2",
    "idle": "36", "running": "1;34", "suspended": "33", "completed": "32", "cancelled": "2",
    "corrupt": "1;31", "error": "1;31", "warning": "33", "ok": "32",
    "ready": "32", "blocked": "2", "incompatible": "33", "duplicate": "33", "shadowed": "33",
    "broken": "31", "not installed": "33", "not configured": "33",
    "valid": "32", "invalid": "31",
}  # fmt: skip
"""Style or status to the parameters of its SGR escape sequence (ECMA-48 §8.3.117)."""

UNLIMITED: Final = 1_000_000


class Screen(NamedTuple):
    """The abilities of a stream: its width in cells, whether it takes colours, and its lines."""

    width: int
    colour: bool
    height: int = 24

    def paint(self, text: str, style: str) -> str:
        """`text` in a style; unknown styles and streams without colours leave it as it is."""
        code = STYLES.get(style)
        return f"\x1b[{code}m{text}\x1b[0m" if self.colour and code and text else text

    def status(self, status: str) -> str:
        """A status word in its own colour."""
        return self.paint(status, status)

    def reason(self, reason: str) -> str:
        """Why a thread waits: red if a role failed."""
        text = f"({reason})"
        return self.paint(text, "error") if reason == "failure" else text


def screen_of(stream: IO[str], env: Mapping[str, str], color: str) -> Screen:
    """The screen of `stream`; `color` auto is off if NO_COLOR is set or TERM is dumb."""
    terminal = is_terminal(stream)
    wanted = terminal and not env.get("NO_COLOR") and env.get("TERM") != "dumb"
    width, height = terminal_size(stream, env) if terminal else (UNLIMITED, UNLIMITED)
    return Screen(width, color == "always" or (color == "auto" and wanted), height)


def is_terminal(stream: IO[str] | None) -> bool:
    """Whether `stream` is a terminal; a closed one is not."""
    try:
        return stream is not None and stream.isatty()
    except ValueError:
        return False


def terminal_size(stream: IO[str], env: Mapping[str, str]) -> tuple[int, int]:
    """Cells of a line of the terminal behind `stream`, and its lines: COLUMNS and LINES, else its
    size, else 80 and 24.
    """
    try:
        columns, lines = os.get_terminal_size(stream.fileno())
    except (OSError, ValueError):
        columns, lines = 0, 0
    return _number(env.get("COLUMNS", "")) or columns or 80, _number(
        env.get("LINES", "")
    ) or lines or 24


def _number(text: str) -> int:
    return int(text) if text.isdecimal() else 0


def cells(text: str) -> int:
    """Cells that `text` takes: wide characters two, combining ones none."""
    if text.isascii():
        return len(text)
    from unicodedata import combining, east_asian_width

    return sum(
        0 if combining(letter) or letter == "\u200d" else 1 + (east_asian_width(letter) in "WF")
        for letter in text
    )


def fit(text: str, width: int) -> str:
    """`text` cut to `width` cells, the cut marked with an ellipsis."""
    if cells(text) <= width:
        return text
    kept, room = "", max(width - 1, 0)
    for letter in text:
        room -= cells(letter)
        if room < 0:
            break
        kept += letter
    return kept + "…" if width > 0 else ""


def wrap(text: str, width: int, most: int) -> list[str]:
    """`text` in at most `most` lines of `width` cells, broken between words where possible; a cut
    is marked with an ellipsis.
    """
    lines, rest = list[str](), text.split()
    while rest and len(lines) < most - 1:
        line = rest.pop(0)
        while rest and cells(line) + 1 + cells(rest[0]) <= width:
            line += f" {rest.pop(0)}"
        if cells(line) > width:  # a word that fits in no line
            kept = fit(f"{line}.", width + 1)[:-1] or line[:1]  # always cut by an ellipsis
            line, rest = kept, [line[len(kept) :], *rest]
        lines.append(line)
    return [*lines, fit(" ".join(rest), width)] if rest else lines
