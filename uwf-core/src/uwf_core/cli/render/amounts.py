"""Times, durations, tokens and money as people write them."""

import time
from collections.abc import Mapping
from typing import Any

_UNITS = ((86_400, "d"), (3_600, "h"), (60, "m"))


def duration(ms: int | None) -> str:
    """A duration: `850ms`, `4.2s`, `3m10s`, `2h05m`, `3d04h`; unknown is a dash."""
    if ms is None:
        return "–"
    if ms < 1000:
        return f"{ms}ms"
    if ms < 60_000:
        return f"{ms / 1000:.1f}s"
    seconds = ms // 1000
    for (unit, letter), (below, small) in (
        (_UNITS[0], _UNITS[1]),
        (_UNITS[1], _UNITS[2]),
        (_UNITS[2], (1, "s")),
    ):
        if seconds >= unit:
            return f"{seconds // unit}{letter}{seconds % unit // below:02}{small}"
    raise AssertionError(ms)


def waiting(document: Mapping[str, Any]) -> str | None:
    """What an idle thread waits for, and until when; None if it does not."""
    until = document["waitingUntil"]
    if until is None:
        return None
    when = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(until / 1000))
    return f"{document['waitingFor']}, not before {when}"


def moment(ms: int | None) -> str:
    """A moment in local time, to the minute."""
    return "–" if ms is None else time.strftime("%Y-%m-%d %H:%M", time.localtime(ms / 1000))


def ago(ms: int, now_ms: int) -> str:
    """How long since a moment, roughly: `now`, `5m`, `3h`, `12d`."""
    seconds = max(now_ms - ms, 0) // 1000
    for unit, letter in _UNITS:
        if seconds >= unit:
            return f"{seconds // unit}{letter}"
    return "now"


def count(number: int | None) -> str:
    """A count: `950`, `12.3k`, `1.2M`; unknown is a dash."""
    if number is None:
        return "–"
    if number < 1000:
        return str(number)
    if number < 999_950:
        return f"{number / 1000:.1f}k"
    return f"{number / 1_000_000:.1f}M"


def size(number: int) -> str:
    """A number of bytes."""
    if number < 1_000:
        return "1 byte" if number == 1 else f"{number} bytes"
    if number < 1_000_000:
        return f"{number / 1_000:.1f} kB"
    return f"{number / 1_000_000:.1f} MB"


def cost(usage: Mapping[str, Any]) -> str | None:
    """The cost, as far as known; None if nothing is known."""
    if usage["costUsd"] is None:
        return None
    return f"{'≥ ' if 'costUsd' in usage['atLeast'] else ''}${usage['costUsd']:.4f}"


def usage(usage: Mapping[str, Any] | None) -> str:
    """The usage, as far as known: `3 turns, 12.3k in, 1.1k out, ≥ $0.0123`."""
    if not usage:
        return ""
    parts = []
    least = dict.fromkeys(usage["atLeast"], "≥ ")
    if usage["turns"] is not None:
        turns = usage["turns"]
        parts.append(f"{least.get('turns', '')}{turns} turn{'' if turns == 1 else 's'}")
    for key, word in (
        ("inputTokens", "in"),
        ("cacheReadTokens", "cached"),
        ("outputTokens", "out"),
    ):
        if usage.get(key):
            parts.append(f"{least.get(key, '')}{count(usage[key])} {word}")
    spent = cost(usage)
    if spent is not None:
        parts.append(spent)
    return ", ".join(parts)
