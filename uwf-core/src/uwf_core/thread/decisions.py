"""An event, the decisions that events store (which role runs next, the end, or why the thread
waits), and the ancestors of a step.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from uwf_core.named_tuple import NamedTuple
from uwf_core.thread.types import NextPayload, Reason


class Event(NamedTuple):
    """A stored event of a thread.

    Attributes:
        kind: the kind of its node (`thread.types.NODES`): an event, a step, or an open attempt.
        ref: its node. payload: as read back from the store.
    """

    kind: str
    ref: str
    payload: Mapping[str, Any]


def with_ancestor(before: Sequence[str] | None, number: int, step: str) -> tuple[str, ...]:
    """The table of `ancestors` after a step; `before` is that of the step itself."""
    table = [
        step if number % (1 << place) == 0 else each for place, each in enumerate(before or ())
    ]
    return (*table, step) if number == 1 << len(table) else tuple(table)


def runs(role: str) -> NextPayload:
    """The role is next."""
    return {**_NOTHING, "status": "idle", "role": role}


def ends() -> NextPayload:
    """The thread is completed."""
    return {**_NOTHING, "status": "completed"}


def cancels() -> NextPayload:
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
) -> NextPayload:
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


_NOTHING: NextPayload = dict.fromkeys(NextPayload.__annotations__)  # type: ignore[assignment]
