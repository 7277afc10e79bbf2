"""Split a recorded prompt into its parts, each with the origin of its text.

The parts of `prompt.assemble` are found by their headings. Everything untrusted before the
instruction is in fences or is the task, so a heading outside of them is the engine's. The slices
together are the prompt, byte for byte; a prompt of another form is one part.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Final

from uwf_core.named_tuple import NamedTuple
from uwf_core.prompt.markdown import fenced

FORM, TASK, REMINDER, PROGRESS, STEP = "form", "task", "reminder", "progress", "step"
HISTORY, REPLACED, SAID, INSTRUCTION = "history", "replaced", "said", "instruction"
PERSON, END, WHOLE = "person", "end", "whole"

MEANING: Final[Mapping[str, str]] = {
    FORM: "what the role is and the form that its reply must have, from the workflow",
    TASK: "the task of the thread",
    REMINDER: "a reminder, because this session knows the role and the task already",
    PROGRESS: "how far the thread has come, written by uwf",
    HISTORY: "an introduction to the earlier steps, written by uwf",
    STEP: "an earlier step",
    REPLACED: "the reply that is to be replaced",
    SAID: "what a person said at an earlier attempt",
    INSTRUCTION: "the instruction, made by the rule of the workflow",
    PERSON: "what a person added to the instruction",
    END: "a last line about the form of the reply, written by uwf",
    WHOLE: "the whole prompt",
}
"""What each part is, in words."""

_TASK_HEADING = "# Task\n\n"
_TASK_LEAD = "The task of the whole thread:\n\n"
_PROGRESS_HEADING = "# Progress\n\n"
_INSTRUCTION_HEADING = "# Your instruction\n\n"
_MARKS = re.compile(r"^(?:(`{4,})(.*)|(#{1,2} .*))$", re.MULTILINE)
_STEP_HEADING = re.compile(r"## Step (\d+): ")
_HEADINGS: Final = (
    ("# What happened ", HISTORY),
    ("# What you said last", REPLACED),
    ("# What a person said", SAID),
    ("# Your instruction", INSTRUCTION),
)


class PromptPart(NamedTuple):
    """A slice of the prompt; `number` is the step of one of kind `step`."""

    kind: str
    text: str
    number: int | None = None


def split_prompt(prompt: str, task: str, instruction: str) -> list[PromptPart]:
    """The parts of a prompt.

    Args:
        prompt: as it was recorded.
        task: the task of the thread. instruction: the rendered prompt of the edge.
    """
    progress = _start_of_progress(prompt, task)
    if progress is None:
        return [PromptPart(WHOLE, prompt)]
    parts = [*_opening(prompt[:progress], task)]
    marks = list(_engine_headings(prompt, progress))
    ends = [*(at for at, _, _ in marks[1:]), len(prompt)]
    for (at, kind, number), end in zip(marks, ends, strict=True):
        if kind == INSTRUCTION:
            parts += _instruction(prompt[at:], instruction)
        else:
            parts.append(PromptPart(kind, prompt[at:end], number))
    return parts


def _start_of_progress(prompt: str, task: str) -> int | None:
    """Where the part about the progress begins; None if there is none."""
    if prompt.startswith("You continue this session as the "):
        found = prompt.find("\n\n" + _PROGRESS_HEADING)
        return None if found < 0 else found + 2
    opening = f"\n\n{_TASK_HEADING}{_TASK_LEAD}{fenced(task)}\n\n"
    found = prompt.find(opening + _PROGRESS_HEADING)
    return None if found < 0 else found + len(opening)


def _opening(text: str, task: str) -> Iterator[PromptPart]:
    length = len(f"{_TASK_HEADING}{_TASK_LEAD}{fenced(task)}\n\n")
    if text.startswith("You continue this session as the "):
        yield PromptPart(REMINDER, text)
    else:
        yield PromptPart(FORM, text[:-length])
        yield PromptPart(TASK, text[-length:])


def _engine_headings(prompt: str, start: int) -> Iterator[tuple[int, str, int | None]]:
    """Where each part from the progress on begins, its kind and step; the instruction is last."""
    yield start, PROGRESS, None
    fence, section = "", PROGRESS
    for mark in _MARKS.finditer(prompt, start):
        ticks, after, heading = mark.groups()
        if fence:  # only a bare fence of this length ends it
            fence = "" if ticks == fence and not after else fence
        elif ticks:
            fence = ticks
        elif (kind := _kind_of(heading)) is not None:
            section = kind
            yield mark.start(), kind, None
            if kind == INSTRUCTION:
                return
        elif section == HISTORY and (step := _STEP_HEADING.match(heading)):
            yield mark.start(), STEP, int(step[1])


def _kind_of(heading: str) -> str | None:
    return next((kind for begin, kind in _HEADINGS if heading.startswith(begin)), None)


def _instruction(text: str, instruction: str) -> Iterator[PromptPart]:
    """The instruction of the edge, what a person added, and the last line."""
    rest, blank, last = text.rstrip("\n").rpartition("\n\n")
    end = text[len(rest) :]
    known = _INSTRUCTION_HEADING + instruction.strip()
    if not blank or not rest.startswith(known):
        yield PromptPart(INSTRUCTION, text)
        return
    del last
    yield PromptPart(INSTRUCTION, known)
    if rest != known:
        yield PromptPart(PERSON, rest[len(known) :])
    yield PromptPart(END, end)
