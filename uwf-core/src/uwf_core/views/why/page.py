"""A recorded thread -> the page that explains it. Pure: only stored nodes are read."""

from collections.abc import Iterator, Sequence

from uwf_core.api.reading import RecordedEvent, RecordedStep, RecordedThread
from uwf_core.errors import UnknownIdError
from uwf_core.views.why.events import event_statement
from uwf_core.views.why.statements import Statement, WhyPage, WhySection
from uwf_core.views.why.steps import Surroundings, attempt_statements, step_section
from uwf_core.views.why.words import cost, duration, moment, person, quoted

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
    sections = list(_step_sections(thread, events, step))
    if step is not None and not sections:
        raise UnknownIdError(
            f"{step} is not a step of thread {thread.id}",
            hint=f"next: uwf step list {thread.id}",
        )
    if step is None:
        sections = [_opening(thread, events), *sections, _ending(thread, events)]
    root = thread.root
    return WhyPage(
        thread.id,
        thread.head,
        root,
        f"Why thread {thread.id} of {thread.workflow.name} went as it did",
        (*sections, _proof(thread, root)),
    )


def _opening(thread: RecordedThread, events: Sequence[RecordedEvent]) -> WhySection:
    workflow, started = thread.workflow, events[0]
    who = "" if started.payload["by"] is None else f" by {person(started.payload['by'])}"
    text = (
        f"This page explains one run of the workflow {quoted(workflow.name)}. It was started on "
        f"{moment(thread.started_ms)}{who}, in the folder {thread.node['cwd']}. Each sentence "
        "ends with the references of the stored records that prove it."
    )
    statements = [Statement("thread", text, (started.ref, thread.start, workflow.ref))]
    if started.payload["head"] != thread.start:
        text = "It is a fork: it shares its first steps with another thread, up to this step."
        statements.append(Statement("fork", text, (started.payload["head"], started.ref)))
    text = "The task was:"
    statements.append(Statement("task", text, (thread.node["prompt"],), thread.task))
    if workflow.description.strip():
        text = "The workflow says about itself:"
        statements.append(Statement("workflow", text, (workflow.ref,), workflow.description))
    for role in workflow.roles.values():
        text = f"The goal of the role {quoted(role.name)}:"
        statements.append(Statement("role", text, (workflow.ref,), role.goal))
    return WhySection("The task", (*statements, _total(thread)))


def _total(thread: RecordedThread) -> Statement:
    steps = "1 step" if thread.count == 1 else f"{thread.count} steps"
    text = (
        f"The thread has {steps}. All attempts of this thread together took "
        f"{duration(thread.running_ms)}. {cost(thread.usage)} (A token is a piece of a word, by "
        "which models and their prices count.)"
    )
    return Statement("total", text, (thread.head,))


def _step_sections(
    thread: RecordedThread, events: Sequence[RecordedEvent], wanted: str | None
) -> Iterator[WhySection]:
    task, waiting = thread.task, list(events[1:])
    earlier = list[str]()
    previous: RecordedStep | None = None
    shown = dict[str, int]()
    for step in thread.steps(*_FIELDS):
        before = tuple(event_statement(each) for each in _taken(waiting, thread, step))
        around = Surroundings(
            thread.id,
            task,
            thread.node["prompt"],
            thread.node["cwd"],
            earlier,
            previous,
            previous is not None and previous.node["next"]["status"] == "completed",
            shown,
        )
        if wanted is None or wanted in _nodes(step):
            yield step_section(step, around, before)
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
    found: set[str] = set()
    older: RecordedStep | None = step
    while older is not None:
        found |= {older.ref, *older.node["previousAttempts"]}
        older = older.replaced
    return found


def _ending(thread: RecordedThread, events: Sequence[RecordedEvent]) -> WhySection:
    """What happened after the last step, and the state of the thread."""
    last = -1
    for step in thread.newest_first():
        last = step.node["seq"] if step.node["thread"] == thread.id else -1
        break
    statements = [event_statement(each) for each in events[1:] if each.payload["seq"] > last]
    for number, attempt in enumerate(thread.pending, 1):
        statements += attempt_statements(attempt, number)
    proof = next((each.refs[0] for each in reversed(statements)), thread.head)
    statements.append(Statement("status", _STATUS[thread.status], (proof,)))
    return WhySection("The state of the thread", tuple(statements))


_STATUS = {
    "idle": "The thread has not ended: its next step can be run.",
    "running": "The thread is running now: this page shows what was stored until now.",
    "suspended": "The thread waits: it continues when a person resumes it.",
    "completed": "The thread has ended as its workflow provides.",
    "cancelled": "The thread was cancelled and has ended.",
    "corrupt": "The thread is damaged: not all of its records can be read.",
}


def _proof(thread: RecordedThread, root: str | None) -> WhySection:
    head = (thread.head,)
    statements = [
        Statement(
            "proof",
            "Each reference is computed from the content of a stored record. A changed record no "
            "longer matches its reference. This command prints a record:",
            head,
            command=f"uwf cas get {thread.head}",
        )
    ]
    if root is None:
        text = "The thread is running, so there is no proof of the whole of it yet."
        return WhySection("Proof", (*statements, Statement("proof", text, head)))
    file = f"{thread.id}.tar"
    statements += [
        Statement(
            "proof",
            f"All records of this thread together have the root {root}. The first command writes "
            "them to one file. The second verifies that file anywhere, and must print this root:",
            head,
            command=f"uwf thread export {thread.id} -o {file}\nuwf bundle verify {file}",
        )
    ]
    return WhySection("Proof", tuple(statements))
