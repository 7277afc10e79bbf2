"""The judge `hallucination`: does what the roles claim have a source?"""

from collections.abc import Mapping, Sequence
from typing import Any

from uwf_core.api import JudgeReply, JudgeRequest
from uwf_eval.judges.builtin.material import delivered, results, told, worked
from uwf_eval.judges.builtin.stepwise import Look, Options, Step, judge_steps

__all__ = ["Hallucination", "Options"]

_TASK = """\
List every claim in `delivered` that could be false and that somebody would rely on: about files, \
code, numbers, tests that ran, what others said, facts of the world. For each give `quote` (from \
`delivered`), `supported`, and `evidence`: words from `sources` or `results` that show it, or \
null. `work` is what the role said and did on its way, and is no evidence. \
A claim is supported only if such words are there; that it sounds right is not enough. Plans, \
opinions and questions are no claims. If there is none, the list is empty."""


class Hallucination:
    """Share of claims with a source, step by step; the score is the mean over the steps that
    claim anything. A source is what the step was told, what others delivered before it, or what
    its tools gave; nothing that the role itself says.
    """

    def __init__(self, options: Options, _context: Any) -> None:
        self._options = options

    def judge(self, request: JudgeRequest) -> JudgeReply:
        """The mean share of claims with a source, with all claims in the data."""
        return judge_steps(_LOOK, request, self._options)


def _sections(
    thread: Mapping[str, Any], steps: Sequence[Step], at: int
) -> Mapping[str, str] | None:
    said = delivered(steps[at])
    if not said:
        return None
    return {
        "sources": told(thread, steps, at),
        "work": worked(steps[at]),
        "results": results(steps[at]),
        "delivered": said,
    }


_LOOK = Look(
    task=_TASK,
    things="claims",
    holds="supported",
    listed_in="delivered",
    shown_in=("sources", "results"),
    sections=_sections,
    nothing="no step claims anything that could be looked up",
)
