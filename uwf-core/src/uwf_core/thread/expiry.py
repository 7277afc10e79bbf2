"""What follows a question that nobody answers in time. Pure: the question says it, so that `cas
verify` needs no workflow and no configuration. Time never answers a question.
"""

from typing import TYPE_CHECKING

from uwf_core.api.moments import date_text
from uwf_core.errors import CorruptNodeError
from uwf_core.thread.decisions import Event, Expired, Suspension, runs, waits

if TYPE_CHECKING:
    from uwf_core.thread.state import ThreadState
    from uwf_core.thread.types import NextPayload


def after_expiry(asked: Suspension) -> "NextPayload":
    """The decision if nobody answers: another role runs, or the attempt that asked has failed."""
    expires = asked.expires
    assert expires is not None
    if expires["role"] is not None:
        return runs(expires["role"])
    message = f"nobody answered before {date_text(expires['deadline'])}: {asked.message}"
    return waits("failure", asked.role, message, kind="timeout")


def checked_expiry(state: "ThreadState", event: Event) -> Expired | None:
    """The question that has expired, if a role runs in its place.

    Raises:
        CorruptNodeError: no question was pending, it had time left, or another decision follows.
    """
    asked, payload = state.suspension, event.payload
    expires = None if asked is None else asked.expires
    if (
        asked is None
        or expires is None
        or payload["deadline"] != expires["deadline"]
        or payload["atMs"] < expires["deadline"]
        or (payload["role"], payload["question"]) != (asked.role, asked.question)
        or payload["next"] != after_expiry(asked)
    ):
        raise CorruptNodeError(
            f"the event {event.ref} does not follow from the question of thread {state.thread}",
            hint="`uwf cas verify` names what is damaged",
        )
    return expired_by(asked, payload["seq"])


def expired_by(asked: Suspension, seq: int) -> Expired | None:
    """The question that has expired with the event of this number, if a role runs in its place."""
    expires = asked.expires
    if expires is None or expires["role"] is None:
        return None
    return Expired(seq, expires["role"], expires["prompt"] or "")
