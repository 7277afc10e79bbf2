"""Runs the thread of a trial within the task's limits, and reads it for judges and reports."""

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from uwf_core.api import Cancel, Usage
from uwf_core.client import Client, ExecDocument, StepDocument
from uwf_core.fields.records import read_record, write_record
from uwf_eval.records import Failure, TrialStep
from uwf_eval.task.model import Limits
from uwf_eval.trial.verdict import ThreadOutcome

if TYPE_CHECKING:
    from uwf_core.api import RecordedStep

_MOST_STEPS: Final = 100


class ThreadRun(NamedTuple):
    """The result of a thread: how it ended, and the references of the reported steps."""

    ended: ThreadOutcome
    steps: Sequence[str]


class ThreadSummary(NamedTuple):
    """A thread for judges and reports, with those that it called. `chain`: the references of the
    steps of agents and programs, in order.
    """

    document: Mapping[str, Any]
    steps: Sequence[TrialStep]
    usage: Usage
    status: str
    head: str
    chain: Sequence[str]


def start_limits(limits: Limits) -> dict[str, float]:
    """The limits of a task for the start of a thread: it never runs without end."""
    given = {name: value for name, value in write_record(limits).items() if value is not None}
    return {"maxSteps": _MOST_STEPS, **given}


def run_thread(client: Client, thread: str, cancel: Cancel) -> ThreadRun:
    """Run a thread until it completes, suspends, fails, reaches a limit, or is cancelled.

    Args:
        client: of the trial's store. thread: a new one. cancel: stops it.

    Raises:
        UwfError: the thread cannot be run.
    """
    steps: list[str] = []
    while True:
        outcome = client.exec(thread, until_done=True, cancel=cancel)
        if outcome.error is not None:
            raise outcome.error
        ended, made = outcome_of(outcome.document)
        steps += made
        if ended.status != "idle" or cancel.is_set():
            return ThreadRun(ended, steps)


def outcome_of(document: ExecDocument) -> ThreadRun:
    """The result of one call of `exec`."""
    steps = [each["step"] for each in document["steps"] if each["step"] and not each["failure"]]
    return ThreadRun(_ended(document), steps)


def _ended(document: ExecDocument) -> ThreadOutcome:
    is_failed = document["suspendReason"] in ("failure", "interrupted")  # of several branches, one
    failures = [each["failure"] for each in document["steps"] if each["failure"]]
    failure = failures[-1] if is_failed and failures else None
    found = Failure(kind=failure["kind"], message=failure["message"]) if failure else None
    reason, message = document["suspendReason"], document["suspendMessage"]
    return ThreadOutcome(document["status"], reason, message, found)


def read_thread(client: Client, thread: str) -> ThreadSummary:
    """Read a thread: its document as `JudgeRequest.record` specifies it, and the summary for
    reports.

    Raises:
        UwfError: a node is damaged or missing.
    """
    return summary_of(client, thread, list(steps_by_path(client, thread)))


def summary_of(
    client: Client, thread: str, steps: "Sequence[tuple[str, RecordedStep]]"
) -> ThreadSummary:
    """As `read_thread`, with these steps alone, each with its path ("": its role)."""
    shown, read = client.show(thread), client.thread(thread)
    steps = [(path or step.role, step) for path, step in steps]
    documents = [
        {**client.step(step.ref), "role": path, "attempts": _attempts(client, step)}
        for path, step in steps
    ]
    leaves = [(path, step) for path, step in steps if _is_leaf(step)]
    usage = client.unattended.ledger(thread)["usage"]
    return ThreadSummary(
        document={**shown, "usage": usage, "prompt": read.task, "steps": documents},
        steps=[_step(path, step) for path, step in leaves],
        usage=read_record(Usage, usage),
        status=shown["status"],
        head=shown["head"],
        chain=[step.ref for _, step in leaves],
    )


def _is_leaf(step: "RecordedStep") -> bool:
    """Whether an agent, a person or a program made it."""
    call = step.node["call"]
    return step.child is None and (call is None or call["branches"] is None)


def steps_by_path(
    client: Client, thread: str, above: str = ""
) -> "Iterator[tuple[str, RecordedStep]]":
    """The steps of a thread and of those that it called, in the order in which they ended, each
    with its path: `work/writer` is the role `writer` of the thread that `work` called, and
    `planner/planned/0/worker` of a branch.
    """
    called: dict[str, Iterator[tuple[str, RecordedStep]]] = {}

    def below(child: str, role: str, key: str | None) -> "Iterator[tuple[str, RecordedStep]]":
        path = f"{above}{role}/" if key is None else f"{above}{role}/{key}/"
        return called.setdefault(child, steps_by_path(client, child, path))

    read = client.thread(thread)
    for step in read.steps():
        for call in step.calls:
            for each in below(call.thread, call.caller_role, call.key):
                yield each
                if each[1].ref == call.end:  # what follows belongs to a later call
                    break
        yield above + step.role, step
    for call in read.open_calls:
        yield from below(call.thread, call.caller_role, call.key)
    for child in client.show(thread)["children"]:  # of calls that did not end
        yield from below(child["thread"], child["role"], None)


def _attempts(client: Client, step: "RecordedStep") -> list[StepDocument]:
    return [client.step(attempt.ref) for attempt in step.attempts]


def _step(path: str, step: "RecordedStep") -> TrialStep:
    return TrialStep(
        role=path,
        status=step.status,
        agent=step.node["agent"] or "",
        duration_ms=step.duration_ms,
        usage=read_record(Usage, step.node["usage"]),
        attempts=len(step.node["previousAttempts"]),
        corrections=len(step.corrections),
    )


IN_MEMORY = "memory:"


class WorkflowCache:
    """Stores with one workflow each, from which each trial copies its workflow.

    Args:
        main: a client of the main store, which has the workflows.
    """

    def __init__(self, main: Client) -> None:
        self._main = main
        self._known: dict[str, Client] = {}

    def copy(self, workflow: str, target: Client) -> None:
        """Copy a workflow into another store.

        Raises:
            UwfError: it is missing or damaged.
        """
        if workflow not in self._known:
            client = Client.open(store=IN_MEMORY, durable=False, beside=self._main)
            self._main.nodes.copy([workflow], client.nodes)
            self._known[workflow] = client
        self._known[workflow].nodes.copy([workflow], target.nodes)
