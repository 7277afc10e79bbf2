"""Which command is allowed when, and how a thread is shown: with what the lock and the presence of
nodes say. Pure; the life of a thread is drawn in `thread.state`.
"""

from typing import TYPE_CHECKING, TypeVar

from uwf_core.errors import CorruptNodeError, ExitCode, FailureKind, WrongStateError
from uwf_core.named_tuple import NamedTuple
from uwf_core.thread.state import TOKEN_FIELDS, Suspension, ThreadState, ThreadSummary
from uwf_core.thread.types import FINISHED

if TYPE_CHECKING:
    from uwf_core.workflow.definition import Limits

Shown = TypeVar("Shown", ThreadState, ThreadSummary)

INTERRUPTED_MESSAGE = "the run was interrupted in the middle of this step"
_FORK = "`uwf thread fork STEP` goes on from one of its steps in a new thread"


def effective(state: Shown, *, is_running: bool, is_sound: bool = True) -> Shown:
    """The state as it is to be shown.

    Args:
        state: what is stored.
        is_running: some process holds the thread's lock now.
        is_sound: the head and workflow nodes are present, and `cas verify` has found no damage.
    """
    if not is_sound:
        return state._replace(status="corrupt", current_role=None)
    role = state.attempt.role if state.attempt else state.current_role
    if is_running:
        return state._replace(status="running", current_role=role, suspension=None)
    if state.attempt is None:
        return state
    kind = FailureKind.INTERRUPTED.word
    waiting = Suspension("interrupted", role or "", INTERRUPTED_MESSAGE, kind)
    return state._replace(status="suspended", current_role=role, suspension=waiting)


def check_present(thread: str, *, is_whole: bool) -> None:
    """Whether anything can be done to a thread but forgetting it; `is_whole` as in `effective`.

    Raises:
        CorruptNodeError: its head or workflow is absent.
    """
    if not is_whole:
        raise CorruptNodeError(
            f"thread {thread} is corrupt: its newest step or its workflow is not in the store",
            hint=f"`uwf cas verify {thread}` says what is missing; `uwf thread rm {thread}` "
            "forgets the thread",
        )


def check_undamaged(damage: str | None, thread: str) -> None:
    """Whether a thread can be run at all.

    Raises:
        CorruptNodeError: `cas verify` has found it damaged.
    """
    if damage is not None:
        raise CorruptNodeError(
            f"thread {thread} is damaged: {damage}",
            hint=f"`uwf cas verify {thread} --repair --from BUNDLE` repairs it; "
            "`uwf thread fork` goes on from a step that is intact",
        )


def check_resume(state: ThreadState, thread: str) -> None:
    """Whether `resume` makes sense.

    Raises:
        WrongStateError: the thread is idle or cancelled.
    """
    if state.status in ("suspended", "completed"):
        return
    hint = f"`uwf thread exec {thread}` goes on"
    if state.status == "cancelled":
        hint = _FORK
    raise WrongStateError(
        f"thread {thread} is {state.status}; only a suspended or completed one can be resumed",
        hint=hint,
    )


def check_poke(state: ThreadState, thread: str) -> None:
    """Whether `poke` makes sense.

    Raises:
        WrongStateError: no step yet, a question is pending, or the state is another one than
            idle, completed or suspended by a role.
    """
    if state.suspension is not None and state.suspension.question is not None:
        raise WrongStateError(
            f"thread {thread} waits for an answer",
            hint=f"`uwf thread resume {thread} --answer …` gives it",
        )
    by_role = state.suspension is not None and state.suspension.reason == "role"
    if state.status not in ("idle", "completed") and not by_role:
        hint = f"`uwf thread resume {thread}` goes on"
        if state.status == "cancelled":
            hint = _FORK
        raise WrongStateError(
            f"thread {thread} is {state_words(state)}; poke needs one that is idle, completed or "
            "suspended by a role",
            hint=hint,
        )
    if state.steps == 0:
        raise WrongStateError(
            f"thread {thread} has no step to run again",
            hint=f"`uwf thread exec {thread}` runs the first",
        )


def check_cancel(state: ThreadState, thread: str) -> None:
    """Whether `cancel` makes sense.

    Raises:
        WrongStateError: the thread is finished already.
    """
    if state.status in FINISHED:
        raise WrongStateError(
            f"thread {thread} is {state.status} already",
            hint=f"`uwf thread rm {thread}` forgets it",
        )


def check_remove(state: ThreadState, thread: str) -> None:
    """Whether `rm` makes sense.

    Raises:
        WrongStateError: the thread could still go on.
    """
    if state.status not in (*FINISHED, "corrupt"):
        raise WrongStateError(
            f"thread {thread} is {state_words(state)}; only a finished one can be removed",
            hint=f"`uwf thread cancel {thread}` closes it",
        )


def state_words(state: ThreadState) -> str:
    """The status in words: `suspended (failure)`."""
    return f"{state.status} ({state.suspension.reason})" if state.suspension else state.status


def exit_code(state: ThreadState) -> int:
    """The exit code of a run that left the thread like this."""
    if state.status == "corrupt":
        return ExitCode.FAILED
    if state.status != "suspended" or state.suspension is None:
        return ExitCode.DONE
    match state.suspension.reason:
        case "role":
            return ExitCode.SUSPENDED
        case "limit":
            return ExitCode.LIMIT
        case "interrupted":
            return ExitCode.INTERRUPTED
    return FailureKind.of(state.suspension.kind or FailureKind.INTERNAL.word).exit_code


class Reached(NamedTuple):
    """A limit that was reached: its name, its value with what was granted, and what was used."""

    name: str
    value: float
    used: float

    def words(self) -> str:
        """The limit, for people."""
        return f"{self.name} {self.value:g} is reached ({self.used:g} used)"


def reached_limit(state: ThreadState, limits: "Limits") -> Reached | None:
    """The limit that the thread has reached, None if it may take another step.

    An unreported figure never counts as 0: the known part counts, and `unenforceable` names the
    limit.
    """
    used = {
        "maxSteps": (state.steps - state.inherited_steps, limits.max_steps),
        "maxTokens": (state.totals.known_sum(*TOKEN_FIELDS), limits.max_tokens),
        "maxCostUsd": (state.totals.known_sum("costUsd"), limits.max_cost_usd),
        "maxMinutes": (state.running_ms / 60_000, limits.max_minutes),
    }
    grants = 1 + state.grants
    for name, (value, limit) in used.items():
        if limit is not None and value >= limit * grants:
            return Reached(name, limit * grants, value)
    return None


def unenforceable(state: ThreadState, limits: "Limits") -> tuple[str, ...]:
    """The limits whose figures the agents do not report."""
    unknown = []
    if limits.max_tokens is not None and not state.totals.is_known("inputTokens", "outputTokens"):
        unknown.append("maxTokens")
    if limits.max_cost_usd is not None and not state.totals.is_known("costUsd"):
        unknown.append("maxCostUsd")
    return tuple(unknown)
