"""The judge `token-stats`: where tokens and turns went. It only informs."""

from collections.abc import Mapping
from typing import Any

from uwf_core.api import JudgeReply, JudgeRequest
from uwf_core.api.extract import NO_USAGE

COUNTED = ("turns", "inputTokens", "outputTokens", "cacheReadTokens", "cacheWriteTokens")


class TokenStats:
    """Tokens and turns, in all and for each role; null is unknown."""

    def __init__(self, _options: None, _context: Any) -> None:
        """There is nothing to set."""

    def judge(self, request: JudgeRequest) -> JudgeReply:
        """The numbers."""
        steps = request.record.get("steps", ())
        roles: dict[str, list[Mapping[str, Any]]] = {}
        for step in steps:
            roles.setdefault(step["role"], []).append(step)
        by_role = {
            role: {"steps": len(own), **_totals([each.get("usage") for each in own])}
            for role, own in roles.items()
        }
        total = _totals([step.get("usage") for step in steps])
        data = {"steps": len(steps), **total, "byRole": by_role}
        return JudgeReply(score=None, data=data, usage=NO_USAGE)


def _totals(usages: list[Mapping[str, Any] | None]) -> dict[str, int | None]:
    return {name: _total([(usage or {}).get(name) for usage in usages]) for name in COUNTED}


def _total(counts: list[int | None]) -> int | None:
    """The sum; unknown if any part of it is."""
    known = [count for count in counts if count is not None]
    return sum(known) if len(known) == len(counts) else None
