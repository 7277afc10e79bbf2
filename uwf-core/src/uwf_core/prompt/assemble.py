"""Route and history -> the prompt of an agent.

The parts that stay the same for every visit come first, so that a provider can cache them:
deliverable and role, task, progress, earlier steps, instruction. For one role of one
thread the first two are the same bytes at every visit.
"""

from collections.abc import Iterator, Sequence

from uwf_core.api.agent import PromptParts
from uwf_core.prompt.deliverable import deliverable
from uwf_core.prompt.markdown import fenced
from uwf_core.workflow.definition import Role

HISTORY_CHARACTERS = 32_000
"""The maximum size of the earlier steps (the newest one is always shown)."""

_REPLACED = """\
# What you said last

Your next reply replaces this one:"""


def prompt_parts(
    role: Role,
    *,
    task: str,
    step_number: int,
    visits: int,
    steps: Sequence[str],
    own_session: bool,
    interrupted: bool,
    instruction: str,
    earlier: int = 0,
    replaced: str | None = None,
) -> PromptParts:
    """The parts of the prompt for one turn of a role. The same input gives the same bytes.

    Args:
        role: the role that runs next; its schema defines the deliverable.
        task: the prompt of the thread.
        step_number: the number of the next step, from 1.
        visits: how many steps this role has delivered in this thread.
        steps: the earlier steps that the agent does not know, by `step_markdown`, oldest first.
        own_session: whether the agent continues the session of this role, which knows the others.
        interrupted: whether the last turn of this role was interrupted before it delivered.
        instruction: the moderator's instruction (edge prompt, and a person's text if any).
        earlier: how many steps before `steps` were not read.
        replaced: the step that this one replaces, if the session does not know it.

    Raises:
        DefinitionError: the role's schema has no clear variants (impossible in a checked workflow).
    """
    return PromptParts(
        instructions=f"{deliverable(role.schema)}\n\n{_role(role)}",
        task=_task(task),
        progress="# Progress\n\n"
        + " ".join(_progress_sentences(role.name, step_number, visits, own_session, interrupted)),
        history=_history(steps, own_session, earlier, replaced),
        instruction=instruction.strip(),
    )


def prompt_text(parts: PromptParts) -> str:
    """The whole prompt."""
    instruction = f"# Your instruction\n\n{parts.instruction}"
    present = (parts.instructions, parts.task, parts.progress, parts.history, instruction)
    return "\n\n".join(part for part in present if part) + "\n"


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


def _progress_sentences(
    name: str, step_number: int, visits: int, own_session: bool, interrupted: bool
) -> Iterator[str]:
    yield f"This is step {step_number} of the thread."
    if visits == 0:
        yield f"You, the {name}, have not replied yet."
    else:
        times = "once" if visits == 1 else f"{visits} times"
        yield f"You, the {name}, have replied {times} before" + (
            ", in this session."
            if own_session
            else ". This is a new session: your earlier replies are below."
        )
    if interrupted:
        yield (
            "Your last turn was interrupted before you delivered: its changes may be half "
            "done, so check the current state before you continue."
        )


def _history(steps: Sequence[str], own_session: bool, earlier: int, replaced: str | None) -> str:
    end = [] if replaced is None else [_REPLACED, replaced]
    if not steps:
        return "\n\n".join(end)
    first = newest_within(steps, HISTORY_CHARACTERS)
    title = "# What happened since your last reply" if own_session else "# What happened before"
    note = [_left_out(first + earlier)] if first + earlier else []
    return "\n\n".join((title, *note, *steps[first:], *end))


def _left_out(count: int) -> str:
    return f"({count} earlier {'step is' if count == 1 else 'steps are'} left out for length.)"
