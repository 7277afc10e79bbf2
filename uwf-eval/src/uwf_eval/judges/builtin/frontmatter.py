"""The judge `frontmatter-compliance`: did the outputs of the roles satisfy their schemas?"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from uwf_core.api import JudgeReply, JudgeRequest
from uwf_core.api.extract import NO_USAGE
from uwf_eval.judges.builtin.material import leaf_steps
from uwf_eval.judges.failed import JudgeFailed

_INVALID = "invalid_output"


@dataclass(frozen=True, kw_only=True)
class ComplianceOptions:
    """What is counted.

    Attributes:
        count: outputs that were valid without a correction (`first`), or in the end (`all`).
    """

    count: Literal["first", "all"] = "first"


class Compliance:
    """The share of steps with valid output, at first and in the end. A thread that stopped because
    of invalid output has one more step, which was never valid.
    """

    def __init__(self, options: ComplianceOptions, _context: Any) -> None:
        self._options = options

    def judge(self, request: JudgeRequest) -> JudgeReply:
        """The share that the options select; the data have both."""
        steps = leaf_steps(request.record)
        missed = [step for step in steps if _is_failed(step)]
        valid = [step for step in steps if not _is_failed(step)]
        total = len(steps)
        if not total:
            raise JudgeFailed("the thread has no steps")
        corrected = [step for step in valid if not _at_once(step)]
        first, in_all = (len(valid) - len(corrected)) / total, len(valid) / total
        data = {
            "steps": total,
            "firstAttempt": first,
            "atAll": in_all,
            "corrected": [_named(step) for step in corrected],
            "invalid": [_named(step) for step in missed],
        }
        score = first if self._options.count == "first" else in_all
        return JudgeReply(score=score, data=data, usage=NO_USAGE)


def _is_failed(step: Mapping[str, Any]) -> bool:
    return step.get("failure") is not None


def _at_once(step: Mapping[str, Any]) -> bool:
    """Whether the first output was valid; a crashed attempt has none."""
    if step.get("corrections"):
        return False
    attempts = step.get("attempts", ())
    return not any(
        each.get("corrections") or (each.get("failure") or {}).get("kind") == _INVALID
        for each in attempts
    )


def _named(step: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "number": step["number"],
        "role": step["role"],
        "corrections": len(step.get("corrections", ())),
    }
