"""The place of a step in a whole tree: its number for people who follow a run (`2.1`, `2.style`),
and the calls that lead to it.
"""

from typing import TYPE_CHECKING, Any

from uwf_core.ids import Ref
from uwf_core.thread.calls import STARTED, caller_of
from uwf_core.thread.head import read_head

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from uwf_core.engine.context import Attempt, Run
    from uwf_core.engine.engine import Engine
    from uwf_core.thread.calls import OpenCall
    from uwf_core.thread.state import ThreadState
    from uwf_core.thread.types import CalledPayload
    from uwf_core.workflow.definition import Role


def label_of(engine: "Engine", state: "ThreadState", number: int) -> str:
    """The numbers of the steps that lead to a step of a thread, and of the branches among them, the
    root's first (see `StepStarted.label`). A branch of one role adds no number.

    A thread that an agent has started is the root of its run.
    """
    found = [] if engine.definition(Ref(state.workflow)).branch else [str(number)]
    for _event, called in _calls(engine, state):
        name = called["index"] if called["branch"] is None else called["branch"]
        step = str(called["number"])
        found.append(step if name is None else f"{step}.{name}")
    return ".".join(reversed(found))


def callers_of(engine: "Engine", state: "ThreadState") -> tuple[str, ...]:
    """The root thread, and the calls that lead from it to a thread (see `StepStarted.callers`)."""
    calls = list(_calls(engine, state))
    if not calls:
        return ()
    return calls[-1][1]["parent"], *(event for event, _called in reversed(calls))


def _calls(engine: "Engine", state: "ThreadState") -> "Iterator[tuple[str, CalledPayload]]":
    """The calls that led to a thread, the nearest first, as far as the threads exist."""
    while state.caller is not None:
        event = state.caller.event
        called: CalledPayload = engine.store.payload(Ref(event))
        if called["purpose"] == STARTED:
            return
        yield event, called
        above = caller_of(engine.store, state)
        if above is None:
            return
        state = above.state


def event_fields(engine: "Engine", attempt: "Attempt") -> dict[str, Any]:
    """What every event of an attempt names. Its time is that of its end, if it has ended; `label`
    is its number in the whole tree, empty in a thread that was not called.
    """
    payload, caller = attempt.payload, attempt.head.state.caller
    number = payload["number"]
    return {
        "thread": payload["thread"],
        "number": number,
        "role": payload["role"],
        "agent": payload["agent"],
        "at_ms": attempt.ended_ms or payload["startedAtMs"],
        "label": "" if caller is None else label_of(engine, attempt.head.state, number),
    }


def note(run: "Run", attempt: "Attempt", text: str) -> None:
    """Keep a notice with the step, and report it now."""
    if text not in attempt.notices:
        attempt.notices.append(text)
        number = event_fields(run.engine, attempt)["label"] or attempt.payload["number"]
        run.watch.notice(f"#{number} {attempt.payload['role']}: {text}")


def announce_calls(run: "Run", role: "Role", calls: "Sequence[OpenCall]", most: int) -> None:
    """One line for a call, or for all branches, whose events have labels; `most` of them run at a
    time.
    """
    fan_out = role.fan_out
    if fan_out is None:
        called = read_head(run.engine.store, calls[0].child).state.workflow_name
        text = f"calls {called}, thread {calls[0].child}"
    else:
        text = f"{len(calls)} branch{'' if len(calls) == 1 else 'es'}"
        if fan_out.parallel is None:
            text += f" of {fan_out.role}"
        else:
            text += f": {', '.join(call.name or '' for call in calls)}"
        if len(calls) > most:
            text += f"; at most {most} at a time"
    label = label_of(run.engine, run.head.state, calls[0].number)
    run.watch.notice(f"#{label} {role.name}: {text}")
