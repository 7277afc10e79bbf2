"""Amounts, persons and times in plain words. The same input gives the same words anywhere."""

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from uwf_core.thread.calls import CALL_AGENT
from uwf_core.thread.decisions import call_of
from uwf_core.workflow.definition import PROGRAM


def quoted(word: object) -> str:
    """A name in quotation marks, on one line."""
    return f"“{' '.join(str(word).split())}”"


def moment(ms: int) -> str:
    """A moment to the minute, in UTC."""
    return datetime.fromtimestamp(ms / 1000, UTC).strftime("%Y-%m-%d %H:%M UTC")


def duration(ms: int) -> str:
    """A duration: `less than a second`, `1.4 seconds`, `4 minutes 10 seconds`."""
    if ms < 1_000:
        return "less than a second"
    if ms < 59_950:
        return _many(round(ms / 1000, 1), "second")
    minutes, seconds = divmod(round(ms / 1000), 60)
    hours, minutes = divmod(minutes, 60)
    parts = ((hours, "hour"), (minutes, "minute"), (0 if hours else seconds, "second"))
    return " ".join(_many(value, unit) for value, unit in parts if value)


def cost(usage: Mapping[str, Any]) -> str:
    """What something cost: `Cost: $0.25. Tokens read: 12, written: 7.`"""
    least = frozenset(usage["atLeast"])
    money = _amount(usage["costUsd"], "costUsd" in least, dollars)
    read = _amount(usage["inputTokens"], "inputTokens" in least, lambda count: f"{count:,}")
    wrote = _amount(usage["outputTokens"], "outputTokens" in least, lambda count: f"{count:,}")
    return f"Cost: {money}. Tokens read: {read}, written: {wrote}."


def dollars(usd: float) -> str:
    """An amount with two decimals; one below a cent with as many as it needs."""
    if usd == 0 or usd >= 0.01:
        return f"${usd:,.2f}"
    return "less than $0.000001" if usd < 0.000001 else f"${usd:.6f}".rstrip("0")


def has_all(usage: Mapping[str, Any]) -> bool:
    """Whether the cost is known, and known in full."""
    return usage["costUsd"] is not None and "costUsd" not in usage["atLeast"]


def person(by: Mapping[str, Any] | None) -> str:
    """Who did something: `the person ada (on laptop)`."""
    return "a person" if by is None else f"the person {by['user']} (on {by['host']})"


def on(ms: int, by: Mapping[str, Any] | None) -> str:
    """The beginning of a sentence: when, and who."""
    return f"On {moment(ms)} {person(by)}"


def program(agent: str) -> str:
    """An agent: `the program “mock”`."""
    if agent == CALL_AGENT:
        return "another run"
    if agent == PROGRAM:
        return "the program of the role"
    return f"the program {quoted(agent)}"


def used(node: Mapping[str, Any]) -> Mapping[str, Any]:
    """What a step used; that of a call is what the called run used for it."""
    called = call_of(node)["usage"]
    found: Mapping[str, Any] = node["usage"] if called is None else called["usage"]
    return found


def excerpt(text: str, most: int = 120) -> str:
    """The beginning of a text in quotation marks, on one line."""
    words = " ".join(text.split())
    return quoted(words if len(words) <= most else words[: most - 2] + " …")


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
    return f"at least {write(value)}" if is_least else str(write(value))


def _many(value: float, unit: str) -> str:
    return f"{value:g} {unit}{'' if value == 1 else 's'}"
