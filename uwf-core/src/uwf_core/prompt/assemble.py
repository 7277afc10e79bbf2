"""Route and history -> the prompt of an agent.

The parts that stay the same for every visit come first, so that a provider can cache them:
deliverable and role, task, progress, earlier steps, instruction. For one role of one
thread the first two are the same bytes at every visit.
"""

from collections.abc import Iterator, Sequence

from uwf_core.api.agent import PromptParts
from uwf_core.named_tuple import NamedTuple
from uwf_core.prompt.deliverable import deliverable
from uwf_core.prompt.quote import fenced
from uwf_core.prompt.record import StepRecord, newest_within, step_markdown
from uwf_core.workflow.definition import Role

HISTORY_CHARACTERS = 32_000
"""The maximum size of the earlier steps (the newest one is always shown)."""

_REPLACED = """\
# What you said last

Your next reply replaces this one:"""


class PromptInput(NamedTuple):
    """The input of a prompt.

    Attributes:
        role: the role that runs next; its schema defines the deliverable.
        task: the prompt of the thread.
        step_number: the number of the next step, from 1.
        visits: how many steps this role has delivered in this thread.
        steps: the earlier steps that the agent does not know, oldest first.
        own_session: whether the agent continues the session of this role, which knows the others.
        interrupted: whether the last turn of this role was interrupted before it delivered.
        instruction: the moderator's instruction (edge prompt, and a person's text if any).
        earlier: how many steps before `steps` were not read.
        replaced: the step that this one replaces, if the session does not know it.
    """

    role: Role
    task: str
    step_number: int
    visits: int
    steps: Sequence[StepRecord]
    own_session: bool
    interrupted: bool
    instruction: str
    earlier: int = 0
    replaced: StepRecord | None = None


class Assembled(NamedTuple):
    """The prompt: its parts, and all of it as one text."""

    parts: PromptParts
    text: str


def assemble(source: PromptInput) -> Assembled:
    """The prompt for one turn of a role. The same input gives the same bytes.

    Raises:
        DefinitionError: the role's schema has no clear variants (impossible in a checked workflow).
    """
    parts = PromptParts(
        instructions=f"{deliverable(source.role.schema)}\n\n{_role(source.role)}",
        task=_task(source.task),
        progress=_progress(source),
        history=_history(source),
        instruction=source.instruction.strip(),
    )
    instruction = f"# Your instruction\n\n{parts.instruction}"
    present = (parts.instructions, parts.task, parts.progress, parts.history, instruction)
    return Assembled(parts, "\n\n".join(part for part in present if part) + "\n")


def _role(role: Role) -> str:
    sections = {
        "Goal": role.goal,
        "Capabilities": "\n".join(f"- {each}" for each in role.capabilities),
        "Procedure": role.procedure,
        "Output": role.output,
    }
    texts = (f"## {name}\n\n{text.strip()}" for name, text in sections.items() if text.strip())
    return "\n\n".join((f"# Your role: {role.name}", *texts))


def _task(task: str) -> str:
    if not task.strip():
        return "# Task\n\nThe thread was started without a task text."
    return f"# Task\n\nThe task of the whole thread:\n\n{fenced(task)}"


def _progress(source: PromptInput) -> str:
    return "# Progress\n\n" + " ".join(_progress_sentences(source))


def _progress_sentences(source: PromptInput) -> Iterator[str]:
    name = source.role.name
    yield f"This is step {source.step_number} of the thread."
    if source.visits == 0:
        yield f"You, the {name}, have not replied yet."
    else:
        times = "once" if source.visits == 1 else f"{source.visits} times"
        yield f"You, the {name}, have replied {times} before" + (
            ", in this session."
            if source.own_session
            else ". This is a new session: your earlier replies are below."
        )
    if source.interrupted:
        yield (
            "Your last turn was interrupted before you delivered: its changes may be half "
            "done, so check the current state before you continue."
        )


def _history(source: PromptInput) -> str:
    replaced = [] if source.replaced is None else [_REPLACED, step_markdown(source.replaced)]
    if not source.steps:
        return "\n\n".join(replaced)
    texts = [step_markdown(step) for step in source.steps]
    first = newest_within(texts, HISTORY_CHARACTERS)
    title = (
        "# What happened since your last reply" if source.own_session else "# What happened before"
    )
    left_out = first + source.earlier
    note = [_left_out(left_out)] if left_out else []
    return "\n\n".join((title, *note, *texts[first:], *replaced))


def _left_out(count: int) -> str:
    return f"({count} earlier {'step is' if count == 1 else 'steps are'} left out for length.)"
