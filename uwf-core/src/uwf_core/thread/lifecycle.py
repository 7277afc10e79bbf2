"""The life of a thread: which command is allowed when, and what it does to the index. Pure.

    start ─▶ idle ─exec▶ idle … ─▶ completed ─resume▶ …
              │  ▲         │
            cancel└─resume─┴▶ suspended (role · failure · limit · interrupted) ─exec/resume▶ …
              ▼
          cancelled

`running` is no stored state: somebody holds the lock now. An attempt that is open while nobody
holds the lock was interrupted.
"""

from uwf_core.errors import CorruptNodeError, ExitCode, FailureKind, WrongStateError
from uwf_core.thread.index import (
    OpenAttempt,
    RoleSession,
    RoleState,
    Suspension,
    ThreadIndex,
)
from uwf_core.thread.status import FINISHED, Status
from uwf_core.thread.types import AttemptPayload, StepPayload

INTERRUPTED_MESSAGE = "the run was interrupted in the middle of this step"
_FORK = "`uwf thread fork STEP` goes on from one of its steps in a new thread"


def effective(index: ThreadIndex, *, is_running: bool, is_whole: bool = True) -> ThreadIndex:
    """The index as it is to be shown: with what the lock and the presence of nodes say.

    Args:
        index: what is stored.
        is_running: somebody holds the thread's lock now.
        is_whole: the head and workflow nodes are present.
    """
    if not is_whole or index.damage is not None:
        return index._replace(status="corrupt", current_role=None)
    if is_running:
        role = index.attempt.role if index.attempt else index.current_role
        return index._replace(status="running", current_role=role, suspension=None)
    if index.attempt is not None:
        return interrupted(index)
    return index


def interrupted(index: ThreadIndex) -> ThreadIndex:
    """The index of a thread whose open attempt nobody runs any more."""
    role = index.attempt.role if index.attempt else index.current_role or ""
    suspension = Suspension("interrupted", role, INTERRUPTED_MESSAGE, FailureKind.INTERRUPTED.word)
    return index._replace(status="suspended", current_role=role, suspension=suspension)


def begun(index: ThreadIndex, attempt: OpenAttempt) -> ThreadIndex:
    """An attempt begins; the stored status stays until it ends."""
    return index._replace(attempt=attempt)


def ended(index: ThreadIndex, suspension: Suspension) -> ThreadIndex:
    """An attempt ended without a step: suspended, and one try more."""
    return suspended(index, suspension)._replace(tries=index.tries + 1)


def suspended(index: ThreadIndex, suspension: Suspension) -> ThreadIndex:
    """The thread waits, without a failed attempt. Only after a failure would exec run a role."""
    goes_on = suspension.reason in ("failure", "interrupted")
    return index._replace(
        status="suspended",
        current_role=suspension.role if goes_on else None,
        suspension=suspension,
        attempt=None,
    )


def arrived(index: ThreadIndex, status: Status, role: str | None) -> ThreadIndex:
    """A step is stored and leads on: `idle` with the next role, or `completed` with none."""
    return index._replace(status=status, current_role=role, suspension=None, attempt=None, tries=0)


def cancelled(index: ThreadIndex) -> ThreadIndex:
    """Closed for good."""
    return index._replace(status="cancelled", current_role=None, suspension=None, attempt=None)


def granted(index: ThreadIndex) -> ThreadIndex:
    """The same allowance once more, after a limit."""
    role = index.suspension.role if index.suspension else index.current_role
    return index._replace(
        status="idle", current_role=role, suspension=None, grants=index.grants + 1
    )


def spoken(
    index: ThreadIndex,
    payload: AttemptPayload | StepPayload,
    step: str,
    session: str | None,
    *,
    inherited: bool = False,
) -> ThreadIndex:
    """A role's step is stored: it has spoken once more, unless the step replaces one.

    Of a step that is replaced, the sessions of other agents know what is not there any more, so
    that they will be told the new one.
    """
    role, number, agent = payload["role"], payload["number"], payload["agent"]
    before = index.role(role)
    visits, sessions = before.visits + 1, dict(before.sessions)
    if payload["replaces"]:
        visits = before.visits
        for name, each in before.sessions.items():
            sessions[name] = each._replace(number=min(each.number, number - 1))
    sessions.pop(agent, None)
    if session is not None:
        sessions[agent] = RoleSession(session, number, inherited)
    return index.with_role(role, RoleState(visits, step, sessions))


