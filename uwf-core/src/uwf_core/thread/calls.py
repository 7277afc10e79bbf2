"""The open calls of a thread, and the state of a thread as those below and above it show it.

A thread stores nothing about an open call but its name: everything else is derived from the called
thread.
"""

from typing import TYPE_CHECKING, Any, Final, NamedTuple

from uwf_core.errors import CorruptNodeError, UnknownIdError, WrongStateError
from uwf_core.ids import ThreadId
from uwf_core.thread.head import PARENT, Head, read_head
from uwf_core.thread.lifecycle import effective
from uwf_core.thread.lock import holder_of
from uwf_core.thread.names import CALLS, FINISHED, HEADS, call_name, calls_prefix

if TYPE_CHECKING:
    from uwf_core.api.store import Variable
    from uwf_core.cas.store import Store
    from uwf_core.cas.variables import VariableStore
    from uwf_core.thread.decisions import Suspension
    from uwf_core.thread.history import Step
    from uwf_core.thread.state import ThreadState
    from uwf_core.workflow.definition import Definition


CALL_AGENT = "workflow"
"""The agent that the step of a call records; its session is the called thread."""


class OpenCall(NamedTuple):
    """A call in progress.

    Attributes:
        variable: its name, which refers to its event.
        number: of the step that it will be. role: of that step. child: the called thread.
        attempt: that of the agent that called it; None if a workflow plays the role.
        place, name: of a branch.
    """

    variable: "Variable"
    number: int
    role: str
    child: ThreadId
    attempt: str | None = None
    place: int = 0
    name: str | None = None


class NewCall(NamedTuple):
    """A call to begin.

    Attributes:
        plays: the role that the called thread plays. definition: of its workflow.
        base, instruction: the prompt of the edge, without and with the text of a person.
        cwd: its folder. given: the output or item of which its input is a part.
        limits: of this call.
        earlier: the thread that continues, or a step at which a new one forks; else None.
        place, name: of a branch. commit: at which its worktree begins; None without one.
    """

    plays: str
    definition: "Definition"
    base: str
    instruction: str
    cwd: str
    given: Any
    limits: dict[str, float] | None
    earlier: "Head | Step | None"
    place: int | None = None
    name: str | None = None
    commit: str | None = None


STARTED: Final = "start"
"""The purpose of a call that the agent of an attempt has made: a step waits for no result of it."""


def open_calls(store: "Store", thread: ThreadId) -> list[OpenCall]:
    """The calls of a thread in progress for which its next step waits, in the order of its steps.

    Those that an agent has made belong to its attempt: see `started_by`.
    """
    calls = [call for call in calls_of(store, thread) if call.attempt is None]
    return calls if len(calls) < 2 else sorted(calls, key=lambda call: call.place)


def calls_of(store: "Store", thread: ThreadId) -> list[OpenCall]:
    """The open calls of a thread, with those that the agent of its attempt has made."""
    return [_open_call(store, variable) for variable in store.variables(calls_prefix(thread))]


def started_by(store: "Store", thread: ThreadId, attempt: str) -> list[OpenCall]:
    """The threads that the agent of an attempt (`<number>.<try>`) has started."""
    found = store.variables(f"{calls_prefix(thread)}{attempt}/")
    return [_open_call(store, variable) for variable in found]


def _open_call(store: "Store", variable: "Variable") -> OpenCall:
    number, child = variable.name.split("/")[-2:]
    called = store.payload(variable.value)
    attempt = number if "." in number else None
    step, place = int(number.partition(".")[0]), called["index"] or 0
    branch = place, called["branch"]
    return OpenCall(variable, step, called["role"], ThreadId(child), attempt, *branch)


def head_at_call(store: "Store", head: Head) -> Head:
    """The head of a thread as its open call shows it: idle, at the role that calls."""
    calls = open_calls(store, head.thread) if head.state.status != "cancelled" else []
    return head if not calls else head._replace(state=at_call(head.state, calls[0].role))


def is_fan_out(role: str) -> bool:
    """Whether a role of a thread is that of a fan-out, by its name."""
    return "/" in role


def at_call(state: "ThreadState", role: str) -> "ThreadState":
    """The state of a thread during a call of a role, whatever its newest step decided."""
    return state._replace(status="idle", current_role=role, suspension=None, wait=None)


def children_of(store: "Store", thread: str) -> list[ThreadId]:
    """The threads that a thread called last, oldest first, whether they have ended or not."""
    rows = store.rows(HEADS, tags={PARENT: (thread,)})
    return [ThreadId(row.name.removeprefix(HEADS)) for row in rows]


