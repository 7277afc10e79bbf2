"""Who may answer a question, and who has answered it already."""

from collections.abc import Mapping
from itertools import islice
from typing import TYPE_CHECKING, Any

from uwf_core.engine.expiry import HUMAN
from uwf_core.engine.plan import last_attempt
from uwf_core.errors import UsageError, WrongStateError
from uwf_core.ids import Ref
from uwf_core.thread.history import newest_first
from uwf_core.threads.agent_call import VARIABLE

if TYPE_CHECKING:
    from uwf_core.engine.engine import Engine
    from uwf_core.thread.head import Head
    from uwf_core.thread.types import AskedForPayload

_STEPS_BACK = 100
"""How many steps back to look for who answered."""


def check_person(engine: "Engine", head: "Head") -> None:
    """Check that the answer to a person's role does not come from below an agent. A guard against
    accidents: an agent with the rights of the user can unset the variable.

    Raises:
        WrongStateError: it does.
    """
    marker = engine.env.get(VARIABLE)
    if not marker:
        return
    if asks_person(engine, head):
        raise WrongStateError(
            f"thread {head.thread} waits for a person, and this command runs below an agent "
            f"({VARIABLE}={marker})",
            hint=f"a person answers it: uwf thread show {head.thread}",
        )


def asks_person(engine: "Engine", head: "Head") -> bool:
    """Whether a thread waits for a role that a person plays, not for what an agent asks."""
    asked = last_attempt(engine.store, head)
    return asked is not None and engine.store.payload(Ref(asked.value))["agent"] == HUMAN


def check_replied(
    head: "Head",
    form: Mapping[str, Any] | None,
    text: str | None,
    answer: str | None,
    *,
    without_answer: bool,
) -> None:
    """Check that a role that asks gets an answer, or that a person explicitly gives none.

    Args:
        head: of the thread that waits. form: of the answer; None: it is a text.
        text, answer, without_answer: what the person says.

    Raises:
        WrongStateError: it is missing, or not the one that was asked for.
        UsageError: an answer and none at the same time.
    """
    waits, thread = head.state.suspension, head.thread
    resume = f"next: uwf thread resume {thread}"
    is_said = answer is not None or any(
        letter.isprintable() and not letter.isspace() for letter in text or ""
    )
    if waits is None or waits.reason != "role":
        if without_answer:
            raise WrongStateError(f"thread {thread} has no pending question", hint=resume)
        return
    if without_answer and is_said:
        raise UsageError(
            "an answer and --without-answer cannot be combined", hint="give one of them"
        )
    if without_answer and form is None:
        return
    if answer is None and waits.question is not None:
        said = "--without-answer" if without_answer else "-p alone" if text else ""
        raise WrongStateError(
            f"thread {thread} expects --answer" + (f"; {said} is not one" if said else ""),
            hint=f"`uwf thread show {thread}` prints the form; {resume} --answer field=value",
        )
    if not is_said:
        other = "--answer field=value" if form is not None else "--without-answer"
        raise WrongStateError(
            f"thread {thread} waits for an answer: {waits.role} asks a person",
            hint=f"{resume} -p TEXT; or: uwf thread resume {thread} {other}",
        )


def check_unanswered(engine: "Engine", head: "Head") -> None:
    """Check that the question to which an answer belongs is pending. Of two answers the first wins.

    Raises:
        WrongStateError: a person has answered; the message has the name.
    """
    waits, opened = head.state.suspension, head.state.attempt
    if waits is not None and waits.question is not None and opened is None:
        return
    answered = _answered(engine, head)
    if answered is not None:
        by, where = answered
        raise WrongStateError(
            f"thread {head.thread} has no pending question: {by['user']} on {by['host']} has "
            f"answered it ({where})",
            hint=f"next: uwf thread show {head.thread}",
        )


def _answered(engine: "Engine", head: "Head") -> tuple[Any, str] | None:
    """The person that answered last, and where that is stored; None if nobody has."""
    store, attempt = engine.store, last_attempt(engine.store, head)
    if attempt is not None:
        payload = store.payload(Ref(attempt.value))
        if (by := _answerer(payload["attempt"])) is not None:
            return by, f"step {payload['number']}"
    for step in islice(newest_first(store, head.ref, Ref(head.state.start)), _STEPS_BACK):
        if (by := _answerer(step.payload["attempt"])) is not None:
            return by, f"step {step.ref}"
    return None


def _answerer(asked: "AskedForPayload") -> Any:
    return None if asked["answer"] is None else asked["by"]
