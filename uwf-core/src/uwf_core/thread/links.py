"""Both ends of a call: whether a thread and the one that called it record the same."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from uwf_core.ids import Ref
from uwf_core.thread.calls import STARTED, is_open
from uwf_core.thread.decisions import call_of
from uwf_core.thread.history import newest_first
from uwf_core.thread.names import CALLS

if TYPE_CHECKING:
    from uwf_core.cas.store import Store
    from uwf_core.thread.head import Head
    from uwf_core.thread.types import BranchPayload


class RecordedCalls(NamedTuple):
    """What a step records of the threads that it called: their last steps, and its branches."""

    ends: "Sequence[str]"
    branches: "Sequence[BranchPayload] | None"


Recorded = Mapping[int, RecordedCalls]
"""By the number of the step."""


def recorded_calls(store: "Store", head: "Head") -> Recorded:
    """What the steps of a thread record of those that it called."""
    found: dict[int, RecordedCalls] = {}
    for step in newest_first(store, head.ref, Ref(head.state.start)):
        call = call_of(step.payload)
        child, children = call["child"], call["children"]
        if child is not None or children is not None:
            ends = [child] if child is not None else children or []
            found[step.payload["number"]] = RecordedCalls(ends, call["branches"])
    return found


def name_problem(name: str, event: str, called: Any, child: "Head | None") -> str | None:
    """What is wrong with the name of an open call; None if it agrees with the called thread.

    Args:
        name: the name. event: the node that it refers to. called: the payload of that.
        child: the thread that it names, None if there is no such thread.
    """
    parent, _, rest = name.removeprefix(CALLS).partition("/")
    number, _, thread = rest.partition("/")
    if child is None:
        return f"the call of thread {thread} is open, but that thread has no head"
    caller = child.state.caller
    if caller is None or caller.event != event:
        return f"thread {thread} has another newest call"
    step = number.partition(".")[0]
    is_named = step.isdecimal() and int(step) == caller.number and caller.thread == parent
    if not is_named or ("." in number) != (called["purpose"] == STARTED):
        return f"the call is of step {caller.number} of thread {caller.thread}"
    return None


def _branch_problem(called: Any, child: "Head", parent: "Head", calls: RecordedCalls) -> str | None:
    """What is wrong with the record of a branch in the step of its fan-out."""
    place, branches = called["index"], calls.branches or ()
    step = f"step {called['number']} of thread {parent.thread}"
    if place >= len(branches):
        return f"it is branch {place}, but {step} records {len(branches)} branches"
    is_cancelled = child.state.status == "cancelled"
    own = {"name": called["branch"], "role": called["plays"], "thread": str(child.thread)}
    found: Mapping[str, Any] = branches[place]
    wrong = [key for key, value in own.items() if found[key] != value]
    wrong += ["status"] * ((found["status"] == "$cancelled") != is_cancelled)
    wrong += ["last step"] * (calls.ends[place] != child.ref)
    if not wrong:
        return None
    return f"{step} records another {', '.join(wrong)} of branch {place}"


def result_problem(store: "Store", child: "Head", parent: "Head", recorded: Recorded) -> str | None:
    """What is wrong with the record of a thread's newest call; None if both threads agree.

    Args:
        store: where they are.
        child: the called thread. parent: the one that called it.
        recorded: what the steps of that record.
    """
    state, caller = child.state, child.state.caller
    assert caller is not None
    called = store.payload(caller.event)
    if called["purpose"] == STARTED:  # no step waits for its result
        return None
    if is_open(store, state):
        if called["parentHead"] == parent.ref:
            return None
        return f"its call is open, but thread {parent.thread} has moved since"
    calls = recorded.get(caller.number)
    if called["index"] is not None and calls is not None:
        return _branch_problem(called, child, parent, calls)
    is_cancelled = state.status == "cancelled" and called["index"] is None
    if is_cancelled or (calls is not None and child.ref in calls.ends):
        return None
    return (
        f"its call is not open, and step {caller.number} of thread {parent.thread} does not record "
        f"its last step {child.ref}"
    )
