"""The judges `hallucination` and `upstream-consumption`: a model lists the claims, or the points of
the input, of each step and quotes evidence for each of them.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from statistics import fmean
from typing import Any

from uwf_core.api import JudgeReply, JudgeRequest, Usage
from uwf_eval.judges.builtin.ask_model import (
    MANIPULATION,
    Examiner,
    ModelOptions,
    Question,
    quote_problem,
)
from uwf_eval.judges.builtin.material import asked, delivered, is_call, results, told, worked
from uwf_eval.judges.failed import JudgeFailed

Step = Mapping[str, Any]


@dataclass(frozen=True, kw_only=True)
class StepOptions(ModelOptions):
    """The roles, and the common options of judges that ask a model.

    Attributes:
        roles: the roles to examine; all if empty.
    """

    roles: Sequence[str] = ()


@dataclass(frozen=True, kw_only=True)
class StepExamination:
    """The question about each step.

    Attributes:
        task: the instruction to the model.
        things: the key of the list. holds: the key of an item that is true if the item is good.
        listed_in: the section from which items are quoted.
        shown_in: the sections that contain the evidence.
        sections: the texts of a step for the model; None skips the step.
        nothing: the error if no step has an item.
    """

    task: str
    things: str
    holds: str
    listed_in: str
    shown_in: Sequence[str]
    sections: Callable[[Mapping[str, Any], Sequence[Step], int], Mapping[str, str] | None]
    nothing: str

    def properties(self) -> dict[str, Any]:
        """The schema of an answer."""
        text = {"type": "string"}
        item = {
            "type": "object",
            "properties": {
                "quote": text,
                self.holds: {"type": "boolean"},
                "evidence": {"type": ["string", "null"]},
                "reason": text,
            },
            "required": ["quote", self.holds, "evidence"],
            "additionalProperties": False,
        }
        return {self.things: {"type": "array", "items": item}}

    def problems(self, answer: Mapping[str, Any], shown: Mapping[str, str]) -> list[str]:
        """The quotes that do not occur; an item is not its own evidence."""
        evidence = "\n".join(shown[name] for name in self.shown_in)
        place = " or ".join(f"`{name}`" for name in self.shown_in)
        found = []
        for thing in answer[self.things]:
            found.append(quote_problem(thing["quote"], shown[self.listed_in], self.listed_in))
            if thing[self.holds]:
                found.append(quote_problem(thing["evidence"] or "", evidence, place))
        return [problem for problem in found if problem]


class _StepJudge:
    """A judge by the question `look`."""

    look: StepExamination

    def __init__(self, options: StepOptions, _context: Any) -> None:
        self._options = options

    def judge(self, request: JudgeRequest) -> JudgeReply:
        """The mean share of good items, over the steps that have items; the data have all items.

        Raises:
            JudgeFailed: no model, no valid answer, or no step with an item.
            AgentFailure: the service failed.
        """
        look, options = self.look, self._options
        examiner = Examiner(request, options)
        found, usages = [], list[Usage]()
        for step, sections in _shown_steps(look, request.record, options.roles):
            question = Question(
                task=look.task,
                sections=sections,
                properties=look.properties(),
                problems=look.problems,
            )
            examined = examiner.ask(question)
            usages.append(examined.usage)
            found.append(_findings(look, step, examined.answer))
        shares = [each[look.holds] / each[look.things] for each in found if each[look.things]]
        if not shares:
            raise JudgeFailed(look.nothing)
        usage = reduce(Usage.plus, usages)
        return JudgeReply(score=fmean(shares), data={"steps": found}, usage=usage)


def _shown_steps(
    look: StepExamination, thread: Mapping[str, Any], roles: Sequence[str]
) -> Iterable[tuple[Step, Mapping[str, str]]]:
    steps = list(thread.get("steps") or ())
    for at, step in enumerate(steps):
        sections = None if is_call(step) else look.sections(thread, steps, at)
        if sections is not None and (not roles or step["role"] in roles):
            yield step, sections


def _findings(look: StepExamination, step: Step, answer: Mapping[str, Any]) -> dict[str, Any]:
    things = answer[look.things]
    return {
        "number": step["number"],
        "role": step["role"],
        look.things: len(things),
        look.holds: sum(thing[look.holds] for thing in things),
        "findings": [thing for thing in things if not thing[look.holds]],
        "evidence": [thing for thing in things if thing[look.holds]],
        MANIPULATION: list(answer.get(MANIPULATION, ())),
    }


_CLAIMS_TASK = """\
List every claim in `delivered` that could be false and that somebody would rely on: about files, \
code, numbers, tests that ran, what others said, facts of the world. For each give `quote` (from \
`delivered`), `supported`, and `evidence`: words from `sources` or `results` that show it, or \
null. `work` is what the role said and did on its way, and does not count as evidence. \
A claim is supported only if such words are there; that it sounds right is not enough. Plans, \
opinions and questions are not claims. If there is no claim, the list is empty."""


def _claims_sections(
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


class Hallucination(_StepJudge):
    """The share of claims with a source, as the mean over the steps with claims. Sources are the
    input of a step, earlier outputs and results of tools, but not the words of the role itself.
    """

    look = StepExamination(
        task=_CLAIMS_TASK,
        things="claims",
        holds="supported",
        listed_in="delivered",
        shown_in=("sources", "results"),
        sections=_claims_sections,
        nothing="no step makes a claim that can be checked",
    )


_POINTS_TASK = """\
`handed` is what one role was given by the one before it; `answer` is what it then did and \
delivered. List the points of `handed` that the role should have taken up: findings, decisions, \
requests, constraints. For each give `quote` (from `handed`), `used`, and `evidence`: words from \
`answer` that take the point up or answer it, or null. A point is used only if such words are \
there. Do not list what is mere form."""


def _upstream_sections(
    _thread: Mapping[str, Any], steps: Sequence[Step], at: int
) -> Mapping[str, str] | None:
    if at == 0 or not delivered(steps[at - 1]):
        return None
    before, step = steps[at - 1], steps[at]
    handed = f"{asked(step)}\n\n{before['role']} delivered:\n{delivered(before)}"
    return {"handed": handed, "answer": f"{worked(step)}\n{results(step)}\n\n{delivered(step)}"}


class Upstream(_StepJudge):
    """The share of input points that a role used, as the mean over the steps with input."""

    look = StepExamination(
        task=_POINTS_TASK,
        things="points",
        holds="used",
        listed_in="handed",
        shown_in=("answer",),
        sections=_upstream_sections,
        nothing="no role received input from another role",
    )
