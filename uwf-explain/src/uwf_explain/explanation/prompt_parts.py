"""Split a recorded prompt into its parts, each with the origin of its text.

The parts of `prompt.assemble` are found by their headings. Everything untrusted before the
instruction is in fences or is the task, so a heading outside of them is the engine's. The slices
together are the prompt, byte for byte; a prompt of another form is one part.
"""

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

from uwf_core.markdown import fenced
from uwf_core.prompt.guidance import GUIDANCE_HEADING

_TASK_HEADING = "# Task\n\n"
_TASK_LEAD = "The task of the whole thread:\n\n"
_INPUT_HEADING = "# Input\n\n"
_PROGRESS_HEADING = "# Progress\n\n"
_INSTRUCTION_HEADING = "# Your instruction\n\n"
_CALLER = re.compile(
    r"Thread \w+ called this thread as a part of a larger run "
    r"\(`uwf thread read \w+` prints it\)\. The task of the whole run:\n\n(`+)[^\n]*\n"
)
_MARK = re.compile(r"\n(`{4,}|#{1,2} )")
_STEP_HEADING = re.compile(r"## Step (\d+): ")
_HEADINGS: Final = (
    ("# Progress", "progress"),
    ("# What happened ", "history"),
    ("# What you said last", "replaced"),
    ("# What a person said", "said"),
    ("# Your instruction", "instruction"),
)


class PromptPart(NamedTuple):
    """A slice of the prompt; one of kind `step` has the steps from `first` to `last`."""

    kind: str
    text: str
    first: int | None = None
    last: int | None = None


class _Heading(NamedTuple):
    """Where a part begins."""

    at: int
    kind: str
    first: int | None = None
    last: int | None = None


def split_prompt(prompt: str, task: str, instruction: str) -> list[PromptPart]:
    """The parts of a prompt.

    Args:
        prompt: as it was recorded.
        task: the task of the thread. instruction: the rendered prompt of the edge.
    """
    start = _end_of_opening(prompt, task)
    if start is None:
        return [PromptPart("whole", prompt)]
    parts = [*_opening(prompt[:start], task)]
    marks = _engine_headings(prompt, start)
    ends = [*(each.at for each in marks[1:]), len(prompt)]
    for mark, end in zip(marks, ends, strict=True):
        text = prompt[mark.at : end]
        if mark.kind == "instruction":
            parts += _instruction(text, instruction)
        else:
            parts.append(PromptPart(mark.kind, text, mark.first, mark.last))
    return parts


def instruction_parts(prompt: str, instruction: str) -> list[PromptPart]:
    """The parts of the prompt of a call: the instruction, and what a person added."""
    if not prompt.startswith(instruction):
        return [PromptPart("whole", prompt)]
    added = prompt[len(instruction) :]
    own = [PromptPart("instruction", instruction)]
    return [*own, PromptPart("person", added)] if added else own


def _end_of_opening(prompt: str, task: str) -> int | None:
    """Where the input or the part about the progress begins; None if there is none."""
    opening = f"\n\n{_task_part(task)}"
    if prompt.startswith("You continue this session as the "):
        opening = "\n\n"
    at = prompt.find(opening)
    while at >= 0:
        end = _end_of_caller(prompt, at + len(opening))
        if prompt.startswith((_INPUT_HEADING, _PROGRESS_HEADING), end):
            return end
        at = prompt.find(opening, at + 1)
    return None


def _end_of_caller(prompt: str, at: int) -> int:
    """The end of the part about the calling run, which begins at `at` if there is one."""
    caller = _CALLER.match(prompt, at)
    if caller is None:
        return at
    return _end_of_fence(prompt, caller[1], caller.end()) + len("\n\n")


def _task_part(task: str) -> str:
    return f"{_TASK_HEADING}{_TASK_LEAD}{fenced(task)}\n\n"


def _opening(text: str, task: str) -> Iterator[PromptPart]:
    if text.startswith("You continue this session as the "):
        yield from _with_guidance("reminder", text)
        return
    part = _task_part(task)
    begin = next(
        at for at in _places(text, part) if _end_of_caller(text, at + len(part)) == len(text)
    )
    yield from _with_guidance("form", text[:begin])
    yield PromptPart("task", part)
    if text[begin + len(part) :]:
        yield PromptPart("caller", text[begin + len(part) :])


def _with_guidance(kind: str, text: str) -> Iterator[PromptPart]:
    """A part with the skills, memory and rules after it, if there are any."""
    first, blank, rest = text.partition(f"\n\n{GUIDANCE_HEADING}\n")
    yield PromptPart(kind, first + "\n\n" * bool(blank))
    if blank:
        yield PromptPart("guidance", blank.removeprefix("\n\n") + rest)


def _places(text: str, part: str) -> Iterator[int]:
    at = text.find(part)
    while at >= 0:
        yield at
        at = text.find(part, at + 1)


def _engine_headings(prompt: str, start: int) -> list[_Heading]:
    """Where each part from the progress on begins; the instruction is last."""
    section = "input" if prompt.startswith(_INPUT_HEADING, start) else "progress"
    found, at = [_Heading(start, section)], start
    while (mark := _MARK.search(prompt, at)) is not None:
        if mark[1].startswith("`"):
            at = _end_of_fence(prompt, mark[1], mark.end())
            continue
        begin, at = mark.start(1), mark.end()
        heading = prompt[begin : prompt.find("\n", begin)]
        if (step := _STEP_HEADING.match(heading)) and section in ("history", "step"):
            number = int(step[1])
            first = found.pop() if section == "step" else _Heading(begin, "step", number)
            found.append(first._replace(last=number))
            section = "step"
        elif (kind := _kind_of(heading)) is not None:
            section = kind
            found.append(_Heading(begin, kind))
            if kind == "instruction":
                break
    return found


def _end_of_fence(prompt: str, ticks: str, at: int) -> int:
    """The end of the line that closes a fence: one with these ticks alone."""
    found = prompt.find(f"\n{ticks}\n", at)
    return len(prompt) if found < 0 else found + 1 + len(ticks)


def _kind_of(heading: str) -> str | None:
    return next((kind for begin, kind in _HEADINGS if heading.startswith(begin)), None)


def _instruction(text: str, instruction: str) -> Iterator[PromptPart]:
    """The instruction of the edge, what a person added, and the last line."""
    rest, blank, last = text.rstrip("\n").rpartition("\n\n")
    end = text[len(rest) :]
    known = _INSTRUCTION_HEADING + instruction.strip()
    if not blank or not rest.startswith(known):
        yield PromptPart("instruction", text)
        return
    del last
    yield PromptPart("instruction", known)
    if rest != known:
        yield PromptPart("person", rest[len(known) :])
    yield PromptPart("end", end)
