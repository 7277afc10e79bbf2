"""The judges `cost`, `duration` and `token-stats`: an amount as a score, if limits are set."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import reduce
from typing import Any

from uwf_core.api import JudgeReply, JudgeRequest, Seconds
from uwf_core.api.extract import NO_USAGE
from uwf_core.api.sums import NOTHING_USED, add_usage, is_exact
from uwf_eval.judges.builtin.material import leaf_steps
from uwf_eval.judges.failed import JudgeFailed


def check_limits(full: float | None, zero: float | None) -> None:
    """Validate the limits of a score.

    Raises:
        ValueError: a limit is negative, or they are in the wrong order.
    """
    for name, limit in (("full", full), ("zero", zero)):
        if limit is not None and limit < 0:
            raise ValueError(f"{name} is {limit:g}; must be 0 or more")
    if full is not None and zero is not None and full > zero:
        raise ValueError(f"full is {full:g} and zero {zero:g}; full must be the smaller one")


def graded(
    name: str, amount: float | None, *, full: float | None, zero: float | None
) -> JudgeReply:
    """Score an amount; less is better.

    With one limit the score is 1 up to it and 0 above; with none the reply only informs.

    Raises:
        JudgeFailed: a limit is set, and the amount is unknown.
    """
    data = {name: amount}
    limits = [limit for limit in (full, zero) if limit is not None]
    if not limits:
        return JudgeReply(score=None, data=data, usage=NO_USAGE)
    if amount is None:
        raise JudgeFailed(
            f"{name} is unknown and cannot be compared with a limit",
            hint="the agent does not report it, and its model has no configured price",
        )
    return JudgeReply(score=_score(amount, limits[0], limits[-1]), data=data, usage=NO_USAGE)


def _score(amount: float, full: float, zero: float) -> float:
    if amount <= full:
        return 1.0
    return 0.0 if amount >= zero else (zero - amount) / (zero - full)


@dataclass(frozen=True, kw_only=True)
class CostOptions:
    """The limits in dollars.

    Attributes:
        full_usd: the score is 1 up to this amount.
        zero_usd: the score is 0 from this amount.
    """

    full_usd: float | None = None
    zero_usd: float | None = None

    def __post_init__(self) -> None:
        check_limits(self.full_usd, self.zero_usd)


class Cost:
    """The cost of the thread; unknown if neither the agent nor a configured price gives all of
    it.
    """

    def __init__(self, options: CostOptions, _context: Any) -> None:
        self._options = options

    def judge(self, request: JudgeRequest) -> JudgeReply:
        """Score the cost in USD."""
        usage, options = request.record["usage"], self._options
        cost = usage["costUsd"] if is_exact(usage, "costUsd") else None
        return graded("costUsd", cost, full=options.full_usd, zero=options.zero_usd)


@dataclass(frozen=True, kw_only=True)
class DurationOptions:
    """The limits in seconds.

    Attributes:
        full_seconds: the score is 1 up to this duration.
        zero_seconds: the score is 0 from this duration.
    """

    full_seconds: Seconds | None = None
    zero_seconds: Seconds | None = None

    def __post_init__(self) -> None:
        check_limits(self.full_seconds, self.zero_seconds)


class Duration:
    """The total duration of the thread's steps, in seconds."""

    def __init__(self, options: DurationOptions, _context: Any) -> None:
        self._options = options

    def judge(self, request: JudgeRequest) -> JudgeReply:
        """Score the duration."""
        spent_ms = [step.get("durationMs") for step in leaf_steps(request.record)]
        known = None not in spent_ms
        seconds = sum(each or 0 for each in spent_ms) / 1000 if known else None
        options = self._options
        return graded("seconds", seconds, full=options.full_seconds, zero=options.zero_seconds)


COUNTED = ("turns", "inputTokens", "outputTokens", "cacheReadTokens", "cacheWriteTokens")


class TokenStats:
    """Tokens and turns, in total and by role; null is unknown, `atLeast` names lower bounds."""

    def __init__(self, _options: None, _context: Any) -> None:
        """It has no options."""

    def judge(self, request: JudgeRequest) -> JudgeReply:
        """Count."""
        steps = leaf_steps(request.record)
        roles: dict[str, list[Mapping[str, Any]]] = {}
        for step in steps:
            roles.setdefault(step["role"], []).append(step)
        by_role = {
            role: {"steps": len(own), **_totals(each["usage"] for each in own)}
            for role, own in roles.items()
        }
        total = _totals(step["usage"] for step in steps)
        data = {"steps": len(steps), **total, "byRole": by_role}
        return JudgeReply(score=None, data=data, usage=NO_USAGE)


def _totals(usages: Iterable[Any]) -> dict[str, Any]:
    """The sums; null is unknown, and `atLeast` names those of which a part is unknown."""
    total: Any = reduce(add_usage, usages, NOTHING_USED)
    least = [name for name in total["atLeast"] if name in COUNTED]
    return {**{name: total[name] for name in COUNTED}, "atLeast": least}
