"""The decisions that events store: which role runs next, the end, or why the thread waits."""

from uwf_core.thread.types import NextPayload, Reason


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
