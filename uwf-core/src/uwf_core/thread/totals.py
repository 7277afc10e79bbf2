"""How usage and cost are summed over the steps of a thread."""

from typing import TYPE_CHECKING, Any

from uwf_core.named_tuple import NamedTuple
from uwf_core.thread.types import UsagePayload

if TYPE_CHECKING:
    from uwf_core.api.agent import Usage

FIELDS = (
    ("turns", "turns"),
    ("inputTokens", "input_tokens"),
    ("outputTokens", "output_tokens"),
    ("cacheReadTokens", "cache_read_tokens"),
    ("cacheWriteTokens", "cache_write_tokens"),
    ("costUsd", "cost_usd"),
    ("durationMs", "duration_ms"),
)
"""(name in JSON, name in Python) of every field."""

TOKEN_FIELDS = ("inputTokens", "outputTokens", "cacheReadTokens", "cacheWriteTokens")


def usage_payload(usage: "Usage") -> UsagePayload:
    """`usage` as it is stored and printed."""
    fields = usage.__dict__
    payload: Any = {json: fields[python] for json, python in FIELDS}
    return payload  # type: ignore[no-any-return]


_ZERO = {name: 0 for name, _ in FIELDS}


class Totals(NamedTuple):
    """Sums over many calls: `known` of the reported figures, `unknown` counts calls without one."""

    known: dict[str, float]
    unknown: dict[str, int]

    @classmethod
    def none(cls) -> "Totals":
        """No usage yet."""
        return cls({}, {})

    def plus(self, usage: UsagePayload) -> "Totals":
        """These totals and one more call."""
        known, unknown = dict(self.known), dict(self.unknown)
        for name, value in usage.items():
            if value is None:
                unknown[name] = unknown.get(name, 0) + 1
            else:
                known[name] = known.get(name, 0) + value  # type: ignore[operator]
        return Totals(known, unknown)

    def payload(self) -> UsagePayload:
        """The sums; a field that any call left unknown is null."""
        payload: Any = {**_ZERO, **self.known, **dict.fromkeys(self.unknown)}
        return payload  # type: ignore[no-any-return]

    def known_sum(self, *names: str) -> float:
        """The known part of the sum of these fields: a lower bound of the usage."""
        return sum(self.known.get(name, 0) for name in names)

    def is_known(self, *names: str) -> bool:
        """Whether every call reported all of these fields."""
        return not any(self.unknown.get(name) for name in names)
