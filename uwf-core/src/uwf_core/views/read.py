"""A thread, a step or a prompt as Markdown. Reads no further back than it shows."""

from typing import TYPE_CHECKING

from uwf_core.markdown import fenced
from uwf_core.prompt.step_text import input_text, said_markdown, step_markdown
from uwf_core.thread.decisions import call_of
from uwf_core.thread.lifecycle import state_words
from uwf_core.workflow.definition import PROGRAM
from uwf_core.workflow.variants import BODY
from uwf_core.yaml.text import frontmatter

if TYPE_CHECKING:
    from uwf_core.views.recorded import RecordedThread
    from uwf_core.views.recorded_step import RecordedCall, RecordedStep, RecordedTurn

QUOTA = 32_000
"""The default number of characters to show."""


def read_thread(thread: "RecordedThread", quota: int = QUOTA, before: str | None = None) -> str:
    """The thread as Markdown: the task and the newest steps within `quota` characters.

    Prints at least one step, and the command that shows those that are left out.

    Args:
        thread: the thread.
        quota: characters.
        before: a step; only steps before it are shown.

    Raises:
        UnknownIdError: `before` is not a step of the thread.
    """
    texts, oldest = list[str](), ""
    size, left_out = 0, 0
    summaries = thread.summary_texts
    for step in thread.newest_first("output", "body", before=before):
        text = "\n\n".join(filter(None, (_step_text(step), summaries.get(step.ref))))
        if texts and size + len(text) > quota:
            left_out = step.number
            break
        size += len(text) + 2
        texts.append(text)
        oldest = step.ref
    parts = [_title(thread), *_left_out(thread, left_out, oldest), *reversed(texts)]
    if not texts:
        parts.append("(no step yet)")
    if before is None:
        parts.append(_status(thread))
    return "\n\n".join(parts) + "\n"


def thread_document(
    thread: "RecordedThread", quota: int = QUOTA, before: str | None = None
) -> dict[str, str]:
    """`thread read`: the text of `read_thread`."""
    return {"thread": thread.id, "text": read_thread(thread, quota, before)}


def step_document(
    step: "RecordedStep", quota: int = QUOTA, *, prompt: bool = False
) -> dict[str, str]:
    """`step read`: the text of `read_step`, or the exact prompt."""
    return {"step": step.ref, "text": step.prompt if prompt else read_step(step, quota)}


def read_step(step: "RecordedStep", quota: int = QUOTA) -> str:
    """The turns of a step as Markdown: the newest within `quota` characters, at least one."""
    turns = step.turns
    texts, size = list[str](), 0
    for turn in reversed(turns):
        text = _turn_text(turn)
        if texts and size + len(text) > quota:
            break
        size += len(text) + 2
        texts.append(text)
    left_out = len(turns) - len(texts)
    note = f"({left_out} earlier turns are left out: `uwf step read {step.ref} --quota N`)"
    parts = [_step_text(step), *([note] if left_out else []), *reversed(texts)]
    if step.child is not None:
        parts.append(f"(a call: `uwf thread read {step.child}` prints the steps of its thread)")
    elif not turns and not step.calls:
        parts.append("(the agent reported no turns)")
    return "\n\n".join(parts) + "\n"


def _title(thread: "RecordedThread") -> str:
    state, given = thread.state, thread.input
    text = "" if given is None else f"\n\n## Input\n\n{fenced(input_text(given))}"
    return (
        f"# {state.workflow_name}: thread {thread.id}\n\n"
        f"Workflow {state.workflow}, in {thread.node['cwd']}\n\n## Task\n\n{fenced(thread.task)}"
        f"{text}"
    )


def _left_out(thread: "RecordedThread", count: int, oldest: str) -> list[str]:
    if not count:
        return []
    steps = "1 earlier step is" if count == 1 else f"{count} earlier steps are"
    return [f"({steps} left out: `uwf thread read {thread.id} --before {oldest}`)"]


def _status(thread: "RecordedThread") -> str:
    state = thread.state
    line = f"Status: {state_words(state)}"
    if state.current_role is not None:
        line += f"; next: {state.current_role}"
    for call in thread.open_calls:
        line += f"\n\n{_open_call(call)}; next: `uwf thread read {call.thread}`"
    if state.suspension is not None:
        line += f"\n\n{fenced(state.suspension.message)}"
    return line


def _open_call(call: "RecordedCall") -> str:
    key = "" if call.key is None else f" {call.key}"
    return f"Open:{key} {call.role}, thread {call.thread}, {call.state or 'unreadable'}"


def _step_text(step: "RecordedStep") -> str:
    took = "answered by a person" if step.is_answer else f"{step.duration_ms / 1000:.1f} s"
    facts = f"{step.ref} · {step.alias or step.node['agent'] or 'uwf'} · {took}"
    if step.child is not None:
        facts += f"\n\nThread {step.child}; next: `uwf thread read {step.child}`"
    if count := len(step.files):
        files = "1 delivered file" if count == 1 else f"{count} delivered files"
        facts += f"\n\n{files}; next: `uwf step files {step.ref}`"
    if call_of(step.node)["branches"] is not None:
        return _branches_text(step, facts)
    failure, said = step.failure, step.sayings
    if failure is not None:
        heading = f"## Step {step.number}: {step.role}, failed ({failure['kind']})"
        return "\n\n".join((heading, facts, *said_markdown(said), fenced(failure["message"])))
    text = step_markdown(step.number, step.role, step.output, step.body, said)
    heading, _, rest = text.partition("\n")
    if step.node["agent"] == PROGRAM:
        facts += f"\n\n{fenced(step.prompt)}\n"
    return f"{heading}\n\n{facts}\n{rest}"


def _branches_text(step: "RecordedStep", facts: str) -> str:
    """The step of a fan-out: the result of each branch, with its thread."""
    from uwf_core.workflow.variants import INDEX  # not for every thread

    parts = [f"## Step {step.number}: {step.role}, {_line(step.status)}", facts]
    parts += said_markdown(step.sayings)
    for call, result in zip(step.calls, step.output["results"], strict=True):
        shown = {name: value for name, value in result.items() if name not in (BODY, INDEX)}
        parts += [
            f"### {call.key}: {call.role}, {_line(call.status)}",
            f"Thread {call.thread}; next: `uwf thread read {call.thread}`",
            fenced(frontmatter(shown, result[BODY])),
        ]
    return "\n\n".join(parts)


def _line(status: str | None) -> str:
    return " ".join((status or "").split())


def _turn_text(turn: "RecordedTurn") -> str:
    parts = [f"### Turn {turn.index}: {turn.speaker}"]
    if turn.reasoning:
        parts.append(f"Reasoning:\n\n{fenced(turn.reasoning)}")
    if turn.text:
        parts.append(fenced(turn.text))
    for call in turn.tool_calls:
        word = "failed" if call["isError"] else "called"
        parts.append(f"Tool {call['name']} {word}:\n\n{fenced(call['arguments'])}")
        if call["result"] is not None:
            parts.append(f"Result:\n\n{fenced(call['result'])}")
    return "\n\n".join(parts)