class Frame(NamedTuple):
    """A thread of a stack of calls: the role that it is at, and the number of that step; None if
    nothing is left to run. `branches`: those of an open fan-out.
    """

    thread: ThreadId
    workflow_name: str
    role: str | None
    step: int | None
    branches: "list[OpenCall] | None" = None


def stack_of(store: "Store", head: Head) -> list[Frame]:
    """A thread, and those below it in open calls; ends at a fan-out."""
    found: list[Frame] = []
    while True:
        calls = open_calls(store, head.thread)
        frame = _frame(head, calls[0] if calls else None)
        if calls and is_fan_out(calls[0].role):
            return [*found, frame._replace(branches=calls)]
        found.append(frame)
        if not calls:
            return found
        try:
            head = read_head(store, calls[0].child)
        except (UnknownIdError, CorruptNodeError):  # exec reports it
            return [*found, Frame(calls[0].child, "", None, None)]


def _frame(head: Head, call: OpenCall | None) -> Frame:
    state = head.state
    if call is not None:
        return Frame(head.thread, state.workflow_name, call.role, call.number)
    if state.attempt is not None:
        role, number = state.attempt.role, state.attempt.number
        return Frame(head.thread, state.workflow_name, role, number)
    waiting = state.suspension.role if state.suspension is not None else None
    role_now = state.current_role or waiting or None
    number_now = None if role_now is None else state.steps + 1
    return Frame(head.thread, state.workflow_name, role_now, number_now)


class LastCalled(NamedTuple):
    """A thread that a role called; its state as it is shown, None if it cannot be read."""

    thread: ThreadId
    role: str
    state: "ThreadState | None"


def called_by(store: "Store", state: "ThreadState") -> list[LastCalled]:
    """The thread that each role called last, and those that the agent of the open attempt started,
    oldest first.
    """
    found = {call.child: call.role for call in calls_of(store, ThreadId(state.thread))}
    if any(is_fan_out(name) for name in state.roles):  # the step keeps no session of an item
        for child in children_of(store, state.thread):
            caller = read_head(store, child).state.caller
            found.setdefault(child, caller.role if caller else "")
    for name, role in state.roles.items():
        session = role.sessions.get(CALL_AGENT)
        if session is not None and not session.inherited and ThreadId.matches(session.id):
            found[ThreadId(session.id)] = name
    return [LastCalled(each, found[each], state_below(store, each)) for each in sorted(found)]


def threads_in_calls(store: "VariableStore") -> frozenset[str]:
    """All threads that are part of an open call, as caller or called. Reads names alone, also of
    damaged rows.
    """
    rows = store.rows(CALLS)
    return frozenset(each for row in rows for each in row.name.split("/")[2::2])


def descendants_of(store: "Store", thread: str) -> list[ThreadId]:
    """The threads that a thread called, and those that they called; each after its caller."""
    found = children_of(store, thread)
    for child in found:  # grows
        found += [each for each in children_of(store, child) if each not in found]
    return found


def open_below(store: "Store", thread: ThreadId) -> list[ThreadId]:
    """The threads of the open calls of a thread, and of those below; each after its caller."""
    found = [call.child for call in calls_of(store, thread)]
    for child in found:  # grows
        found += [call.child for call in calls_of(store, child)]
    return found


def calling_heads(store: "Store", state: "ThreadState") -> list[Head]:
    """The heads of the threads whose open calls a thread belongs to, the nearest first."""
    found: list[Head] = []
    while state.caller is not None and is_open(store, state):
        head = caller_of(store, state)
        if head is None:
            break
        found.append(head)
        state = head.state
    return found


def caller_of(store: "Store", state: "ThreadState") -> Head | None:
    """The head of the thread that called one last; None if it is gone, or of another store. One
    that is not above it is damaged: a walk would never end.
    """
    assert state.caller is not None
    try:
        head = read_head(store, ThreadId(state.caller.thread))
    except UnknownIdError:
        return None
    return head if head.state.depth < state.depth else None


def is_open(store: "Store", state: "ThreadState") -> bool:
    """Whether the newest call of a thread has not been recorded."""
    caller = state.caller
    assert caller is not None
    if store.variables(call_name(caller.thread, caller.number, state.thread)):
        return True
    started = store.variables(calls_prefix(ThreadId(caller.thread)))  # by an agent, perhaps
    return any(each.name.endswith(f"/{state.thread}") for each in started)


def is_recorded(store: "Store", state: "ThreadState") -> bool:
    """Whether a step of the calling thread has recorded how the newest call of a thread ended."""
    caller = state.caller
    assert caller is not None
    return store.payload(caller.event)["purpose"] != STARTED and not is_open(store, state)


