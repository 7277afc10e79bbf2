"""Judging a thread step by step: a model lists things and shows words for each of them."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from statistics import fmean
from typing import Any

from uwf_core.api import JudgeReply, JudgeRequest, Usage
from uwf_core.api.record import record
from uwf_eval.judges.builtin.examine import MANIPULATION, Examiner, ModelOptions, Question
from uwf_eval.judges.builtin.quotes import quote_problem
from uwf_eval.judges.failed import JudgeFailed

Step = Mapping[str, Any]


@record
class Options(ModelOptions):
    """As of every judge that asks a model. `roles`: the ones that are examined; all if empty."""

    roles: Sequence[str] = ()


@record
class Look:
    """What is looked for in each step.

    Attributes:
        task: what the model is told.
        things: how the list is called. holds: the key that says whether a thing is as it should be.
        listed_in: the section that the things are quoted from.
        shown_in: the sections that hold the evidence.
        sections: what the model is shown of the step at a place; None leaves the step out.
        nothing: why the judge fails where no step has such a thing.
    """

    task: str
    things: str
    holds: str
    listed_in: str
    shown_in: Sequence[str]
    sections: Callable[[Mapping[str, Any], Sequence[Step], int], Mapping[str, str] | None]
    nothing: str

    def properties(self) -> dict[str, Any]:
        """The form of an answer."""
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
        """Quotes that do not occur; nothing can be its own evidence."""
        evidence = "\n".join(shown[name] for name in self.shown_in)
        place = " or ".join(f"`{name}`" for name in self.shown_in)
        found = []
        for thing in answer[self.things]:
            found.append(quote_problem(thing["quote"], shown[self.listed_in], self.listed_in))
            if thing[self.holds]:
                found.append(quote_problem(thing["evidence"] or "", evidence, place))
        return [problem for problem in found if problem]


def judge_steps(look: Look, request: JudgeRequest, options: Options) -> JudgeReply:
    """The mean share of things that hold, over the steps that have any.

    Raises:
        JudgeFailed: no model, an answer that does not hold, or no step with such a thing.
        AgentFailure: the service failed.
    """
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
    usage = usages[0]
    for other in usages[1:]:
        usage = usage.plus(other)
    return JudgeReply(score=fmean(shares), data={"steps": found}, usage=usage)


def _shown_steps(
    look: Look, thread: Mapping[str, Any], roles: Sequence[str]
) -> Iterable[tuple[Step, Mapping[str, str]]]:
    steps = list(thread.get("steps") or ())
    for at, step in enumerate(steps):
        sections = look.sections(thread, steps, at)
        if sections is not None and (not roles or step["role"] in roles):
            yield step, sections


def _findings(look: Look, step: Step, answer: Mapping[str, Any]) -> dict[str, Any]:
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
