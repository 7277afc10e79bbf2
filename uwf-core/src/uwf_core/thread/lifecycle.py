"""Which commands a thread allows, and its status as lock and missing nodes show it.

Pure. `thread.state` has a drawing of the states.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from uwf_core.errors import BusyError, CorruptNodeError, ExitCode, FailureKind, WrongStateError
from uwf_core.thread.decisions import Suspension, Wait
from uwf_core.thread.head import Head, ThreadSummary
from uwf_core.thread.names import FINISHED
from uwf_core.thread.state import ThreadState

if TYPE_CHECKING:
    from uwf_core.thread.types import Standing, WaitFields

Shown = TypeVar("Shown", ThreadState, ThreadSummary)

INTERRUPTED_MESSAGE = "the run was interrupted in the middle of this step"
_FORK = "to continue from one of its steps in a new thread: uwf thread fork STEP"


class Input(NamedTuple):
    """What a person adds: a text, or an answer to the pending question (JSON, or `field=value`
    per line). `grants`: amounts for the limits of a thread that waits at one (`cost=5`).
    `without_answer`: the person lets a role continue that asked, and answers nothing.
    """

    text: str | None = None
    answer: str | None = None
    grants: Sequence[str] = ()
    without_answer: bool = False


def status_fields(state: ThreadState | ThreadSummary) -> "Standing":
    """The status, roles and reason that every document of a thread has."""
    suspension = state.suspension
    return {
        "status": state.status,
        "currentRole": state.current_role,
        "suspendedRole": suspension.role if suspension else None,
        "suspendMessage": suspension.message if suspension else None,
        "suspendReason": suspension.reason if suspension else None,
        **wait_fields(state.wait),
        "done": state.status == "completed",
    }


def wait_fields(wait: Wait | None) -> "WaitFields":
    """Why an idle thread waits, and until when: for another attempt, for the end of a service's
    limit, or for a time.
    """
    if wait is None:
        return {"waitingFor": None, "waitingUntil": None}
    if wait.kind is None:
        return {"waitingFor": "timer", "waitingUntil": wait.until_ms}
    is_limited = wait.kind == FailureKind.RATE_LIMIT.word
    return {"waitingFor": "limit" if is_limited else "retry", "waitingUntil": wait.until_ms}


def continues_alone(state: ThreadState) -> bool:
    """Whether a thread that nobody runs continues without a person: it is idle, or its run was
    interrupted.
    """
    waits = state.suspension
    return state.status == "idle" or (waits is not None and waits.reason == "interrupted")


def check_due(thread: str, state: ThreadState, now_ms: int) -> None:
    """Check that the next role may run now.

    Raises:
        BusyError: it waits for a time.
    """
    wait = state.wait
    if wait is not None and wait.until_ms > now_ms:
        from uwf_core.api.moments import date_text  # for the error alone

        raise BusyError(
            f"thread {thread} waits until {date_text(wait.until_ms)}: {wait_words(state)}",
            hint=f"to run it now: uwf thread exec {thread} --now; to wait for it: uwf thread exec "
            f"{thread} --until-done",
        )


def wait_words(state: ThreadState) -> str:
    """What an idle thread waits for, in words: `developer failed (timeout); attempt 2 follows`."""
    wait, role = state.wait, state.current_role
    if wait is None or wait.kind is None:
        return f"{role} runs then"
    return f"{role} failed ({wait.kind}); attempt {wait.failures + 1} follows"


def effective(state: Shown, *, is_running: bool, is_sound: bool = True) -> Shown:
    """The state to show.

    Args:
        state: the stored state.
        is_running: a process holds the thread's lock now; perhaps it waits for the time of the next
            step.
        is_sound: the head and workflow nodes are present, and `cas verify` has found no damage.
    """
    if not is_sound:
        return state._replace(status="corrupt", current_role=None, wait=None)
    role = state.attempt.role if state.attempt else state.current_role
    if is_running and (state.wait is None or state.attempt is not None):
        return state._replace(status="running", current_role=role, suspension=None, wait=None)
    if state.attempt is None:
        return state
    kind = FailureKind.INTERRUPTED.word
    waiting = Suspension("interrupted", role or "", INTERRUPTED_MESSAGE, kind)
    return state._replace(status="suspended", current_role=role, suspension=waiting)


def check_present(thread: str, *, is_whole: bool) -> None:
    """Check that the nodes of a thread's head and workflow are present.

    Raises:
        CorruptNodeError: one of them is missing.
    """
    if not is_whole:
        raise CorruptNodeError(
            f"thread {thread} is corrupt: its newest step or its workflow is missing",
            hint=f"next: uwf cas verify {thread}; to remove the thread: uwf thread rm {thread}",
        )


def check_undamaged(damage: str | None, thread: str) -> None:
    """Check that `cas verify` has found no damage.

    Raises:
        CorruptNodeError: it has.
    """
    if damage is not None:
        raise CorruptNodeError(
            f"thread {thread} is damaged: {damage}",
            hint=f"next: uwf cas verify {thread} --repair --from BUNDLE; to continue from an "
            "intact step: uwf thread fork STEP",
        )


def check_head(head: Head, expected: str | None) -> None:
    """Check whether the head is still the one that a person has seen.

    Raises:
        WrongStateError: a newer step is the head.
    """
    if expected not in (None, head.ref):
        raise WrongStateError(
            f"thread {head.thread} has continued: its head is {head.ref}, not {expected}",
            hint=f"next: uwf thread show {head.thread}",
        )


def check_usable(head: Head, *, is_whole: bool) -> None:
    """Check that a thread can be changed: whole, undamaged, and not one of the original uwf.

    Raises:
        CorruptNodeError, WrongStateError: it cannot.
    """
    check_present(head.thread, is_whole=is_whole)
    check_undamaged(head.damage, head.thread)
    check_writable(head)


def check_writable(head: Head) -> None:
    """Check that a thread is not one of the original uwf, which can only be read and forked.

    Raises:
        WrongStateError: it is.
    """
    if head.original is not None:
        raise WrongStateError(
            f"thread {head.thread} is read-only: it came from the original uwf ({head.original})",
            hint=f"to continue from its last step in a new thread: uwf thread fork {head.ref}",
        )


def check_resume(state: ThreadState, thread: str) -> None:
    """Check that `resume` is possible.

    Raises:
        WrongStateError: the thread is idle or cancelled.
    """
    if state.status in ("suspended", "completed"):
        return
    hint = f"next: uwf thread exec {thread}"
    if state.status == "cancelled":
        hint = _FORK
    raise WrongStateError(
        f"thread {thread} is {state.status}; only a suspended or completed one can be resumed",
        hint=hint,
    )


def check_poke(state: ThreadState, thread: str) -> None:
    """Check that `poke` is possible.

    Raises:
        WrongStateError: there is no step, a question is pending, or the thread is not idle,
            completed or suspended by a role.
    """
    if state.suspension is not None and state.suspension.question is not None:
        raise WrongStateError(
            f"thread {thread} waits for an answer",
            hint=f"next: uwf thread resume {thread} --answer FIELD=VALUE",
        )
    by_role = state.suspension is not None and state.suspension.reason == "role"
    if state.status not in ("idle", "completed") and not by_role:
        hint = f"next: uwf thread resume {thread}"
        if state.status == "cancelled":
            hint = _FORK
        raise WrongStateError(
            f"thread {thread} is {state_words(state)}; poke needs one that is idle, completed or "
            "suspended by a role",
            hint=hint,
        )
    if state.steps == 0:
        raise WrongStateError(
            f"thread {thread} has no step yet",
            hint=f"next: uwf thread exec {thread}",
        )


def check_compact(state: ThreadState, thread: str) -> None:
    """Check that `compact` is possible: also for a completed thread, which can be resumed.

    Raises:
        WrongStateError: the thread is cancelled, or has no step.
    """
    if state.status == "cancelled":
        raise WrongStateError(
            f"thread {thread} is cancelled; no session will read a summary", hint=_FORK
        )
    if state.steps == 0:
        raise WrongStateError(
            f"thread {thread} has no step yet", hint=f"next: uwf thread exec {thread}"
        )


def check_cancel(state: ThreadState, thread: str) -> None:
    """Check that `cancel` is possible.

    Raises:
        WrongStateError: the thread is already finished.
    """
    if state.status in FINISHED:
        raise WrongStateError(
            f"thread {thread} is already {state.status}",
            hint=f"to remove it: uwf thread rm {thread}",
        )


def check_remove(state: ThreadState, thread: str) -> None:
    """Check that `rm` is possible.

    Raises:
        WrongStateError: the thread is not finished.
    """
    if state.status not in (*FINISHED, "corrupt"):
        raise WrongStateError(
            f"thread {thread} is {state_words(state)}; only a finished one can be removed",
            hint=f"next: uwf thread cancel {thread}",
        )


def state_words(state: ThreadState) -> str:
    """The status in words: `suspended (failure)`."""
    return f"{state.status} ({state.suspension.reason})" if state.suspension else state.status


def exit_code(state: ThreadState) -> int:
    """The exit code of a run that left the thread like this."""
    if state.status == "corrupt":
        return ExitCode.FAILED
    if state.wait is not None and state.wait.kind is not None:
        return FailureKind.of(state.wait.kind).exit_code
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
