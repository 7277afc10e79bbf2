"""Runs the thread of a trial within the task's limits, and reads it for judges and reports."""

import time
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from uwf_core.api import Cancel, Usage
from uwf_core.api.fields import read_record
from uwf_core.client import Client, ExecDocument, StepDocument
from uwf_core.named_tuple import NamedTuple
from uwf_eval.plan.budget import unknown_limits
from uwf_eval.records import Budget, Failure, TrialStep
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
    """A thread for judges and reports. `chain`: the references of its steps, in order."""

    document: Mapping[str, Any]
    steps: Sequence[TrialStep]
    usage: Usage
    status: str
    head: str
    chain: Sequence[str]


def run_thread(
    client: Client, thread: str, limits: Limits, cancel: Cancel, notice: Callable[[str], None]
) -> ThreadRun:
    """Run a thread until it completes, suspends, fails, reaches a limit, or is cancelled.

    Args:
        client: of the trial's store. thread: a new one. limits: the task's.
        cancel: stops it. notice: gets lines for the user.

    Raises:
        UwfError: the thread cannot be run.
    """
    began = time.monotonic()
    most = limits.max_steps or _MOST_STEPS
    steps: list[str] = []
    while True:
        outcome = client.exec(thread, cancel=cancel)
        if outcome.error is not None:
            raise outcome.error
        document = outcome.document
        steps += [
            each["step"] for each in document["steps"] if each["step"] and not each["failure"]
        ]
        ended = _ended(document)
        if ended.status != "idle" or cancel.is_set():
            return ThreadRun(ended, steps)
        reached = _reached(client, thread, limits, time.monotonic() - began, notice)
        if len(steps) >= most:
            reached = f"{most} steps"
        if reached is not None:
            failure = Failure(kind="limit", message=f"task limit reached: {reached}")
            return ThreadRun(ThreadOutcome("suspended", "limit", failure.message, failure), steps)


def _ended(document: ExecDocument) -> ThreadOutcome:
    last = document["steps"][-1] if document["steps"] else None
    failure = last["failure"] if last else None
    found = Failure(kind=failure["kind"], message=failure["message"]) if failure else None
    reason, message = document["suspendReason"], document["suspendMessage"]
    return ThreadOutcome(document["status"], reason, message, found)


def _reached(
    client: Client, thread: str, limits: Limits, seconds: float, notice: Callable[[str], None]
) -> str | None:
    """The limit that is reached, as a text; None if none is."""
    if limits.max_minutes is not None and seconds >= limits.max_minutes * 60:
        return f"{seconds / 60:.1f} of {limits.max_minutes:g} minutes used"
    if limits.max_tokens is None and limits.max_cost_usd is None:
        return None
    usage = read_record(Usage, client.show(thread)["usage"])
    budget = Budget(cost_usd=limits.max_cost_usd, tokens=limits.max_tokens)
    for text in unknown_limits(budget, usage):
        notice(text)
    cost, tokens = usage.cost_usd or 0, usage.tokens or 0
    if limits.max_tokens is not None and tokens >= limits.max_tokens:
        return f"{tokens:,} of {limits.max_tokens:,} tokens used"
    if limits.max_cost_usd is not None and cost >= limits.max_cost_usd:
        return f"${cost:.4g} of ${limits.max_cost_usd:g} used"
    return None


def read_thread(client: Client, thread: str) -> ThreadSummary:
    """Read a thread: its document as `JudgeRequest.record` specifies it, and the summary for
    reports.

    Raises:
        UwfError: a node is damaged or missing.
    """
    shown, read = client.show(thread), client.thread(thread)
    steps = list(read.steps())
    documents = [{**client.step(each.ref), "attempts": _attempts(client, each)} for each in steps]
    return ThreadSummary(
        document={**shown, "prompt": read.task, "steps": documents},
        steps=[_step(each) for each in steps],
        usage=read_record(Usage, shown["usage"]),
        status=shown["status"],
        head=shown["head"],
        chain=[each.ref for each in steps],
    )


def _attempts(client: Client, step: "RecordedStep") -> list[StepDocument]:
    return [client.step(attempt.ref) for attempt in step.attempts]


def _step(step: "RecordedStep") -> TrialStep:
    return TrialStep(
        role=step.role,
        status=step.status,
        agent=step.node["agent"],
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
