"""The lines in which two values differ: of the first with `-`, of the second with `+`."""

from collections.abc import Sequence
from typing import Any

from uwf_core.cli.render.colours import Screen
from uwf_core.views.lines import line_diff

_MOST = 12
_STYLES = {"-": "broken", "+": "ok"}


def changed_lines(a: Any, b: Any, screen: Screen) -> list[str]:
    """The lines of two values that differ, the first ones of many."""
    lines = [line for line in line_diff(a, b) if line.mark != "="]
    texts = [
        screen.paint(text, _STYLES[line.mark])
        for line in lines[:_MOST]
        for text in _wrapped(f"  {line.mark} {line.text}".rstrip(), screen.width)
    ]
    left = len(lines) - _MOST
    return [*texts, *([f"  … {left} more lines"] if left > 0 else [])]


def _wrapped(line: str, width: int) -> Sequence[str]:
    """A line on as many lines as the screen needs: what differs may be at its end."""
    if len(line) <= width:
        return [line]
    from textwrap import wrap

    wrapped = wrap(line, max(width, 20), subsequent_indent="    ", drop_whitespace=False)
    return [each.rstrip() for each in wrapped]
