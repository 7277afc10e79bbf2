"""The figures and differences of a comparison as words, for the terminal and for the page."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from uwf_core.commands import count, duration


def _dollars(amount: float | None) -> str:
    return "–" if amount is None else f"${amount:.4f}"


_FIGURES: Final[Mapping[str, tuple[str, Callable[[Any], str]]]] = {
    "steps": ("steps", str),
    "attempts": ("failed attempts", str),
    "corrections": ("corrections", str),
    "durationMs": ("time", duration),
    "inputTokens": ("tokens in", count),
    "cacheReadTokens": ("tokens cached", count),
    "outputTokens": ("tokens out", count),
    "costUsd": ("cost", _dollars),
}


def figure(side: Mapping[str, Any], key: str) -> str:
    """A figure of a thread or step; a lower bound is marked, and an unknown one stays unknown."""
    shown = _FIGURES[key][1](_value(side, key))
    return f"≥ {shown}" if key not in side and key in side["usage"]["atLeast"] else shown


def totals(document: Mapping[str, Any]) -> Iterator[tuple[str, str, str, str]]:
    """Each figure of the whole threads with its name: A, B, B - A; the time, and what is not 0."""
    sides, difference = (document["a"], document["b"]), document["difference"]
    for key, (name, shown) in _FIGURES.items():
        if key == "durationMs" or any(_value(side, key) for side in sides):
            change = difference[key]
            sign = "-" if change is not None and change < 0 else "+"
            by = "–" if change is None else sign + shown(abs(change))
            yield name, figure(sides[0], key), figure(sides[1], key), by


def _value(side: Mapping[str, Any], key: str) -> Any:
    return side[key] if key in side else side["usage"][key]


def place(found: Mapping[str, Any]) -> str:
    """An aspect with its part: `output why`, `prompt instruction`."""
    return f"{found['aspect']} {found['part']}" if found["part"] else str(found["aspect"])