_FIRST: Final = ("failure", "limit", "role", "interrupted")
"""Of several branches that wait, the first of these reasons is shown, then the first branch."""


def shown_state(store: "Store", state: "ThreadState") -> "ThreadState":
    """The state to show of a thread that no process runs itself (see `lifecycle.effective`).

    A thread with an open call shows the state of the called thread; below a cancelled thread
    everything counts as cancelled.
    """
    is_called = state.caller is not None and state.status not in FINISHED
    above = calling_heads(store, state) if is_called else []
    if any(head.state.status == "cancelled" for head in above):
        ended = state._replace(status="cancelled", current_role=None, suspension=None)
        return ended._replace(wait=None, attempt=None)
    if state.status in ("running", "cancelled", "corrupt") or state.attempt is not None:
        return state
    calls = open_calls(store, ThreadId(state.thread))
    if not calls:
        return state
    state, role = at_call(state, calls[0].role), calls[0].role
    below = [each for call in calls if (each := state_below(store, call.child)) is not None]
    if any(each.status == "running" for each in below):
        return state._replace(status="running")
    waiting = [each.suspension for each in below if each.suspension is not None]
    if not waiting:
        times = [each.wait for each in below if each.wait is not None]
        return state._replace(wait=min(times, key=lambda wait: wait.until_ms, default=None))
    first = min(waiting, key=lambda each: _FIRST.index(each.reason))
    return state._replace(status="suspended", suspension=first._replace(role=role))


def state_below(store: "Store", thread: ThreadId) -> "ThreadState | None":
    """The state to show of a called thread; None if it is missing or damaged: exec reports that."""
    try:
        head = read_head(store, thread)
    except (UnknownIdError, CorruptNodeError):
        return None
    is_running = holder_of(store, thread) is not None
    is_sound = head.damage is None
    return shown_state(store, effective(head.state, is_running=is_running, is_sound=is_sound))


class Waiting(NamedTuple):
    """A thread that waits for a person or an allowance, itself or in an open call below."""

    head: Head
    suspension: "Suspension"


def waiting_below(store: "Store", head: Head) -> list[Waiting]:
    """The threads that can be resumed: this one, or those of its open calls."""
    state = head.state
    calls = open_calls(store, head.thread) if state.status != "cancelled" else []
    if calls:
        return [
            each for call in calls for each in waiting_below(store, read_head(store, call.child))
        ]
    shown = effective(state, is_running=holder_of(store, head.thread) is not None)
    return [] if shown.suspension is None else [Waiting(head, shown.suspension)]


def asks_below(store: "Store", head: Head) -> list[Waiting]:
    """Those of `waiting_below` that only a person can continue."""
    found = waiting_below(store, head)
    return [each for each in found if each.suspension.reason in ("role", "limit")]


def check_open(store: "Store", head: Head) -> None:
    """Reject a called thread whose result is recorded, or above which a thread is cancelled.

    Raises:
        WrongStateError: it can take no step any more.
    """
    state = head.state
    if state.caller is None:
        return
    fork = f"to continue from its last step in a new thread: uwf thread fork {head.ref}"
    if state.status == "completed" and is_recorded(store, state):
        redo = f"; to redo that step: uwf thread poke {state.caller.thread} -p TEXT"
        raise WrongStateError(
            f"the result of thread {head.thread} is recorded in step {state.caller.number} of "
            f"thread {state.caller.thread}",
            hint=fork if is_fan_out(state.caller.role) else fork + redo,
        )
    for above in calling_heads(store, state):
        if above.state.status == "cancelled":
            raise WrongStateError(
                f"thread {above.thread}, which called thread {head.thread}, is cancelled", hint=fork
            )


def check_no_call(store: "Store", head: Head) -> None:
    """Reject a thread with an open call, for what changes its newest step.

    Raises:
        WrongStateError: it has one.
    """
    names = ", ".join(call.child for call in open_calls(store, head.thread))
    if names:
        raise WrongStateError(
            f"thread {head.thread} has an open call: {names}",
            hint=f"next: uwf thread show {names.partition(',')[0]}",
        )


def check_entered(head: Head) -> None:
    """Reject a thread that has taken no step since it was called again: the caller has recorded the
    result of its newest step.

    Raises:
        WrongStateError: it is one.
    """
    if head.state.is_entered and not head.at_start:
        raise WrongStateError(
            f"thread {head.thread} has taken no step in its newest call; the one before is "
            "recorded",
            hint=f"next: uwf thread exec {head.thread}",
        )
