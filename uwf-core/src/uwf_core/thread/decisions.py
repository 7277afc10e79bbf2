"""An event, the decisions that events store (which role runs next, the end, or why the thread
waits), what they make of a thread (an open attempt, a call, a worktree), the ancestors of a step,
and its parts that few steps use, which are null in its node where they are unused.
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from uwf_core.api.sums import ReservePayload
from uwf_core.thread.names import Reason

if TYPE_CHECKING:
    from uwf_core.thread.types import (
        AskedForPayload,
        CallPayload,
        ExpiryPayload,
        NextPayload,
        SessionPayload,
        WorkspacePayload,
    )


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
    """Why a thread waits. `until_ms` is the end of a rate limit, `question` the pending one, and
    `expires` the end of the time for an answer.
    """

    reason: Reason
    role: str
    message: str
    kind: str | None = None
    until_ms: int | None = None
    question: str | None = None
    expires: "ExpiryPayload | None" = None


class Expired(NamedTuple):
    """A question that nobody answered in time, as the event `seq`: the role that runs in place of
    the one that asked, and its prompt.
    """

    seq: int
    role: str
    prompt: str


class Wait(NamedTuple):
    """The next role does not run before `until_ms`. `kind`: of the failure before, the newest of
    `failures`; None if nothing has failed.
    """

    until_ms: int
    kind: str | None = None
    failures: int = 0


class Substitute(NamedTuple):
    """The word of the agent that plays a role since another one of `anyOf` failed; `left`: those
    that have not failed at the pending step, None once it has delivered.
    """

    word: str
    left: Sequence[str] | None = None


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


def runs(role: str, **more: Any) -> "NextPayload":
    """The role is next; `more` can have `notBefore`, and `kind` and `until` of a failure."""
    return {**_NOTHING, "status": "idle", "role": role, **more}  # type: ignore[typeddict-item]


def ends() -> "NextPayload":
    """The thread is completed."""
    return {**_NOTHING, "status": "completed"}


def cancels() -> "NextPayload":
    """The thread is cancelled permanently."""
    return {**_NOTHING, "status": "cancelled"}


def waits(reason: Reason, role: str, message: str, **more: Any) -> "NextPayload":
    """The thread is suspended; `more` can have `kind` and `until` of a failure, or `question` and
    `expires`.
    """
    own = {"status": "suspended", "role": role, "reason": reason, "message": message}
    return {**_NOTHING, **own, **more}  # type: ignore[typeddict-item]


_NEXT = (
    *("status", "role", "reason", "message", "kind", "until", "question", "expires"),
    "notBefore",
)
_NOTHING: "NextPayload" = dict.fromkeys(_NEXT)  # type: ignore[assignment]
NO_SESSION: "SessionPayload" = {"id": None, "kept": True, "continuation": "new", "mark": None}
_CALL = ("child", "children", "branches", "called", "usage", "usageByRole")
NO_CALL: "CallPayload" = dict.fromkeys(_CALL)  # type: ignore[assignment]


def session_payload(
    id_: str | None, continuation: Any = "new", mark: str | None = None, *, kept: bool = True
) -> "SessionPayload | None":
    """The session of a step, an attempt or a question; None if there is nothing to keep."""
    found: SessionPayload = {"id": id_, "kept": kept, "continuation": continuation, "mark": mark}
    return None if found == NO_SESSION else found


def session_of(attempted: Mapping[str, Any]) -> "SessionPayload":
    """The session of a step, an attempt or a question, also of one without."""
    return attempted["session"] or NO_SESSION


def call_of(step: Mapping[str, Any]) -> "CallPayload":
    """What a step called, also of one that called nothing."""
    return step["call"] or NO_CALL


def workspace_of(attempted: Mapping[str, Any]) -> "WorkspacePayload | None":
    """The recorded files of a step or an attempt."""
    return None if attempted["files"] is None else attempted["files"]["workspace"]


def artifacts_of(step: Mapping[str, Any]) -> Mapping[str, str]:
    """The nodes of the files that a step delivered, by path."""
    return (step["files"] and step["files"]["artifacts"]) or {}


def failure_kind(step: Mapping[str, Any]) -> str | None:
    """The kind of the failure of a failed attempt; None for a step that succeeded."""
    return None if step["failure"] is None else step["failure"]["kind"]


def asked_for(**fields: Any) -> "AskedForPayload":
    """What an attempt was asked to do; the other fields are those of a plain run."""
    return {**_PLAIN, **fields}  # type: ignore[typeddict-item]


_UNUSED = ("replaces", "said", "answer", "by", "skills")
_PLAIN = {**dict.fromkeys(_UNUSED), "number": 1, "purpose": "run", "ownSession": False}


def called_attempt(called: Mapping[str, Any], number: int) -> "AskedForPayload":
    """What a call was asked to do, as the attempt at its step. `called`: its event."""
    names = ("purpose", "replaces", "edgePrompt", "prompt", "said", "by", "cwd")
    same = {name: called[name] for name in names}
    return asked_for(number=number, instruction=called["prompt"], **same)
