"""Both ends of a call: whether a thread and the one that called it record the same."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from uwf_core.ids import Ref
from uwf_core.thread.calls import STARTED, is_open
from uwf_core.thread.history import newest_first
from uwf_core.thread.names import CALLS

if TYPE_CHECKING:
    from uwf_core.cas.store import Store
    from uwf_core.thread.head import Head

Recorded = Mapping[int, frozenset[str]]
"""The last steps of called threads, by the number of the step that records them."""


def recorded_calls(store: "Store", head: "Head") -> Recorded:
    """What the steps of a thread record of those that it called."""
    found: dict[int, frozenset[str]] = {}
    for step in newest_first(store, head.ref, Ref(head.state.start)):
        child, children = step.payload["child"], step.payload["children"]
        if child is not None or children is not None:
            found[step.payload["number"]] = frozenset(filter(None, (child, *(children or ()))))
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
    if state.status == "cancelled" or child.ref in recorded.get(caller.number, ()):
        return None
    return (
        f"its call is not open, and step {caller.number} of thread {parent.thread} does not record "
        f"its last step {child.ref}"
    )
