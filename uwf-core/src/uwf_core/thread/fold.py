"""The state of a thread after its events: a pure fold over what is stored.

An event contains its decisions (its `next`, whether the session is kept), so `fold` needs no
workflow, no clock and no configuration.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, Final

from uwf_core.api.sums import ReservePayload, add_usage, larger, reserve_of
from uwf_core.errors import CorruptNodeError
from uwf_core.ids import ThreadId
from uwf_core.thread.decisions import (
    Caller,
    Event,
    OpenAttempt,
    Substitute,
    Suspension,
    Wait,
    Worktree,
    call_of,
    session_of,
    with_ancestor,
)
from uwf_core.thread.state import CALL, RoleSession, RoleState, ThreadState
from uwf_core.thread.used import used_after

if TYPE_CHECKING:
    from uwf_core.thread.types import NextPayload


def begin(event: Event, inherited: Iterable[Event] = ()) -> ThreadState:
    """The state after a thread's first event.

    Args:
        event: Started.
        inherited: the steps that a fork shares with its parent, oldest first.
    """
    payload = event.payload
    state = ThreadState(
        thread=payload["thread"],
        seq=1,
        status="idle",
        workflow=payload["workflow"],
        workflow_name=payload["workflowName"],
        start=payload["start"],
        cwd=payload["cwd"],
        started_ms=ThreadId(payload["thread"]).created_ms,
        current_role=None,
        agent=payload["agent"],
        depth=payload["depth"],
        limits=payload["limits"],
        since_ms=payload["atMs"],
    )
    for step in inherited:
        state = _inherited(state, step)
    return decided(state, payload["next"])


def fold(state: ThreadState, event: Event) -> ThreadState:
    """The state after one more event.

    Raises:
        CorruptNodeError: the event is another thread's, or not the next one of this thread.
    """
    payload = event.payload
    if payload["thread"] != state.thread or payload["seq"] != state.seq:
        raise CorruptNodeError(
            f"event {event.ref} is number {payload['seq']} of thread {payload['thread']}, where "
            f"number {state.seq} of thread {state.thread} belongs",
            hint="`uwf cas verify` names what is damaged",
        )
    if event.kind == "step" and payload["agent"] is None:
        from uwf_core.thread.failed import check_failed_step  # few failures lead somewhere

        check_failed_step(state, event)
    folded = _FOLDS[event.kind](state, event)
    # An attempt that is open has the number of the event that will end it.
    if event.kind == "attempt":
        return folded
    return folded._replace(seq=state.seq + 1, used=used_after(state.used, event))


def after_step(state: ThreadState, step: Event) -> ThreadState:
    """The state after a step, a failed attempt or a question, whichever thread it belongs to: for a
    chain whose other events may be gone.
    """
    return _FOLDS[step.kind](state, step)


def decided(state: ThreadState, to: "NextPayload") -> ThreadState:
    """The state with a decision for what is next. Exec runs a role again only after a failure."""
    status, role, waiting = to["status"], to["role"], None
    if to["reason"] is not None:
        waiting = Suspension(
            *(to["reason"], role or "", to["message"] or "", to["kind"], to["until"]),
            *(to["question"], to["expires"]),
        )
        role = role if to["reason"] in ("failure", "interrupted") else None
    until = to["notBefore"]
    wait = None if until is None else Wait(until, to["kind"], state.failures)
    since_ms = 0 if status == "completed" else state.since_ms
    state = state._replace(status=status, current_role=role, suspension=waiting, attempt=None)
    return state._replace(wait=wait, since_ms=since_ms)


def _inherited(state: ThreadState, step: Event) -> ThreadState:
    number, role = step.payload["number"], state.role(step.payload["role"])
    state = _delivered(state, role, step, inherited=True)
    return state._replace(steps=number, inherited_steps=number)


def _delivered(
    state: ThreadState, role: RoleState, step: Event, *, inherited: bool = False
) -> ThreadState:
    """Count a step of a role, unless it replaces one that is counted.

    The sessions of other agents know the replaced step, so they get the new one.
    """
    payload, number = step.payload, step.payload["number"]
    call, given, asked = payload["call"], session_of(payload), payload["attempt"]
    by_person = asked["said"] is not None or asked["answer"] is not None
    result = None if inherited or by_person else _result(payload)
    is_same = result is not None and result == role.result
    since_ms, ended_ms = state.since_ms, payload["completedAtMs"]
    if not inherited and ended_ms > since_ms:
        since_ms = ended_ms
    ms, known, agent = since_ms - state.since_ms, {**role.sessions}, payload["agent"]
    is_new = inherited or asked["replaces"] is None
    if not is_new:
        known = {
            name: each._replace(number=min(each.number, number - 1)) for name, each in known.items()
        }
    known.pop(agent, None)
    if given["id"] is not None:
        known[agent] = RoleSession(given["id"], number, inherited, given["mark"])
    role = role._replace(
        step=step.ref,
        visits=role.visits + is_new,
        sessions=known,
        elapsed_ms=role.elapsed_ms + ms,
        result=result,
        unchanged=role.unchanged + 1 if is_same else 0 if result is None else 1,
    )
    if call is not None and call["branches"]:
        from uwf_core.thread.branches import with_sessions  # not for every step

        role = with_sessions(role, payload, inherited=inherited)
    ancestors = with_ancestor(payload["ancestors"], number, str(step.ref))
    roles = {**state.roles, payload["role"]: role}
    return state._replace(ancestors=ancestors, roles=roles, since_ms=since_ms)


def _result(step: Mapping[str, Any]) -> str:
    """What a step leaves: its status and the files; without recorded files its task and output."""
    workspace = step["files"] and step["files"]["workspace"]
    tree = workspace and workspace["after"] and workspace["after"]["tree"]
    if tree is not None:
        return f"{step['status']} {tree}"
    return f"{step['attempt']['instruction']} {step['output']} {step['body']}"


def _attempt_opened(state: ThreadState, event: Event) -> ThreadState:
    payload = event.payload
    opened = OpenAttempt(
        payload["number"], payload["attempt"]["number"], payload["role"], payload["reserved"]
    )
    return state._replace(attempt=opened, wait=None)


def _called(state: ThreadState, event: Event) -> ThreadState:
    payload = event.payload
    names = payload["role"], payload["plays"]
    caller = Caller(event.ref, payload["parent"], payload["number"], state.steps, *names)
    grants = {scope: each for scope, each in state.grants.items() if scope != CALL}
    cwd = payload["cwd"] if state.worktree is None else state.cwd
    state = state._replace(
        caller=caller, cwd=cwd, grants=grants, since_ms=payload["atMs"], expired=None
    )
    return decided(state, payload["next"])


def _worktree(state: ThreadState, event: Event) -> ThreadState:
    payload = event.payload
    names = payload["folder"], payload["branch"], payload["base"], payload["origin"]
    return state._replace(worktree=Worktree(*names), cwd=payload["cwd"])


def _compacted(state: ThreadState, event: Event) -> ThreadState:
    payload = event.payload
    ms = max(payload["completedAtMs"] - payload["startedAtMs"], 0)
    return state._replace(
        compacted=event.ref,
        running_ms=state.running_ms + ms,
        totals=add_usage(state.totals, payload["usage"]),
    )


def _step(state: ThreadState, event: Event) -> ThreadState:
    payload = event.payload
    call, number, replaces = call_of(payload), payload["number"], payload["attempt"]["replaces"]
    called, is_call = call["usage"], call["child"] is not None or call["children"] is not None
    is_new = payload["failure"] is None and (replaces is None or number <= state.inherited_steps)
    # Neither a call nor the step of the engine is a step of an agent, a person or a program.
    is_leaf = not is_call and payload["agent"] is not None
    state, role = _spent(state, payload, runs=int(is_new), is_leaf=is_leaf)
    if called is not None:
        state = state._replace(called_steps=state.called_steps + called["steps"])
        sums = called["steps"], called["runningMs"], called["usage"], called["largest"]
        state, role = _with_sums(state, role, *sums)
    if call["branches"]:
        from uwf_core.thread.branches import with_usage

        state = with_usage(state, payload)
    if payload["failure"] is not None:
        from uwf_core.thread.retry import after_failed, checked_failures  # not for every step

        state = state._replace(failures=checked_failures(state.failures, event))
        return after_failed(_tried(state, role, payload), payload)
    state = _delivered(state, role, event)._replace(
        steps=number,
        inherited_steps=min(state.inherited_steps, number - 1),  # one may be replaced
        called_steps=state.called_steps - (is_new and not is_leaf),
        tries=0,
        failures=0,
        kills=0,
        substitutes={name: Substitute(each.word) for name, each in state.substitutes.items()}
        if state.substitutes
        else {},
        expired=None,
    )
    return decided(state, payload["next"])


def _asked(state: ThreadState, event: Event) -> ThreadState:
    state, role = _spent(state, event.payload)
    return _tried(state, role, event.payload)


def _tried(state: ThreadState, role: RoleState, payload: Mapping[str, Any]) -> ThreadState:
    """An attempt ended without a step. If it has no session, the one before it stays."""
    agent, given = payload["agent"], session_of(payload)
    session = role.sessions.get(agent)
    if not given["kept"]:
        session = None
    elif given["id"] is not None and (session is None or session.id != given["id"]):
        number = session.number if session else 0
        session = RoleSession(given["id"], number, False, None)
    state = state.with_role(payload["role"], role.with_session(agent, session))
    return decided(state._replace(tries=state.tries + 1), payload["next"])


def _expired(state: ThreadState, event: Event) -> ThreadState:
    from uwf_core.thread.expiry import checked_expiry  # few questions expire

    expired = checked_expiry(state, event)
    return decided(state._replace(expired=expired, failures=0, kills=0), event.payload["next"])


def _decision(state: ThreadState, event: Event) -> ThreadState:
    """A limit was reached, the graph led nowhere, or the thread was cancelled."""
    return decided(state, event.payload["next"])


def _tagged(state: ThreadState, event: Event) -> ThreadState:
    tags = {**state.given_tags, **event.payload["tags"]}
    return state._replace(given_tags={key: tag for key, tag in tags.items() if tag is not None})


def _granted(state: ThreadState, event: Event) -> ThreadState:
    scope, to = event.payload["scope"], event.payload["next"]
    amounts = dict(state.grants.get(scope, {}))
    for name, amount in event.payload["amounts"].items():
        amounts[name] = amounts.get(name, 0) + amount
    state = state._replace(grants={**state.grants, scope: amounts}, failures=0, kills=0)
    return state if to is None else decided(state, to)


def _spent(
    state: ThreadState, payload: Mapping[str, Any], *, runs: int = 0, is_leaf: bool = True
) -> tuple[ThreadState, RoleState]:
    """The state, and that of the role, with what an attempt has used; `runs`: whether it is a
    further step.
    """
    if not state.since_ms:  # what it had rested does not count
        state = state._replace(since_ms=payload["startedAtMs"])
    usage, role = payload["usage"], state.role(payload["role"])
    ms = payload["completedAtMs"] - payload["startedAtMs"]
    ms = ms if is_leaf and ms > 0 else 0
    role = role._replace(runs=role.runs + runs)
    return _with_sums(state, role, runs if is_leaf else 0, ms, usage, reserve_of(usage, ms))


def _with_sums(
    state: ThreadState, role: RoleState, steps: int, ms: int, usage: Any, largest: ReservePayload
) -> tuple[ThreadState, RoleState]:
    role = role._replace(
        leaf_steps=role.leaf_steps + steps,
        running_ms=role.running_ms + ms,
        usage=add_usage(role.usage, usage),
    )
    state = state._replace(
        running_ms=state.running_ms + ms,
        totals=add_usage(state.totals, usage),
        largest=larger(state.largest, largest),
    )
    return state, role


_FOLDS: Final[Mapping[str, Callable[[ThreadState, Event], ThreadState]]] = {
    "called": _called,
    "worktree": _worktree,
    "compacted": _compacted,
    "attempt": _attempt_opened,
    "step": _step,
    "asked": _asked,
    "expired": _expired,
    "granted": _granted,
    "limit": _decision,
    "unrouted": _decision,
    "tagged": _tagged,
    "cancelled": _decision,
}
"""By the kind of the event. `started` begins a thread: see `begin`."""
