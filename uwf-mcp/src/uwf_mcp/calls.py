"""The tools with further rules; every other one is a method of the client."""

import os
import time
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

import uwf_explain
from uwf_core.api import decisions_of
from uwf_core.client import Cancel, Client, ExecDocument, Outcome
from uwf_core.commands import thread_filter
from uwf_core.errors import BusyError, WrongStateError

if TYPE_CHECKING:
    from uwf_core.client import InboxItem, ProblemsDocument, ThreadRow

LONGEST_WAIT_S = 50.0
"""Clients give a call 60 seconds, and many have no setting for more."""
_SLICE_SECONDS = 1.0


def list_threads(
    client: Client, offset: int, limit: int = 20, **chosen: Any
) -> "Sequence[ThreadRow]":
    """Threads up to the end of a page; one more tells whether others follow."""
    return client.list(thread_filter(**chosen, limit=offset + limit + 1))


def check(client: Client, file: str, text: str | None = None) -> "ProblemsDocument":
    """Every problem of a workflow file. A text can include files, and must not quote them."""
    if text is None:
        return client.check_workflow(file)
    return client.check_text(text, file, quote_included=False)


def wait(client: Client, cancel: Cancel, thread: str, timeout_s: float = LONGEST_WAIT_S) -> Outcome:
    """The outcome of the run of a thread, or that it still runs after this time."""
    end = time.monotonic() + min(timeout_s, LONGEST_WAIT_S)
    while True:
        left = max(end - time.monotonic(), 0.0)
        try:
            return client.wait(thread, min(left, _SLICE_SECONDS))
        except BusyError:
            if not left or cancel.is_set():
                break
    shown: Any = {**client.show(thread), "steps": []}
    document: Any = {key: shown[key] for key in ExecDocument.__annotations__}
    return Outcome(document, os.EX_TEMPFAIL)


def resume(client: Client, thread: str, **given: Any) -> Outcome:
    """Run a thread that has ended, failed or was interrupted again, with a further instruction.

    What only a person decides is rejected: answers (see `answer`), and more budget.
    """
    shown = client.show(thread)
    if shown["suspendReason"] == "limit":
        raise WrongStateError(
            f"thread {shown['thread']} has reached a limit: {shown['suspendMessage']}",
            hint=f"only a person grants more: uwf thread resume {shown['thread']}",
        )
    if shown["suspendReason"] == "role":
        raise WrongStateError(
            f"thread {shown['thread']} waits for an answer of a person",
            hint="ask your user, then call `answer` if this server has it (`uwf mcp --allow "
            f"answer`); else: uwf thread resume {shown['thread']}",
        )
    return client.resume(shown["thread"], head=shown["head"], **given)


def answer(client: Client, thread: str, **given: Any) -> Outcome:
    """Pass on what a person said to the role that waits for it, and run on."""
    item = _question(client, thread)
    return client.resume(item["thread"], head=item["head"], **given)


def _question(client: Client, word: str) -> "InboxItem":
    """The one question that a thread waits for. The permission that an agent asks for is none: a
    program that runs commands must not allow them to itself.
    """
    thread = client.show(word)["thread"]
    found = [each for each in client.inbox(thread) if each["kind"] in ("question", "message")]
    if len(found) != 1:
        several = ", ".join(f"{each['thread']} ({each['role']})" for each in found)
        raise WrongStateError(
            f"thread {thread} has no question" if not found else f"several threads wait: {several}",
            hint="`show` has its status" if not found else "answer one of them",
        )
    item = found[0]
    form = item["form"]
    if form is not None and (decisions_of(form) or not client.asks_person(item["thread"])):
        raise WrongStateError(
            f"thread {item['thread']} waits because the agent of role {item['role']} asks for a "
            "permission or another choice, which a person decides",
            hint=f"next: uwf thread show {item['thread']}",
        )
    return item


OWN: Final[Mapping[str, Callable[..., Any]]] = {
    "list": list_threads,
    "diff": uwf_explain.diff,
    "check": check,
    "wait": wait,
    "resume": resume,
    "answer": answer,
}
