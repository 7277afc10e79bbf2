"""Derives a trial's state from the results of its thread and its judges. Pure."""

from collections.abc import Sequence
from typing import Final, NamedTuple

from uwf_core.errors import (
    AgentFailure,
    AgentInterrupted,
    AgentStuck,
    RunInterrupted,
    StoreError,
    UwfError,
)
from uwf_eval.records import Failure, JudgeResult, TrialState
from uwf_eval.task.tree import TreeError

INFRASTRUCTURE: Final = frozenset(
    ("unavailable", "auth", "rate_limited", "bad_request", "truncated", "session_lost", "internal")
)
"""Kinds of failures that the workflow and its agent did not cause: a network, a key, a missing
program, a bug of uwf. All others are failures of the agent and count.
"""


class ThreadOutcome(NamedTuple):
    """How a thread ended: its status, the reason and message of a suspension, and the failure of
    its last step.
    """

    status: str
    reason: str | None = None
    message: str | None = None
    failure: Failure | None = None


class Verdict(NamedTuple):
    """A trial's state, with the reason if it is not scored."""

    state: TrialState
    failure: Failure | None = None
    score: float | None = None


INTERRUPTED: Final = Verdict("not_run", Failure(kind="interrupted", message="it was interrupted"))

UNJUDGED: Final = Verdict(
    "not_run", Failure(kind="judge", message="it was interrupted while it was judged")
)


def of_step(ended: ThreadOutcome, *, is_made: bool) -> Verdict | None:
    """The verdict of a trial of one step: None if the step was made, wherever it leads."""
    return None if is_made else of_thread(ended) or INTERRUPTED


def of_thread(ended: ThreadOutcome) -> Verdict | None:
    """The verdict if the thread did not complete; None if it did, so that judges decide."""
    if ended.status == "completed":
        return None
    if ended.reason == "interrupted" or (ended.failure and ended.failure.kind == "interrupted"):
        return INTERRUPTED
    if ended.failure is not None:
        return _failed(ended.failure)
    if ended.status == "idle":
        return INTERRUPTED
    kind = "limit" if ended.reason == "limit" else "suspended"
    asked = "the thread was cancelled" if ended.status == "cancelled" else "a person is needed"
    return _failed(Failure(kind=kind, message=ended.message or asked))


def _failed(failure: Failure) -> Verdict:
    if failure.kind in INFRASTRUCTURE:
        return Verdict("infra_error", failure)
    return Verdict("failed", failure, 0.0)


def of_judges(results: Sequence[JudgeResult]) -> Verdict:
    """The verdict of the judges: the weighted mean of those that count, if all gave a score."""
    counting = [each for each in results if each.weight > 0]
    silent = [each for each in counting if each.score is None]
    if silent:
        words = "; ".join(f"{each.name}: {each.error or 'gave no score'}" for each in silent)
        if any(each.aborted for each in silent):
            return Verdict("failed", Failure(kind="judge_aborted", message=words), 0.0)
        return Verdict("infra_error", Failure(kind="judge", message=words))
    if not counting:
        words = "no judge gives a score: set limits for one, or add another judge"
        return Verdict("infra_error", Failure(kind="judge", message=words))
    weight = sum(each.weight for each in counting)
    total = sum(each.weight * each.score for each in counting if each.score is not None)
    return Verdict("scored", None, min(1.0, max(0.0, total / weight)))


def of_error(error: Exception, phase: str) -> Verdict:
    """The verdict if something around the agent failed; `phase`: the current phase."""
    if isinstance(error, AgentInterrupted | RunInterrupted):
        return INTERRUPTED
    kind = phase
    if isinstance(error, AgentFailure):
        kind = error.kind.word
    elif isinstance(error, StoreError):
        kind = "store"
    elif isinstance(error, TreeError) and phase == "judge":
        return Verdict("failed", Failure(kind="too_large", message=str(error)), 0.0)
    elif not isinstance(error, OSError | UwfError):
        kind = "internal"
    message = _unexpected(error) if kind == "internal" else str(error)
    return Verdict("infra_error", Failure(kind=kind, message=message))


def of_stuck(error: AgentStuck, *, cancelled: bool) -> Verdict:
    """The verdict if an agent in this process did not stop."""
    return INTERRUPTED if cancelled else _failed(Failure(kind="stalled", message=error.message))


def _unexpected(error: Exception) -> str:
    return f"internal error of uwf-eval: {type(error).__name__}: {error}"


def of_tampering(what: Sequence[str]) -> Verdict:
    """The verdict if the agent changed protected files."""
    return Verdict("tampered", Failure(kind="tampered", message="; ".join(what)), 0.0)
