"""The turns inside steps, also those of the running step."""

import time
from collections.abc import Iterable, Iterator
from itertools import chain
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from uwf_core.engine.documents import TurnDocument
    from uwf_core.thread.decisions import OpenAttempt
    from uwf_core.views.recorded import RecordedThread
    from uwf_core.views.recorded_step import RecordedStep, RecordedTurn

POLL_SECONDS = 0.2


def list_turns(
    thread: "RecordedThread", role: str | None = None, *, running: bool = False
) -> "list[TurnDocument]":
    """All turns of a thread in order, or those of one role. Those of failed attempts come before
    those of the attempt that became the step. `running`: only those of the running step.
    """
    stored = () if running else _stored_turns(thread)
    return list(_of_role(chain(stored, _open_turns(thread)), role))


def follow_turns(thread: "RecordedThread", role: str | None = None) -> "Iterator[TurnDocument]":
    """All turns so far, then those of the running step as they arrive, until that step ends.

    A turn that changes (the result of a tool arrives) is repeated with the same `index`.
    """
    while thread.state.attempt is None and thread.holder is not None:
        time.sleep(POLL_SECONDS / 4)  # a run begins, and has not opened its attempt
        thread = thread.again()
    first = thread.state.attempt
    yield from _of_role(_stored_turns(thread), role)
    seen: dict[int, str] = {}
    while first is not None:
        thread = thread.again()
        is_same = thread.state.attempt == first
        step = None if is_same else thread.result_of(first)
        for turn in thread.open_turns if is_same else step.turns if step is not None else ():
            if seen.get(turn.index) != turn.ref:
                seen[turn.index] = turn.ref
                yield from _of_role([turn_document(turn, first, step)], role)
        if not is_same or thread.holder is None:
            return
        time.sleep(POLL_SECONDS)


def turns_of_step(step: "RecordedStep") -> "list[TurnDocument]":
    """The turns of one step."""
    return [turn_document(turn, step, step) for turn in step.turns]


def _of_role(turns: "Iterable[TurnDocument]", role: str | None) -> "Iterator[TurnDocument]":
    return (turn for turn in turns if role is None or turn["role"] == role)


def _stored_turns(thread: "RecordedThread") -> "Iterator[TurnDocument]":
    """Those of the steps, of each after those of its failed attempts; last those of the attempts
    at the pending step.
    """
    for step in thread.steps():
        for each in (*step.attempts, step):
            yield from turns_of_step(each)
    for each in thread.pending:
        yield from turns_of_step(each)


def _open_turns(thread: "RecordedThread") -> "Iterator[TurnDocument]":
    attempt = thread.state.attempt
    if attempt is not None:
        yield from (turn_document(turn, attempt, None) for turn in thread.open_turns)


def turn_document(
    turn: "RecordedTurn", of: "RecordedStep | OpenAttempt", step: "RecordedStep | None"
) -> "TurnDocument":
    """A turn of a step or failed attempt, or (without `step`) of an open attempt."""
    return {
        **turn.shown,
        "step": None if step is None else step.ref,
        "number": of.number,
        "role": of.role,
    }
