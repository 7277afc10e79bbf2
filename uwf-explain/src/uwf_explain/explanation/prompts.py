"""The exact prompt of a step, part by part with the origin of each part."""

from collections.abc import Iterator, Mapping
from typing import Final

from uwf_core.api import RecordedStep
from uwf_core.thread.calls import CALL_AGENT
from uwf_core.workflow.definition import PROGRAM
from uwf_explain.explanation.branches import is_fan_out
from uwf_explain.explanation.prompt_parts import PromptPart, instruction_parts, split_prompt
from uwf_explain.explanation.statements import Statement
from uwf_explain.explanation.surroundings import Surroundings

_WORTH_A_REFERENCE = 400
"""A longer part of a prompt that another section shows is not shown again."""

_MEANING: Final[Mapping[str, str]] = {
    "form": "what the role is and the form that its reply must have, from the workflow",
    "guidance": "skills, memory and rules of the role, as they were then",
    "task": "the task of the run",
    "caller": "the run that called this one, and the task of the whole run",
    "input": "the typed input of the run",
    "reminder": "a reminder, because this session knows the role and the task already",
    "progress": "how far the run has come, written by uwf",
    "history": "an introduction to the earlier steps, written by uwf",
    "step": "earlier steps",
    "replaced": "the reply that is to be replaced",
    "said": "what a person said at an earlier attempt",
    "instruction": "the instruction, made by the rule of the workflow",
    "person": "what a person added to the instruction",
    "end": "a last line about the form of the reply, written by uwf",
    "whole": "the whole prompt",
}
"""What each part is, in words."""


def prompt_statements(step: RecordedStep, around: Surroundings) -> Iterator[Statement]:
    """The parts of the prompt with their origins; none for a program, whose command the section of
    the step shows, and for branches, each of which has its own.
    """
    if step.is_answer or step.node["agent"] in (PROGRAM, None) or is_fan_out(step.role):
        return
    if step.node["agent"] == CALL_AGENT:
        parts = instruction_parts(step.prompt, step.edge_prompt)
    else:
        parts = split_prompt(step.prompt, around.task, step.edge_prompt)
    for number, part in enumerate(parts, 1):
        place = f"Part {number} of {len(parts)}: "
        yield _prompt_part(step, around, part, place)


def _prompt_part(
    step: RecordedStep, around: Surroundings, part: PromptPart, place: str
) -> Statement:
    prompt = step.node["attempt"]["prompt"]
    first, last = part.first, part.last
    if first is not None and last is not None and last <= len(around.earlier):
        several = f"here the replies of the steps {first} to {last} are repeated."
        one = f"here the reply of step {first} is repeated."
        ends = dict.fromkeys((around.earlier[first - 1], around.earlier[last - 1]))
        text = place + (one if first == last else several)
        return Statement("prompt", text, (*ends, prompt))
    refs = (*_origins(step, around, part.kind), prompt)
    meaning = _MEANING[part.kind]
    if len(part.text) > _WORTH_A_REFERENCE:
        shown = around.shown.setdefault(part.text, step.number)
        if shown != step.number:
            text = f"{place}{meaning}; the same text as in the prompt of step {shown}."
            return Statement("prompt", text, refs)
    return Statement("prompt", f"{place}{meaning}:", refs, part.text)


def _origins(step: RecordedStep, around: Surroundings, kind: str) -> tuple[str, ...]:
    """The nodes from which a part of the prompt was made; none for what uwf itself wrote."""
    node = step.node
    origins: Mapping[str, tuple[str | None, ...]] = {
        "form": (step.workflow.ref,),
        "guidance": tuple(each["text"] for each in node["attempt"]["skills"] or ()),
        "task": (around.task_ref,),
        "caller": (node["start"],),
        "reminder": (step.workflow.ref,),
        "replaced": (node["attempt"]["replaces"],),
        "said": tuple(node["previousAttempts"]),
        "instruction": (node["attempt"]["edgePrompt"],),
        "person": (node["attempt"]["said"], node["attempt"]["answer"]),
        "end": (step.workflow.ref,),
    }
    return tuple(filter(None, origins.get(kind, ())))
