"""Called threads that have failed, where the failure leads somewhere in their caller: they are
closed, and their caller continues.
"""

from typing import TYPE_CHECKING

from uwf_core.engine.events import save_event
from uwf_core.ids import Ref
from uwf_core.thread.calls import calling_heads, open_below, open_calls
from uwf_core.thread.decisions import cancels
from uwf_core.thread.failed import failed_output
from uwf_core.thread.head import read_head
from uwf_core.thread.names import FINISHED
from uwf_core.workflow.definition import FAILED

if TYPE_CHECKING:
    from collections.abc import Sequence

    from uwf_core.cas.store import Store
    from uwf_core.engine.engine import Engine
    from uwf_core.ids import ThreadId
    from uwf_core.thread.calls import OpenCall
    from uwf_core.thread.decisions import Suspension
    from uwf_core.thread.head import Head
    from uwf_core.workflow.definition import Definition, Role


def leads_on(definition: "Definition", role: "Role") -> bool:
    """Whether a failure of the threads that play a role leads somewhere."""
    return role.fan_out is None and FAILED in definition.graph.get(role.name, {})


def failure_below(store: "Store", child: "Head") -> "Suspension | None":
    """The failure after which a called thread waits, in itself or in all below that has not ended;
    None if it does not wait for one that can lead somewhere.
    """
    state = child.state
    if state.attempt is not None:
        return None
    calls = open_calls(store, child.thread)
    if not calls:
        return None if failed_output(state, FAILED) is None else state.suspension
    below = [read_head(store, call.child) for call in calls]
    found = [failure_below(store, each) for each in below if each.state.status not in FINISHED]
    return found[0] if found and None not in found else None


def has_ended(store: "Store", child: "Head", *, gives_up: bool) -> bool:
    """Whether the result of a called thread can be recorded. `gives_up`: also a failure of it."""
    if child.state.status in FINISHED:
        return child.state.attempt is None
    return gives_up and failure_below(store, child) is not None


def is_given_up(engine: "Engine", child: "Head") -> bool:
    """Whether a called thread has failed, and the failure leads somewhere in a thread above it."""
    below = child.state
    if below.caller is None or failure_below(engine.store, child) is None:
        return False
    for above in calling_heads(engine.store, below):
        definition = engine.definition(Ref(above.state.workflow))
        role = definition.roles.get(below.caller.role if below.caller else "")
        if role is not None and leads_on(definition, role):
            return True
        below = above.state
    return False


def to_lock(store: "Store", calls: "Sequence[OpenCall]", *, gives_up: bool) -> "list[ThreadId]":
    """The threads to lock before a result is recorded: a failed one is closed with those below."""
    threads = [call.child for call in calls]
    return [*threads, *(open_below(store, threads[0]) if gives_up else ())]


def close(engine: "Engine", child: "Head") -> "Head":
    """The head of a called thread that is closed with all that it called. Within a transaction."""
    for each in open_below(engine.store, child.thread):
        head = read_head(engine.store, each)
        if head.state.status not in FINISHED:
            save_event(engine, head, "cancelled", cause="parent", next=cancels())
    return save_event(engine, child, "cancelled", cause="parent", next=cancels())
