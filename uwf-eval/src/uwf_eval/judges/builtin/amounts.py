"""The judges `cost` and `duration`. Without limits they only inform."""

from typing import Any

from uwf_core.api import JudgeReply, JudgeRequest
from uwf_core.api.record import record
from uwf_eval.judges.builtin.grade import check_limits, graded


@record
class CostOptions:
    """Dollars: `full_usd` gives 1 up to there, `zero_usd` 0 from there on."""

    full_usd: float | None = None
    zero_usd: float | None = None

    def __post_init__(self) -> None:
        check_limits(self.full_usd, self.zero_usd)


class Cost:
    """What the whole thread cost; what no agent said and no price tells is unknown."""

    def __init__(self, options: CostOptions, _context: Any) -> None:
        self._options = options

    def judge(self, request: JudgeRequest) -> JudgeReply:
        """The grade of the cost, in USD."""
        usage = request.record.get("usage") or {}
        options = self._options
        return graded("costUsd", usage.get("costUsd"), full=options.full_usd, zero=options.zero_usd)


@record
class DurationOptions:
    """Seconds: `full_seconds` gives 1 up to there, `zero_seconds` 0 from there on."""

    full_seconds: float | None = None
    zero_seconds: float | None = None

    def __post_init__(self) -> None:
        check_limits(self.full_seconds, self.zero_seconds)


class Duration:
    """How long the thread's steps took together, in seconds."""

    def __init__(self, options: DurationOptions, _context: Any) -> None:
        self._options = options

    def judge(self, request: JudgeRequest) -> JudgeReply:
        """The grade of the duration."""
        spent_ms = [step.get("durationMs") for step in request.record.get("steps", ())]
        known = None not in spent_ms
        seconds = sum(each or 0 for each in spent_ms) / 1000 if known else None
        options = self._options
        return graded("seconds", seconds, full=options.full_seconds, zero=options.zero_seconds)
