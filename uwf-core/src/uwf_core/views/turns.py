"""The turns inside steps, also those of the running step."""

import time
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from uwf_core.engine.find import find_thread
from uwf_core.ids import Ref
from uwf_core.thread.head import Head, read_head
from uwf_core.thread.history import Step, failed_steps, newest_first, read_step
from uwf_core.thread.lock import holder_of
from uwf_core.thread.names import attempt_name, turns_prefix
from uwf_core.thread.state import OpenAttempt
from uwf_core.thread.types import DetailPayload, TurnPayload

if TYPE_CHECKING:
    from uwf_core.cas.store import Store
    from uwf_core.engine.documents import TurnDocument
    from uwf_core.engine.engine import Engine

    _Seen = tuple[int, str, TurnDocument]

POLL_SECONDS = 0.2


def list_turns(engine: "Engine", word: str, role: str | None = None) -> "list[TurnDocument]":
    """All turns of a thread in order, or those of one role. Those of failed attempts come before
    those of the attempt that became the step.
    """
    thread = find_thread(engine, word)
    head = read_head(engine.store, thread)
    return list(_wanted(_all_turns(engine, head), role))


def follow_turns(engine: "Engine", word: str, role: str | None = None) -> "Iterator[TurnDocument]":
    """All turns so far, then those of the running step as they arrive, until that step ends.

    A turn that changes (the result of a tool arrives) is repeated with the same `index`.
    """
    thread = find_thread(engine, word)
    head = read_head(engine.store, thread)
    first = head.state.attempt
    yield from _wanted(_stored_turns(engine, head), role)
    seen: dict[int, str] = {}
    while first is not None:
        is_running = holder_of(engine.store, thread) is not None
        head = read_head(engine.store, thread)
        is_same = head.state.attempt == first
        turns = _open_turns(engine, head, first) if is_same else _ended_turns(engine, head, first)
        for index, ref, turn in turns:
            if seen.get(index) != ref:
                seen[index] = ref
                yield from _wanted([turn], role)
        if not is_same or not is_running:
            return
        time.sleep(POLL_SECONDS)


def turns_of_step(engine: "Engine", step: Step) -> "list[TurnDocument]":
    """The turns of one step."""
    detail: DetailPayload = engine.store.get(Ref(step.payload["detail"])).payload
    payload = step.payload
    return [
        _turn(engine, Ref(ref), step.ref, payload["number"], payload["role"])
        for ref in detail["turns"]
    ]


def _wanted(
    turns: "list[TurnDocument] | Iterator[TurnDocument]", role: str | None
) -> "Iterator[TurnDocument]":
    return (turn for turn in turns if role is None or turn["role"] == role)


def _stored_turns(engine: "Engine", head: Head) -> "Iterator[TurnDocument]":
    for step in _attempts(engine, head):
        yield from turns_of_step(engine, step)


def _attempts(engine: "Engine", head: Head) -> Iterator[Step]:
    """The steps of a thread, each after its failed attempts; last those at the pending step."""
    store = engine.store
    for step in reversed(list(newest_first(store, head.ref, Ref(head.state.start)))):
        yield from (read_step(store, Ref(each)) for each in step.payload["previousAttempts"])
        yield step
    yield from (read_step(store, each) for each in failed_steps(store, head))


def _all_turns(engine: "Engine", head: Head) -> "Iterator[TurnDocument]":
    yield from _stored_turns(engine, head)
    if head.state.attempt is not None:
        for _, _, turn in _open_turns(engine, head, head.state.attempt):
            yield turn


def _open_turns(engine: "Engine", head: Head, attempt: OpenAttempt) -> "list[_Seen]":
    return [
        (int(variable.name[-8:]), variable.value, _of_attempt(engine, variable.value, attempt))
        for variable in engine.store.variables(turns_prefix(head.thread, attempt.name))
    ]


def _ended_turns(engine: "Engine", head: Head, attempt: OpenAttempt) -> "list[_Seen]":
    """The turns of an attempt that has ended meanwhile."""
    step = _ended_step(engine.store, head, attempt)
    if step is None:
        return []
    detail: DetailPayload = engine.store.get(Ref(step.payload["detail"])).payload
    turns = turns_of_step(engine, step)
    return [(turn["index"], ref, turn) for ref, turn in zip(detail["turns"], turns, strict=True)]


def _ended_step(store: "Store", head: Head, attempt: OpenAttempt) -> Step | None:
    """The failed attempt, else the step; None if it ended with a question."""
    failed = store.variable(attempt_name(head.thread, attempt.name))
    if failed is not None:
        ref = store.get(Ref(failed.value)).payload["step"]
        return None if ref is None else read_step(store, Ref(ref))
    steps = newest_first(store, head.ref, Ref(head.state.start))
    return next((step for step in steps if step.payload["number"] == attempt.number), None)


def _of_attempt(engine: "Engine", ref: str, attempt: OpenAttempt) -> "TurnDocument":
    return _turn(engine, Ref(ref), None, attempt.number, attempt.role)


def _turn(engine: "Engine", ref: Ref, step: str | None, number: int, role: str) -> "TurnDocument":
    store = engine.store
    payload: TurnPayload = store.get(ref).payload
    calls: list[dict[str, Any]] = [
        {**call, "result": None if call["result"] is None else store.text(Ref(call["result"]))}
        for call in payload["toolCalls"]
    ]
    reasoning = payload["reasoning"]
    return {
        "step": step,
        "number": number,
        "role": role,
        "index": payload["index"],
        "speaker": payload["role"],
        "text": store.text(Ref(payload["text"])),
        "reasoning": None if reasoning is None else store.text(Ref(reasoning)),
        "toolCalls": calls,
        "usage": payload["usage"],
    }
