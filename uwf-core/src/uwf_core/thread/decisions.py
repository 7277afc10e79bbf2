"""An event, the decisions that events store (which role runs next, the end, or why the thread
waits), what they make of a thread (an open attempt, a call, a worktree), and the ancestors of a
step.
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from uwf_core.api.sums import ReservePayload
from uwf_core.thread.names import Reason

if TYPE_CHECKING:
    from uwf_core.thread.types import NextPayload


class Event(NamedTuple):
    """A stored event of a thread.

    Attributes:
        kind: the kind of its node (`thread.types.NODES`): an event, a step, or an open attempt.
        ref: its node. payload: as read back from the store.
    """

    kind: str
    ref: str
    payload: Mapping[str, Any]


class OpenAttempt(NamedTuple):
    """An attempt that has not ended: it runs, or was interrupted if no process has the lock.
    `reserved` counts against limits meanwhile; None without a limit.
    """

    number: int
    attempt: int
    role: str
    reserved: ReservePayload | None = None

    @property
    def name(self) -> str:
        """`<number>.<try>`, as in the name of its variable."""
        return f"{self.number}.{self.attempt}"


class Suspension(NamedTuple):
    """Why a thread waits. `until_ms` is the end of a rate limit, `question` the pending one."""

    reason: Reason
    role: str
    message: str
    kind: str | None = None
    until_ms: int | None = None
    question: str | None = None


class Caller(NamedTuple):
    """The newest call: its Called event, the calling thread, number and role of its step, what this
    thread `plays` (a branch another role), and its `steps` at that time.
    """

    event: str
    thread: str
    number: int
    steps: int
    role: str
    plays: str


class Worktree(NamedTuple):
    """The git worktree of a thread: its folder, its branch, the commit at which it begins, and the
    folder of the thread before.
    """

    folder: str
    branch: str
    base: str
    origin: str


def with_ancestor(before: Sequence[str] | None, number: int, step: str) -> tuple[str, ...]:
    """The table of `ancestors` after a step; `before` is that of the step itself."""
    table = [
        step if number % (1 << place) == 0 else each for place, each in enumerate(before or ())
    ]
    return (*table, step) if number == 1 << len(table) else tuple(table)


def runs(role: str) -> "NextPayload":
    """The role is next."""
    return {**_NOTHING, "status": "idle", "role": role}


def ends() -> "NextPayload":
    """The thread is completed."""
    return {**_NOTHING, "status": "completed"}


def cancels() -> "NextPayload":
    """The thread is cancelled permanently."""
    return {**_NOTHING, "status": "cancelled"}


def waits(
    reason: Reason,
    role: str,
    message: str,
    *,
    kind: str | None = None,
    until_ms: int | None = None,
    question: str | None = None,
) -> "NextPayload":
    """The thread is suspended; `kind` is that of a failure."""
    return {
        "status": "suspended",
        "role": role,
        "reason": reason,
        "message": message,
        "kind": kind,
        "until": until_ms,
        "question": question,
    }


_NOTHING: "NextPayload" = {
    "status": "idle",
    "role": None,
    "reason": None,
    "message": None,
    "kind": None,
    "until": None,
    "question": None,
}
