"""Questions with a deadline: what a question says about it, and the end of its time."""

import json
from typing import TYPE_CHECKING

from uwf_core.engine.events import save_event
from uwf_core.errors import WrongStateError
from uwf_core.ids import Ref, ThreadId
from uwf_core.moderator.next import expired_of_role, expiry
from uwf_core.thread.names import event_kind, events_prefix
from uwf_core.workflow.definition import FAILED

if TYPE_CHECKING:
    from uwf_core.engine.context import Attempt, Run
    from uwf_core.engine.engine import Engine
    from uwf_core.thread.head import Head
    from uwf_core.thread.types import ExpiredPayload, ExpiryPayload

HUMAN = "human"
"""The agent of roles that a person plays."""


def expiry_of_question(run: "Run", attempt: "Attempt") -> "ExpiryPayload | None":
    """What follows a question if nobody answers it: what the role of a person says; the
    configuration says it for questions of agents.
    """
    role, asked_ms = run.definition.roles[attempt.payload["role"]], attempt.ended_ms
    if role.expired is not None:
        from uwf_core.thread.earlier import earlier_steps  # few roles have a deadline
        from uwf_core.thread.history import typed_input

        given = typed_input(run.engine.store, run.definition, attempt.head.state)
        steps = earlier_steps(run.engine.store, run.definition, attempt.head.state)
        to = expired_of_role(run.definition, role, given, steps)
        return expiry(role.within, to, asked_ms)
    if attempt.payload["agent"] == HUMAN:
        return None
    return expiry(run.engine.settings.questions.within, None, asked_ms)


def expire_if_due(engine: "Engine", head: "Head", now_ms: int | None = None) -> "Head":
    """The head of a locked thread, after a question whose time has passed has expired. Everyone
    who may act on a thread calls it first.
    """
    asked = head.state.suspension
    expires = None if asked is None or head.state.attempt is not None else asked.expires
    now_ms = engine.now_ms() if now_ms is None else now_ms
    if asked is None or expires is None or now_ms < expires["deadline"]:
        return head
    if head.is_queued and _has_answer(engine, head):
        return head
    from uwf_core.engine.failed_step import follow_failure  # few questions expire
    from uwf_core.thread.expiry import after_expiry

    fields = {"question": asked.question, "role": asked.role, "deadline": expires["deadline"]}
    with engine.store.batch():
        to = after_expiry(asked)
        head = save_event(engine, head, "expired", **fields, atMs=now_ms, next=to)
        return follow_failure(engine, head, now_ms, expires["status"] or FAILED)


def _has_answer(engine: "Engine", head: "Head") -> bool:
    """Whether a person has answered in time, and a worker has the answer."""
    from uwf_core.engine.dispatching import dispatch_backend

    row = dispatch_backend(engine).row(head.thread)
    if row is None or row.said is None or row.seq != head.state.seq:
        return False
    return bool(json.loads(row.said)["kind"] == "resume")


def check_in_time(engine: "Engine", head: "Head", said: str, *, is_answer: bool) -> None:
    """Check that an answer does not come after the end of its question.

    Args:
        head: of a locked thread, after `expire_if_due`. said: the answer, or a text that may
            be one.

    Raises:
        WrongStateError: it does; the message keeps the text.
    """
    expired = _newest_expired(engine, head)
    if expired is None:
        return
    is_resumable = head.state.status in ("suspended", "completed")
    if is_resumable and not is_answer and expired["seq"] != head.state.seq - 1:
        return  # the thread has continued since, and this text is for what it does now
    from uwf_core.api.moments import date_text  # for the error alone

    ask_again = f"to have the question asked again: uwf thread poke {head.thread} -p TEXT"
    if head.state.suspension is not None:
        ask_again = f"to have it asked again: uwf thread exec {head.thread}"
    raise WrongStateError(
        f"the question of {expired['role']} in thread {head.thread} expired at "
        f"{date_text(expired['deadline'])}; this answer was not used: {engine.redactor.text(said)}",
        hint=ask_again,
    )


def _newest_expired(engine: "Engine", head: "Head") -> "ExpiredPayload | None":
    """The event of the question that has expired last, if none was asked since."""
    for variable in reversed(engine.store.variables(events_prefix(ThreadId(head.thread)))):
        kind = event_kind(variable.name)
        if kind == "expired":
            payload: ExpiredPayload = engine.store.get(Ref(variable.value)).payload
            return payload
        if kind == "asked":
            return None
    return None
