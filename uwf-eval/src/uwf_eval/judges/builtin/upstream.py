"""The judge `upstream-consumption`: does each role use what it was handed?"""

from collections.abc import Mapping, Sequence
from typing import Any

from uwf_core.api import JudgeReply, JudgeRequest
from uwf_eval.judges.builtin.material import delivered, results, worked
from uwf_eval.judges.builtin.stepwise import Look, Options, Step, judge_steps

__all__ = ["Options", "Upstream"]

_TASK = """\
`handed` is what one role was given by the one before it; `answer` is what it then did and \
delivered. List the points of `handed` that the role should have taken up: findings, decisions, \
requests, constraints. For each give `quote` (from `handed`), `used`, and `evidence`: words from \
`answer` that take the point up or answer it, or null. A point is used only if such words are \
there. Do not list what is mere form."""


class Upstream:
    """Share of the points handed on that the next role took up, step by step; the score is the
    mean over the steps that were handed anything.
    """

    def __init__(self, options: Options, _context: Any) -> None:
        self._options = options

    def judge(self, request: JudgeRequest) -> JudgeReply:
        """The mean share of points taken up, with all points in the data."""
        return judge_steps(_LOOK, request, self._options)


def _sections(
    _thread: Mapping[str, Any], steps: Sequence[Step], at: int
) -> Mapping[str, str] | None:
    if at == 0 or not delivered(steps[at - 1]):
        return None
    before, step = steps[at - 1], steps[at]
    handed = f"{step.get('edgePrompt') or ''}\n\n{before['role']} delivered:\n{delivered(before)}"
    return {"handed": handed, "answer": f"{worked(step)}\n{results(step)}\n\n{delivered(step)}"}


_LOOK = Look(
    task=_TASK,
    things="points",
    holds="used",
    listed_in="handed",
    shown_in=("answer",),
    sections=_sections,
    nothing="no role was handed anything by another one",
)