def with_session(index: ThreadIndex, role: str, session: str | None, agent: str) -> ThreadIndex:
    """The session that an attempt without a step leaves behind for its role and agent.

    Where nothing was heard of one, the session that was there before stays.
    """
    before = index.role(role)
    old = before.sessions.get(agent)
    if session is None or (old is not None and session == old.session):
        return index
    new = RoleSession(session, 0 if old is None else old.number, False)
    return index.with_role(role, before._replace(sessions={**before.sessions, agent: new}))


def without_session(index: ThreadIndex, role: str, agent: str) -> ThreadIndex:
    """A failure after which the role begins a session afresh with this agent."""
    before = index.role(role)
    kept = {name: each for name, each in before.sessions.items() if name != agent}
    return index.with_role(role, before._replace(sessions=kept))


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


def check_whole(index: ThreadIndex, thread: str) -> None:
    """Whether a thread can be run at all.

    Raises:
        CorruptNodeError: `cas verify` has found it damaged.
    """
    if index.damage is not None:
        raise CorruptNodeError(
            f"thread {thread} is damaged: {index.damage}",
            hint=f"`uwf cas verify {thread} --repair --from BUNDLE` repairs it; "
            "`uwf thread fork` goes on from a step that is intact",
        )


def check_resume(index: ThreadIndex, thread: str) -> None:
    """Whether `resume` makes sense.

    Raises:
        WrongStateError: the thread is idle or cancelled.
    """
    if index.status in ("suspended", "completed"):
        return
    hint = f"`uwf thread exec {thread}` goes on"
    if index.status == "cancelled":
        hint = _FORK
    raise WrongStateError(
        f"thread {thread} is {index.status}; only a suspended or completed one can be resumed",
        hint=hint,
    )


def check_poke(index: ThreadIndex, thread: str) -> None:
    """Whether `poke` makes sense.

    Raises:
        WrongStateError: no step yet, a question is pending, or the state is another one than
            idle, completed or suspended by a role.
    """
    if index.suspension is not None and index.suspension.question is not None:
        raise WrongStateError(
            f"thread {thread} waits for an answer",
            hint=f"`uwf thread resume {thread} --answer …` gives it",
        )
    by_role = index.suspension is not None and index.suspension.reason == "role"
    if index.status not in ("idle", "completed") and not by_role:
        hint = f"`uwf thread resume {thread}` goes on"
        if index.status == "cancelled":
            hint = _FORK
        raise WrongStateError(
            f"thread {thread} is {state_words(index)}; poke needs one that is idle, completed or "
            "suspended by a role",
            hint=hint,
        )
    if index.steps == 0:
        raise WrongStateError(
            f"thread {thread} has no step to run again",
            hint=f"`uwf thread exec {thread}` runs the first",
        )


def check_cancel(index: ThreadIndex, thread: str) -> None:
    """Whether `cancel` makes sense.

    Raises:
        WrongStateError: the thread is finished already.
    """
    if index.status in FINISHED:
        raise WrongStateError(
            f"thread {thread} is {index.status} already",
            hint=f"`uwf thread rm {thread}` forgets it",
        )


def check_remove(index: ThreadIndex, thread: str) -> None:
    """Whether `rm` makes sense.

    Raises:
        WrongStateError: the thread could still go on.
    """
    if index.status not in (*FINISHED, "corrupt"):
        raise WrongStateError(
            f"thread {thread} is {state_words(index)}; only a finished one can be removed",
            hint=f"`uwf thread cancel {thread}` closes it",
        )


def state_words(index: ThreadIndex) -> str:
    """The status in words: `suspended (failure)`."""
    return f"{index.status} ({index.suspension.reason})" if index.suspension else index.status


def exit_code(index: ThreadIndex) -> int:
    """The exit code of a run that left the thread like this."""
    if index.status == "corrupt":
        return ExitCode.FAILED
    if index.status != "suspended" or index.suspension is None:
        return ExitCode.DONE
    match index.suspension.reason:
        case "role":
            return ExitCode.SUSPENDED
        case "limit":
            return ExitCode.LIMIT
        case "interrupted":
            return ExitCode.INTERRUPTED
    return FailureKind.of(index.suspension.kind or FailureKind.INTERNAL.word).exit_code
