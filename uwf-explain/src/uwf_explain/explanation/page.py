"""A recorded thread -> the page that explains it. Pure: only stored nodes are read."""

from collections.abc import Iterator, Sequence

from uwf_core.api import RecordedEvent, RecordedStep, RecordedThread
from uwf_core.errors import UnknownIdError
from uwf_core.prompt.command import command_text
from uwf_explain.explanation.branches import is_fan_out, open_statements
from uwf_explain.explanation.calls import attempts_and_events
from uwf_explain.explanation.events import event_statement
from uwf_explain.explanation.guidance import texts_of
from uwf_explain.explanation.sections import Sections
from uwf_explain.explanation.statements import Statement, WhyPage, WhySection
from uwf_explain.explanation.steps import step_section
from uwf_explain.explanation.summary import Summary
from uwf_explain.explanation.surroundings import Surroundings
from uwf_explain.explanation.words import quoted

_FIELDS = ("output", "body", "prompt", "edgePrompt", "said", "answer")


def why_page(thread: RecordedThread, step: str | None = None) -> WhyPage:
    """The page of a thread.

    Args:
        thread: the thread.
        step: the reference of a step, failed attempt or replaced step: only its section is made.

    Raises:
        UnknownIdError: the thread has no such step.
    """
    events = thread.events()
    summary, sections = Summary(thread), Sections()
    for section in _step_sections(thread, events, step, summary):
        summary.note(section)
        sections.append(section)
    if step is not None and not sections:
        raise UnknownIdError(
            f"{step} is not a step of thread {thread.id}",
            hint=f"next: uwf step list {thread.id}",
        )
    if step is None:
        end = _ending(thread, events)
        summary.note(end)
        sections.append(end)
        sections.insert(0, summary.section(end.statements[-1], events))
        sections.insert(1, _opening(thread, events))
    root = thread.root
    sections.append(_proof(thread, root))
    title = f"Why run {thread.id} of {thread.workflow.name} went as it did"
    return WhyPage(thread.id, thread.head, root, title, sections)


def _opening(thread: RecordedThread, events: Sequence[RecordedEvent]) -> WhySection:
    workflow, started = thread.workflow, events[0]
    statements = []
    if started.payload["head"] != thread.start:
        text = "It is a fork: it shares its first steps with another run, up to this step."
        statements.append(Statement("fork", text, (started.payload["head"], started.ref)))
    statements += [event_statement(each) for each in events[1:] if each.kind == "called"][:1]
    text = "The task was:"
    statements.append(Statement("task", text, (thread.node["prompt"],), thread.task))
    if workflow.description.strip():
        text = "The workflow says about itself:"
        statements.append(Statement("workflow", text, (workflow.ref,), workflow.description))
    for role in workflow.roles.values():
        text, quote = f"The goal of the role {quoted(role.name)}:", role.goal
        if role.workflow is not None:
            text = f"The role {quoted(role.name)} is played by another run, of this workflow:"
            quote = role.workflow
        elif is_fan_out(role.name):
            continue  # its step names the branches
        elif role.command is not None:
            text = f"The role {quoted(role.name)} is played by a program, with this command:"
            quote = command_text(role.command)
        statements.append(Statement("role", text, (workflow.ref,), quote))
    return WhySection("The task", tuple(statements))


def _step_sections(
    thread: RecordedThread, events: Sequence[RecordedEvent], wanted: str | None, summary: Summary
) -> Iterator[WhySection]:
    task, waiting = thread.task, list(events[1:])
    earlier = list[str]()
    previous: RecordedStep | None = None
    shown, guided = dict[str, int](), dict[str, tuple[int, dict[str, str]]]()
    for step in thread.steps(*_FIELDS):
        around = Surroundings(
            thread.id,
            task,
            thread.node["prompt"],
            thread.node["cwd"],
            earlier,
            previous,
            previous is not None and previous.node["next"]["status"] == "completed",
            _taken(waiting, thread, step),
            shown,
            guided,
        )
        if wanted is None or wanted in _nodes(step):
            yield step_section(step, around)
        if step.node["attempt"]["skills"] or step.node["toolList"]:
            guided[step.role] = step.number, texts_of(step)
        summary.add(step)
        earlier.append(step.ref)
        previous = step


def _taken(
    waiting: list[RecordedEvent], thread: RecordedThread, step: RecordedStep
) -> list[RecordedEvent]:
    """Take the events before a step; a step that the thread inherited has none."""
    taken = []
    if step.node["thread"] == thread.id:
        while waiting and waiting[0].payload["seq"] < step.node["seq"]:
            taken.append(waiting.pop(0))
    return taken


def _nodes(step: RecordedStep) -> set[str]:
    """A step, its failed attempts, and the same of the steps that it replaced."""
    return {each.ref for each in step.tries()}


def _ending(thread: RecordedThread, events: Sequence[RecordedEvent]) -> WhySection:
    """What happened after the last step, and the state of the run."""
    last = -1
    for step in thread.newest_first():
        last = step.node["seq"] if step.node["thread"] == thread.id else -1
        break
    later = [each for each in events[1:] if each.payload["seq"] > last and each.kind != "called"]
    statements = list(attempts_and_events(list(thread.pending), later))
    statements += open_statements(thread)
    proof = next((each.refs[0] for each in reversed(statements)), thread.head)
    statements.append(Statement("status", _STATUS[thread.status], (proof,)))
    return WhySection("How it ended", tuple(statements))


_STATUS = {
    "idle": "The run has not ended: its next step can be run.",
    "running": "The run is at work now: this page shows what was stored until now.",
    "suspended": "The run waits: it continues when a person resumes it.",
    "completed": "The run has ended as its workflow provides.",
    "cancelled": "The run was cancelled and has ended.",
    "corrupt": "The run is damaged: not all of its records can be read.",
}


def _proof(thread: RecordedThread, root: str | None) -> WhySection:
    head = (thread.head,)
    text = (
        "The short codes in brackets are references. Each is computed from the content of a stored "
        "record. This command prints a record and verifies it at the same time. If somebody has "
        "changed the record, it no longer matches its reference, and you see an error instead:"
    )
    statements = [Statement("proof", text, head, command=f"uwf cas get {thread.head}")]
    if root is None:
        text = "The run is at work, so there is no proof of the whole of it yet."
        statements.append(Statement("proof", text, head))
    else:
        statements += _proof_of_all(thread, root)
    return WhySection("Proof", tuple(statements))


def _proof_of_all(thread: RecordedThread, root: str) -> Iterator[Statement]:
    head, file = (thread.head,), f"{thread.id}.tar"
    text = (
        f"All records of this run together have the fingerprint (root) {root}. Note this number "
        "elsewhere when the run has ended, for example in the ticket. If a later check shows "
        "another number, somebody has changed the records or continued the run. Trust only a "
        "number that was noted then: a person who can change the records can also change this page."
    )
    yield Statement("proof", text, head)
    text = (
        "The first command writes all records to one file. The second verifies that file on any "
        "computer that has uwf, and prints the fingerprint, or an error if a record was changed:"
    )
    command = f"uwf thread export {thread.id} -o {file}\nuwf bundle verify {file}"
    yield Statement("proof", text, head, command=command)
