"""Route and history -> the prompt of an agent.

The parts that stay the same for every visit come first, so that a provider can cache them:
deliverable and role, skills and memory, task, progress, earlier steps, instruction, form. For one
role of one thread the first and the task are the same bytes in every new session; in its own
session, which knows them, one line replaces both.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from uwf_core.api.agent import PromptParts
from uwf_core.errors import FailureKind
from uwf_core.markdown import fenced
from uwf_core.prompt.step_text import input_text, said_markdown

if TYPE_CHECKING:
    from uwf_core.thread.history import Guidance, Saying
    from uwf_core.workflow.definition import Role

HISTORY_CHARACTERS = 32_000
"""The maximum size of the earlier steps (the newest one is always shown)."""

_REPLACED = """\
# What you said last

Your next reply replaces this one:"""

_SCOPE = """\
Deliver only the output of this role; other roles do the rest. They see your reply and the files \
in the working folder, and nothing else that you write, think or do."""

_OR_SUMMARY = ", or a summary of them,"

_NOT_BEGUN = frozenset(("unavailable", "auth", "bad_request", "session_lost", "routing"))
"""Kinds of failures after which nothing of the work can be half done."""


class Situation(NamedTuple):
    """What a prompt depends on, besides the role.

    Attributes:
        thread: the id of the thread. task: its prompt. input: its typed input, if there is one.
        call: the calling thread and the task of the root.
        form: how the role has to reply. last_line: the same in one line.
        cwd: the working folder of the step.
        instruction: the moderator's instruction (edge prompt, and a person's text if any).
        step_number: the number of the next step, from 1.
        visits: how many steps this role has delivered in this thread.
        steps: the earlier steps that the agent does not know, oldest first: the text of each, by
            `step_markdown`, at its reference.
        earlier: how many steps before `steps` were not read.
        summary: the text that replaces the steps up to a number: that number, and the text. Then
            `steps` and `earlier` are those after it.
        own_session: whether the agent continues a session of this role that knows the others.
        called_again: whether that session does not know `input`.
        replaced: the step that this one replaces, if the session does not know it.
        said: what a person said at earlier attempts at this step, unless `instruction` repeats it.
        last_failure: the kind of the failure of the last attempt at this step.
        guidance: the skills, memory and rules of the role. known_guidance: those of its last step.
    """

    thread: str
    task: str
    form: str
    last_line: str
    cwd: str
    instruction: str
    input: Mapping[str, Any] | None = None
    step_number: int = 1
    visits: int = 0
    steps: Mapping[str, str] = {}
    earlier: int = 0
    summary: tuple[int, str] | None = None
    own_session: bool = False
    called_again: bool = False
    replaced: str | None = None
    said: "Sequence[Saying]" = ()
    last_failure: str | None = None
    call: tuple[str, str] | None = None
    guidance: "Sequence[Guidance]" = ()
    known_guidance: "Sequence[Guidance]" = ()


def prompt_parts(role: "Role", now: Situation) -> PromptParts:
    """The parts of the prompt for one turn of a role. The same input gives the same bytes."""
    progress = "# Progress\n\n" + " ".join(_progress_sentences(role.name, now))
    if now.called_again and now.own_session and now.input is not None:
        lead = "The thread was called again, with this input:"
        progress = f"{_input(now.input, lead)}\n\n{progress}"
    return PromptParts(
        instructions=f"{now.form}\n\n{_role(role)}",
        guidance=_guidance(now) if now.guidance or now.known_guidance else "",
        task=_task(now) if now.input is None else _task_and_input(now, now.input),
        progress=progress,
        history="\n\n".join(_history(now)),
        instruction=now.instruction.strip(),
        form=now.last_line,
    )


def prompt_text(parts: PromptParts, knows: str | None = None) -> str:
    """The whole prompt; `knows` names the role whose own session gets it and knows the first two
    parts, so that one line replaces them.
    """
    first = (parts.instructions, parts.guidance, parts.task)
    if knows is not None:
        first = (_reminder(knows), parts.guidance, "")
    instruction = f"# Your instruction\n\n{parts.instruction}"
    parts_in_order = (*first, parts.progress, parts.history, instruction, parts.form)
    return "\n\n".join(part for part in parts_in_order if part) + "\n"


def newest_within(texts: Sequence[str], limit: int) -> int:
    """The index from which `texts` fit into `limit` characters, blank lines included.

    The last one always fits, whatever its length.
    """
    index = len(texts)
    total = 0
    while index > 0:
        total += len(texts[index - 1]) + (2 if index < len(texts) else 0)
        if total > limit and index < len(texts):
            break
        index -= 1
    return index


def _reminder(role: str) -> str:
    return (
        f"You continue this session as the {role}: your role, the form of your reply and the "
        "task are those of its beginning."
    )


def _role(role: "Role") -> str:
    sections = {
        "Goal": role.goal,
        "Capabilities": "\n".join(f"- {each}" for each in role.capabilities),
        "Procedure": role.procedure,
        "Output": role.output,
    }
    texts = (f"## {name}\n\n{text.strip()}" for name, text in sections.items() if text.strip())
    return "\n\n".join((f"# Your role: {role.name}", _SCOPE, *texts))


def _guidance(now: Situation) -> str:
    from uwf_core.prompt.guidance import guidance_text  # not for every workflow

    return guidance_text(now.guidance, now.known_guidance if now.own_session else None)


def _task(now: Situation) -> str:
    task = f"# Task\n\nThe task of the whole thread:\n\n{fenced(now.task)}"
    if not now.task.strip():
        task = "# Task\n\nThe thread was started without a task text."
    if now.call is None:
        return task
    thread, root = now.call
    return (
        f"{task}\n\nThread {thread} called this thread as a part of a larger run "
        f"(`uwf thread read {thread}` prints it). The task of the whole run:\n\n{fenced(root)}"
    )


def _task_and_input(now: Situation, given: Mapping[str, Any]) -> str:
    return f"{_task(now)}\n\n{_input(given, 'The typed input of the thread:')}"


def _input(given: Mapping[str, Any], lead: str) -> str:
    return f"# Input\n\n{lead}\n\n{fenced(input_text(given))}"


def _progress_sentences(name: str, now: Situation) -> Iterator[str]:
    yield f"This is step {now.step_number} of the thread."
    if now.visits == 0:
        yield f"You, the {name}, have not replied yet."
    else:
        times = "once" if now.visits == 1 else f"{now.visits} times"
        yield f"You, the {name}, have replied {times} before" + (
            ", in this session."
            if now.own_session
            else f". This is a new session: your earlier replies{_OR_SUMMARY * bool(now.summary)} "
            "are below."
        )
    yield f"Your working folder is {json.dumps(now.cwd, ensure_ascii=False)}."
    if now.last_failure is not None and now.last_failure not in _NOT_BEGUN:
        meaning = FailureKind.of(now.last_failure).meaning
        yield (
            f"Your last attempt at this step ended before you delivered ({now.last_failure}: "
            f"{meaning}). Its changes may be half done, so check the current state before you "
            "continue."
        )


def _history(now: Situation) -> Iterator[str]:
    refs, texts = list(now.steps), list(now.steps.values())
    first = newest_within(texts, HISTORY_CHARACTERS)
    if texts or now.summary is not None:
        yield "# What happened " + ("since your last reply" if now.own_session else "before")
    if now.summary is not None:
        yield from _summary(*now.summary, now.thread, next(iter(refs[first:]), None))
    if first + now.earlier:
        yield _left_out(first + now.earlier, now.thread, refs[first])
    yield from texts[first:]
    if now.replaced is not None:
        yield from (_REPLACED, now.replaced)
    if now.said:
        yield from ("# What a person said at an earlier attempt", *said_markdown(now.said))


def _summary(number: int, text: str, thread: str, next_step: str | None) -> Iterator[str]:
    """A summary in place of the steps up to `number`, and the command that prints these."""
    steps, them = ("step 1", "it") if number == 1 else (f"steps 1 to {number}", "them")
    command = f"uwf thread read {thread}" + (f" --before {next_step}" if next_step else "")
    yield f"## Summary of {steps}"
    yield f"This text replaces {steps}; `{command}` prints {them} in full."
    yield fenced(text)


def _left_out(count: int, thread: str, oldest: str) -> str:
    steps = "1 earlier step is" if count == 1 else f"{count} earlier steps are"
    return f"({steps} left out for length: `uwf thread read {thread} --before {oldest}`)"
