"""A thread, a step or a prompt as Markdown. Reads no further back than it shows."""

from typing import TYPE_CHECKING

from uwf_core.engine.find import find_step, find_thread
from uwf_core.errors import UnknownIdError, WrongStateError
from uwf_core.ids import Ref
from uwf_core.prompt.markdown import fenced, said_markdown, step_markdown
from uwf_core.thread.head import Head, read_head
from uwf_core.thread.history import (
    Step,
    body_of,
    failure_of,
    is_answer,
    is_step,
    newest_first,
    read_start,
    sayings,
)
from uwf_core.thread.history import read_step as read_step_node
from uwf_core.thread.lifecycle import effective, state_words
from uwf_core.thread.lock import holder_of
from uwf_core.views.turns import turns_of_step

if TYPE_CHECKING:
    from uwf_core.engine.documents import TurnDocument
    from uwf_core.engine.engine import Engine

QUOTA = 32_000
"""The default number of characters to show."""


def read_thread(engine: "Engine", word: str, quota: int = QUOTA, before: str | None = None) -> str:
    """The thread as Markdown: the task and the newest steps within `quota` characters.

    Prints at least one step, and the command that shows those that are left out.

    Args:
        engine: the engine.
        word: the thread.
        quota: characters.
        before: a step; only steps before it are shown.

    Raises:
        UnknownIdError: unknown thread or step.
    """
    head = read_head(engine.store, find_thread(engine, word))
    top = head.ref if before is None else _before(engine, head, before)
    texts, oldest = list[str](), None
    size, left_out = 0, 0
    for step in newest_first(engine.store, top, Ref(head.state.start), ("output", "body")):
        text = _step_text(engine, step)
        if texts and size + len(text) > quota:
            left_out = step.payload["number"]
            break
        size += len(text) + 2
        texts.append(text)
        oldest = step
    parts = [_title(engine, head), *_left_out(head, left_out, oldest), *reversed(texts)]
    if not texts:
        parts.append("(no step yet)")
    if before is None:
        parts.append(_status(engine, head))
    return "\n\n".join(parts) + "\n"


def read_step(engine: "Engine", word: str, quota: int = QUOTA) -> str:
    """The turns of a step as Markdown: the newest within `quota` characters, at least one.

    Raises:
        UnknownIdError: unknown step. WrongStateError: it is the start of a thread.
    """
    step = _step(engine, word)
    turns = turns_of_step(engine, step)
    texts, size = list[str](), 0
    for turn in reversed(turns):
        text = _turn_text(turn)
        if texts and size + len(text) > quota:
            break
        size += len(text) + 2
        texts.append(text)
    left_out = len(turns) - len(texts)
    note = f"({left_out} earlier turns are left out: `uwf step read {step.ref} --quota N`)"
    parts = [_step_text(engine, step), *([note] if left_out else []), *reversed(texts)]
    if not turns:
        parts.append("(the agent reported no turns)")
    return "\n\n".join(parts) + "\n"


def read_prompt(engine: "Engine", word: str) -> str:
    """The exact prompt that the agent got.

    Raises:
        UnknownIdError: unknown step. WrongStateError: it is the start of a thread.
    """
    return engine.store.text(Ref(_step(engine, word).payload["prompt"]))


def _step(engine: "Engine", word: str) -> Step:
    ref = find_step(engine, word)
    if not is_step(engine.store.get(ref).payload):
        raise WrongStateError(
            f"{ref} is the start of a thread, not a step",
            hint="next: uwf step list THREAD",
        )
    return read_step_node(engine.store, ref)


def _before(engine: "Engine", head: Head, word: str) -> Ref:
    """The step before the named one, which must belong to this thread."""
    wanted = find_step(engine, word)
    for step in newest_first(engine.store, head.ref, Ref(head.state.start)):
        if step.ref == wanted:
            return Ref(step.payload["prev"] or head.state.start)
    raise UnknownIdError(
        f"{wanted} is not a step of thread {head.thread}",
        hint=f"next: uwf step list {head.thread}",
    )


def _title(engine: "Engine", head: Head) -> str:
    start = read_start(engine.store, Ref(head.state.start))
    task = fenced(engine.store.text(Ref(start["prompt"])))
    return (
        f"# {head.state.workflow_name}: thread {head.thread}\n\n"
        f"Workflow {head.state.workflow}, in {start['cwd']}\n\n## Task\n\n{task}"
    )


def _left_out(head: Head, count: int, oldest: Step | None) -> list[str]:
    if not count or oldest is None:
        return []
    steps = "1 earlier step is" if count == 1 else f"{count} earlier steps are"
    return [f"({steps} left out: `uwf thread read {head.thread} --before {oldest.ref}`)"]


def _status(engine: "Engine", head: Head) -> str:
    is_running = holder_of(engine.store, head.thread) is not None
    state = effective(head.state, is_running=is_running, is_sound=head.damage is None)
    line = f"Status: {state_words(state)}"
    if state.current_role is not None:
        line += f"; next: {state.current_role}"
    if state.suspension is not None:
        line += f"\n\n{fenced(state.suspension.message)}"
    return line


def _step_text(engine: "Engine", step: Step) -> str:
    payload = step.payload
    took = f"{(payload['completedAtMs'] - payload['startedAtMs']) / 1000:.1f} s"
    if is_answer(payload["answer"], payload["usage"]):
        took = "answered by a person"
    agent = engine.alias_of(payload["agent"]) or payload["agent"]
    facts = f"{step.ref} · {agent} · {took}"
    failure = failure_of(engine.store, step)
    said = sayings(engine.store, step)
    if failure is not None:
        heading = f"## Step {payload['number']}: {payload['role']}, failed ({failure['kind']})"
        return "\n\n".join((heading, facts, *said_markdown(said), fenced(failure["message"])))
    output = engine.store.payload(payload["output"])
    body = body_of(engine.store, step)
    text = step_markdown(payload["number"], payload["role"], output, body, said)
    heading, _, rest = text.partition("\n")
    return f"{heading}\n\n{facts}\n{rest}"


def _turn_text(turn: "TurnDocument") -> str:
    parts = [f"### Turn {turn['index']}: {turn['speaker']}"]
    if turn["reasoning"]:
        parts.append(f"Reasoning:\n\n{fenced(turn['reasoning'])}")
    if turn["text"]:
        parts.append(fenced(turn["text"]))
    for call in turn["toolCalls"]:
        word = "failed" if call["isError"] else "called"
        parts.append(f"Tool {call['name']} {word}:\n\n{fenced(call['arguments'])}")
        if call["result"] is not None:
            parts.append(f"Result:\n\n{fenced(call['result'])}")
    return "\n\n".join(parts)
