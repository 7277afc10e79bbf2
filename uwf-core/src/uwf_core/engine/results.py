"""Documents of a run: what a step did, and where it left the thread."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from uwf_core.errors import UwfError
from uwf_core.named_tuple import NamedTuple
from uwf_core.thread.head import Head
from uwf_core.thread.state import ThreadState, ThreadSummary
from uwf_core.thread.types import UsagePayload
from uwf_core.thread.usage import Totals

if TYPE_CHECKING:
    from uwf_core.engine.documents import ExecDocument, FailureDocument, Standing, StepResult
    from uwf_core.errors import AgentFailure


class StepEnd(NamedTuple):
    """The head after a step (or failed attempt), what is reported of it, and the error after which
    the run cannot continue.
    """

    head: Head
    result: "StepResult"
    error: UwfError | None = None


class Outcome(NamedTuple):
    """What a run did, its exit code, and the error that kept it from a further step."""

    document: "ExecDocument"
    exit_code: int
    error: UwfError | None = None


class Spoken(NamedTuple):
    """Who spoke, and what it took; all unknown where no agent was started."""

    step: str | None
    role: str | None
    agent: str | None = None
    duration_ms: int = 0
    usage: UsagePayload | None = None


def failure_document(failure: "AgentFailure", message: str) -> "FailureDocument":
    """A failure as it is reported; `message` is its redacted text."""
    return {"kind": failure.kind.word, "message": message, "until": failure.until_ms}


def status_fields(state: ThreadState | ThreadSummary) -> "Standing":
    """The status, roles and reason that every document of a thread has."""
    suspension = state.suspension
    return {
        "status": state.status,
        "currentRole": state.current_role,
        "suspendedRole": suspension.role if suspension else None,
        "suspendMessage": suspension.message if suspension else None,
        "suspendReason": suspension.reason if suspension else None,
        "done": state.status == "completed",
    }


def step_result(
    state: ThreadState, spoken: Spoken, failure: "FailureDocument | None" = None
) -> "StepResult":
    """What one step did, with the thread's state after it."""
    return {
        "step": spoken.step,
        "role": spoken.role,
        "agent": spoken.agent,
        **status_fields(state),
        "durationMs": spoken.duration_ms,
        "usage": spoken.usage if spoken.usage is not None else Totals.none().payload(),
        "failure": failure,
    }


def exec_document(
    head: Head, steps: "Sequence[StepResult]", status: str | None = None
) -> "ExecDocument":
    """What a run did, and the thread's state after it."""
    suspension = None if status else head.state.suspension
    return {
        "thread": head.thread,
        "workflow": head.state.workflow,
        "workflowName": head.state.workflow_name,
        "steps": list(steps),
        "status": status or head.state.status,  # type: ignore[typeddict-item]
        "suspendReason": suspension.reason if suspension else None,
        "suspendMessage": suspension.message if suspension else None,
        "done": (status or head.state.status) == "completed",
    }


def ended_by(head: Head, steps: "Sequence[StepResult]", error: UwfError) -> Outcome:
    """What a run did until `error` kept it from a further step."""
    return Outcome(exec_document(head, steps), error.exit_code, error)
