"""Checks and their results, one per line."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from uwf_core.cli.render.style import Screen

_MARKS = {"ok": "✓", "warning": "!", "error": "✗"}


def check_lines(checks: Iterable[Mapping[str, Any]], screen: Screen) -> Iterator[str]:
    """A mark, the name and the message, with the hint below."""
    for each in checks:
        mark = screen.paint(_MARKS.get(each["state"], "?"), each["state"])
        yield f"{mark} {each['name']}: {each['message']}"
        if each["hint"] and each["state"] != "ok":
            yield f"  hint: {each['hint']}"
