"""Both ends of a call: what a step records of the threads that it called, and whether these record
the same.
"""

from collections.abc import Mapping, Sequence
from itertools import repeat
from typing import TYPE_CHECKING, Any, NamedTuple

from uwf_core.ids import Ref
from uwf_core.thread.calls import CALL_AGENT, STARTED, is_open
from uwf_core.thread.decisions import call_of, session_of
from uwf_core.thread.history import newest_first
from uwf_core.thread.names import CALLS

if TYPE_CHECKING:
    from uwf_core.cas.store import Store
    from uwf_core.thread.head import Head


class CalledThread(NamedTuple):
    """A thread that a step called.

    Attributes:
        thread, role: the thread, and the role that it plays.
        end: its last step in this call, or its start; None for a call that did not end.
        status: of a branch that has ended. place, name: of a branch.
    """

    thread: str
    role: str
    end: str | None = None
    status: str | None = None
    place: int | None = None
    name: str | None = None

    @property
    def key(self) -> str | None:
        """Of a branch: its name, or its number in the list; None for other calls."""
        return self.name if self.place is None or self.name is not None else str(self.place)


def threads_called(step: Mapping[str, Any]) -> list[CalledThread]:
    """The threads that the step of a call names; of a fan-out in the order of the branches."""
    call = call_of(step)
    branches, ends = call["branches"], call["children"]
    if step["agent"] != CALL_AGENT:
        return []
    if branches is None:
        return [CalledThread(session_of(step)["id"] or "", step["role"], call["child"])]
    return [
        CalledThread(each["thread"], each["role"], end, each["status"], place, each["name"])
        for place, (each, end) in enumerate(zip(branches, ends or repeat(None), strict=False))
    ]


Recorded = Mapping[int, Sequence[CalledThread]]
"""The threads that the steps of a thread called, by the number of the step."""


def recorded_calls(store: "Store", head: "Head") -> Recorded:
    """What the steps of a thread record of those that it called."""
    steps = newest_first(store, head.ref, Ref(head.state.start))
    return {
        step.payload["number"]: threads_called(step.payload)
        for step in steps
        if step.payload["agent"] == CALL_AGENT
    }


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


def _branch_problem(
    called: Any, child: "Head", parent: "Head", calls: Sequence[CalledThread]
) -> str | None:
    """What is wrong with the record of a branch in the step of its fan-out."""
    place = called["index"]
    step = f"step {called['number']} of thread {parent.thread}"
    if place >= len(calls):
        return f"it is branch {place}, but {step} records {len(calls)} branches"
    is_cancelled = child.state.status == "cancelled"
    own = {"name": called["branch"], "role": called["plays"], "thread": str(child.thread)}
    found = calls[place]
    wrong = [key for key, value in own.items() if getattr(found, key) != value]
    wrong += ["status"] * ((found.status == "$cancelled") != is_cancelled)
    wrong += ["last step"] * (found.end != child.ref)
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
    if is_cancelled or (calls is not None and child.ref in [each.end for each in calls]):
        return None
    return (
        f"its call is not open, and step {caller.number} of thread {parent.thread} does not record "
        f"its last step {child.ref}"
    )
