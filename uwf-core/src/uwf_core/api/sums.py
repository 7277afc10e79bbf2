"""Usage as it is stored and printed, its price, and the one way to add it up.

Loaded by every command, so it imports nothing of the contract.
"""

from collections.abc import Mapping
from typing import Any, Literal, TypedDict

LARGEST = 2**53 - 1
"""The largest count that every JSON parser keeps exactly; a larger one counts as unknown."""
FIELDS = (
    ("turns", "turns"),
    ("inputTokens", "input_tokens"),
    ("outputTokens", "output_tokens"),
    ("cacheReadTokens", "cache_read_tokens"),
    ("cacheWriteTokens", "cache_write_tokens"),
    ("costUsd", "cost_usd"),
    ("durationMs", "duration_ms"),
)
"""(name in JSON, name in Python) of every number."""

UsageField = Literal[
    "turns", "inputTokens", "outputTokens", "cacheReadTokens", "cacheWriteTokens", "costUsd",
    "durationMs",
]  # fmt: skip


class UsagePayload(TypedDict):
    """The usage; null is unknown, never 0.

    `atLeast` names the numbers of a total that are lower bounds: a part of it is unknown.
    """

    turns: int | None
    inputTokens: int | None
    outputTokens: int | None
    cacheReadTokens: int | None
    cacheWriteTokens: int | None
    costUsd: float | None
    durationMs: int | None
    atLeast: list[str]


NOTHING_USED: UsagePayload = {**{name: 0 for name, _ in FIELDS}, "atLeast": []}  # type: ignore[typeddict-item]


class ReservePayload(TypedDict):
    """What a step may use; what is unknown counts as 0."""

    tokens: int
    costUsd: float
    durationMs: int


NOTHING_RESERVED: ReservePayload = {"tokens": 0, "costUsd": 0, "durationMs": 0}


class LedgerPayload(TypedDict):
    """What a thread has used with all that it called: steps of agents, persons and programs, their
    time, their usage, and the largest of them.
    """

    steps: int
    runningMs: int
    usage: UsagePayload
    largest: ReservePayload


NOTHING_COUNTED: LedgerPayload = {
    "steps": 0, "runningMs": 0, "usage": NOTHING_USED, "largest": NOTHING_RESERVED,
}  # fmt: skip
TOKEN_FIELDS: tuple[UsageField, ...] = (
    "inputTokens", "outputTokens", "cacheReadTokens", "cacheWriteTokens",
)  # fmt: skip


def add_usage(total: UsagePayload, part: UsagePayload) -> UsagePayload:
    """The sum, number by number.

    If one of two numbers is unknown, the sum is the known one and a lower bound. A lower bound of
    0 says nothing, so the sum is unknown then. A sum beyond `LARGEST` is `LARGEST`, a lower bound.
    """
    mine: Mapping[str, Any] = total
    other: Mapping[str, Any] = part
    marked = {*total["atLeast"], *part["atLeast"]}
    sums: dict[str, Any] = {}
    for name, _ in FIELDS:
        if mine[name] is None or other[name] is None:
            marked |= {name}
            sums[name] = mine[name] or other[name] or None
        else:
            sums[name] = mine[name] + other[name]
            if sums[name] > LARGEST:
                sums[name] = LARGEST
                marked |= {name}
    sums["atLeast"] = []
    if marked:
        sums["atLeast"] = [name for name, _ in FIELDS if name in marked and sums[name] is not None]
    return sums  # type: ignore[return-value]


def subtract_usage(total: UsagePayload, part: UsagePayload) -> UsagePayload:
    """What `add_usage` added to `part` to make `total`: the known part of each number; a number
    that is a lower bound in either is one here.
    """
    mine: Mapping[str, Any] = total
    other: Mapping[str, Any] = part
    marked = {*total["atLeast"], *part["atLeast"]}
    rest: dict[str, Any] = {}
    for name, _ in FIELDS:
        rest[name] = None if mine[name] is None else max(0, mine[name] - (other[name] or 0))
    rest["atLeast"] = [name for name in rest if name in marked and rest[name] is not None]
    return rest  # type: ignore[return-value]


def known_sum(usage: UsagePayload, *names: UsageField) -> float:
    """The known part of these numbers together."""
    return sum([usage[name] or 0 for name in names])


def is_exact(usage: UsagePayload, *names: UsageField) -> bool:
    """Whether these numbers are known, and none is a lower bound."""
    return all(usage[name] is not None and name not in usage["atLeast"] for name in names)


def larger(one: ReservePayload, other: ReservePayload) -> ReservePayload:
    """The larger of each figure."""
    mine: Any = one
    others: Any = other
    return {name: max(others[name], mine[name]) for name in NOTHING_RESERVED}  # type: ignore[return-value]


def reserve_of(usage: UsagePayload, duration_ms: int) -> ReservePayload:
    """What a step has used, as the reservation of one like it."""
    return {
        "tokens": int(known_sum(usage, *TOKEN_FIELDS)),
        "costUsd": usage["costUsd"] or 0,
        "durationMs": duration_ms,
    }
