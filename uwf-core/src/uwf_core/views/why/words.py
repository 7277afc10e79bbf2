"""Amounts, persons and times in plain words. The same input gives the same words anywhere."""

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any


def quoted(word: object) -> str:
    """A name in quotation marks, on one line."""
    return f"“{' '.join(str(word).split())}”"


def moment(ms: int) -> str:
    """A moment to the minute, in UTC."""
    return datetime.fromtimestamp(ms / 1000, UTC).strftime("%Y-%m-%d %H:%M UTC")


def duration(ms: int) -> str:
    """A duration: `0.4 seconds`, `4 minutes 10 seconds`."""
    if ms < 100:
        return "less than 0.1 seconds"
    if ms < 60_000:
        return _many(round(ms / 1000, 1), "second")
    minutes, seconds = divmod(round(ms / 1000), 60)
    hours, minutes = divmod(minutes, 60)
    parts = ((hours, "hour"), (minutes, "minute"), (0 if hours else seconds, "second"))
    return " ".join(_many(value, unit) for value, unit in parts if value)


def cost(usage: Mapping[str, Any]) -> str:
    """What something cost: `Cost: $0.2500. Tokens read: 12, written: 7.`"""
    least = frozenset(usage["atLeast"])
    money = _amount(usage["costUsd"], "costUsd" in least, lambda usd: f"${usd:.4f}")
    read = _amount(usage["inputTokens"], "inputTokens" in least, lambda count: f"{count:,}")
    wrote = _amount(usage["outputTokens"], "outputTokens" in least, lambda count: f"{count:,}")
    return f"Cost: {money}. Tokens read: {read}, written: {wrote}."


def person(by: Mapping[str, Any] | None) -> str:
    """Who did something: `A person (ada on laptop)`."""
    return "A person" if by is None else f"A person ({by['user']} on {by['host']})"


def plain(value: Any) -> str:
    """A field's value: text as it is, anything else as JSON."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def ordinal(number: int) -> str:
    """`first`, `second`, `third`, `number 4`, …"""
    names = ("first", "second", "third")
    return names[number - 1] if number <= len(names) else f"number {number}"


def _amount(value: Any, is_least: bool, write: Any) -> str:
    if value is None:
        return "unknown"
    return f"≥ {write(value)}" if is_least else str(write(value))


def _many(value: float, unit: str) -> str:
    return f"{value:g} {unit}{'' if value == 1 else 's'}"
