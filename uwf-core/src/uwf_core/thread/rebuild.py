"""The index of a thread, rebuilt from what never changes: its chain, attempts and events. Pure.

A fork begins with it, `cas verify` compares it with the tags of the head, and `--repair` puts it
in their place. A step whose `thread` is another one was inherited with a fork.

Two things are in no node and are left as they are: that a limit was reached, and that the graph
did not say what comes next; both come to light again with the next exec.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from math import isclose

from uwf_core.errors import FailureKind
from uwf_core.ids import Ref, ThreadId
from uwf_core.named_tuple import NamedTuple
from uwf_core.thread.chain import Step
from uwf_core.thread.index import OpenAttempt, Suspension, ThreadIndex
from uwf_core.thread.lifecycle import (
    begun,
    cancelled,
    ended,
    spoken,
    with_session,
    without_session,
)
from uwf_core.thread.status import Reason
from uwf_core.thread.types import (
    AttemptPayload,
    ErrorPayload,
    EventPayload,
    StartPayload,
    StepPayload,
)
from uwf_core.thread.usage import Totals

Land = Callable[[ThreadIndex], ThreadIndex]
"""What the graph makes of the newest step: the index with status, role and suspension."""


class Origin(NamedTuple):
    """Where a thread begins. `first_role` is the role of its `$START.new`."""

    thread: ThreadId
    start: Ref
    payload: StartPayload
    workflow_name: str
    first_role: str


class Tried(NamedTuple):
    """An attempt at the pending step: open, failed (`step` and `failure`), or ended with a
    question (its reference is in the payload, its text is `message`).
    """

    payload: AttemptPayload
    step: StepPayload | None = None
    failure: ErrorPayload | None = None
    message: str | None = None


class OffChain(NamedTuple):
    """A step that is not in the chain: it was replaced, or it is a failed attempt."""

    step: Step
    failure: ErrorPayload | None


class Past(NamedTuple):
    """All that is known of a thread.

    Attributes:
        chain: its steps, newest first.
        beside: by reference, the steps that are not in the chain: its own failed attempts, also
            at the pending step, and what its own steps have replaced.
        tried: attempts at the pending step, oldest first.
        events: oldest first.
        asked: all attempts of the thread that ended with a question.
    """

    origin: Origin
    chain: Sequence[Step] = ()
    beside: Mapping[str, OffChain] = {}
    tried: Sequence[Tried] = ()
    events: Sequence[EventPayload] = ()
    asked: Sequence[AttemptPayload] = ()


def rebuild_index(past: Past, land: Land) -> ThreadIndex:
    """The index that `past` leads to."""
    origin, start = past.origin, past.origin.payload
    index = ThreadIndex(
        status="idle",
        workflow=start["workflow"],
        workflow_name=origin.workflow_name,
        start=origin.start,
        cwd=start["cwd"],
        started_ms=origin.thread.created_ms,
        current_role=origin.first_role,
        agent=start["agent"],
    )
    if past.chain:
        inherited = sum(step.payload["thread"] != origin.thread for step in past.chain)
        index = index._replace(steps=len(past.chain), inherited_steps=inherited)
        for step in reversed(past.chain):
            index = _after_step(index, past, step)
        index = land(index)
    for tried in past.tried:
        index = _after(index, tried)
    return _with_events(_with_totals(index, past), past)


def _after_step(index: ThreadIndex, past: Past, step: Step) -> ThreadIndex:
    """The index's roles after a step of the chain and all that came before it under its number."""
    payload, own = step.payload, past.origin.thread
    if payload["thread"] == own:
        for _, each in sorted(_before(past, step), key=lambda timed: timed[0]):
            index = _roles_after(index, each, own)
    return spoken(index, payload, step.ref, payload["session"], inherited=payload["thread"] != own)


def _before(past: Past, step: Step) -> Iterator[tuple[int, "OffChain | AttemptPayload"]]:
    """What a step of the thread has replaced or repeats, and the questions that came before it;
    each with the time at which it ended.
    """
    payload = step.payload
    for asked in past.asked:
        if asked["number"] == payload["number"]:
            yield asked["completedAtMs"] or 0, asked
    seen, waiting = set[str](), [step]
    while waiting:
        for ref in named_by(waiting.pop().payload):
            if ref in seen:  # what was replaced is named by each attempt at replacing it
                continue
            seen.add(ref)
            each = past.beside[ref]
            yield each.step.payload["completedAtMs"], each
            if each.step.payload["thread"] == past.origin.thread:
                waiting.append(each.step)


def named_by(payload: StepPayload) -> list[str]:
    """The steps that a step names as replaced by it or failed before it, oldest first."""
    replaced = [payload["replaces"]] if payload["replaces"] is not None else []
    return [*replaced, *payload["previousAttempts"]]


def _roles_after(
    index: ThreadIndex, each: "OffChain | AttemptPayload", own: ThreadId
) -> ThreadIndex:
    if not isinstance(each, OffChain):
        return with_session(index, each["role"], each["session"], each["agent"])
    payload = each.step.payload
    if each.failure is not None:
        return _after_failure(index, payload, FailureKind.of(each.failure["kind"]))
    inherited = payload["thread"] != own
    return spoken(index, payload, each.step.ref, payload["session"], inherited=inherited)


def _after_failure(index: ThreadIndex, payload: StepPayload, kind: FailureKind) -> ThreadIndex:
    role, agent = payload["role"], payload["agent"]
    if kind.keeps_session:
        return with_session(index, role, payload["session"], agent)
    return without_session(index, role, agent)


def _after(index: ThreadIndex, tried: Tried) -> ThreadIndex:
    """The index after an attempt without a step."""
    payload, role = tried.payload, tried.payload["role"]
    if tried.failure is not None and tried.step is not None:
        kind = FailureKind.of(tried.failure["kind"])
        reason: Reason = "interrupted" if kind is FailureKind.INTERRUPTED else "failure"
        index = _after_failure(index, tried.step, kind)
        return ended(
            index,
            Suspension(reason, role, tried.failure["message"], kind.word, tried.failure["until"]),
        )
    if payload["question"] is not None:
        index = with_session(index, role, payload["session"], payload["agent"])
        waiting = Suspension("role", role, tried.message or "", question=payload["question"])
        return ended(index, waiting)
    return begun(index, OpenAttempt(payload["number"], payload["attempt"], role))


def _with_totals(index: ThreadIndex, past: Past) -> ThreadIndex:
    """The index with what the thread's own steps and questions used."""
    totals, running_ms = Totals.none(), 0
    own = [step.payload for step in past.chain if step.payload["thread"] == past.origin.thread]
    beside = [each.step.payload for each in past.beside.values()]
    own += [each for each in beside if each["thread"] == past.origin.thread]
    for step in own:
        totals = totals.plus(step["usage"])
        running_ms += max(0, step["completedAtMs"] - step["startedAtMs"])
    for asked in past.asked:
        if asked["usage"] is not None and asked["completedAtMs"] is not None:
            totals = totals.plus(asked["usage"])
            running_ms += max(0, asked["completedAtMs"] - asked["startedAtMs"])
    return index._replace(totals=totals, running_ms=running_ms)


def _with_events(index: ThreadIndex, past: Past) -> ThreadIndex:
    granted = [event for event in past.events if event["kind"] == "granted"]
    index = index._replace(grants=len(granted))
    if any(event["kind"] == "cancelled" for event in past.events):
        return cancelled(index)
    if granted and index.suspension is not None and _is_last(granted[-1], index, past):
        return index._replace(status="idle", suspension=None)
    return index


def _is_last(event: EventPayload, index: ThreadIndex, past: Past) -> bool:
    """Whether nothing ended after `event`, at which the thread stood where it stands now."""
    head = past.chain[0].ref if past.chain else index.start
    ends = [tried.step["completedAtMs"] for tried in past.tried if tried.step is not None]
    ends += [tried.payload["completedAtMs"] or 0 for tried in past.tried]
    return event["head"] == head and event["atMs"] >= max(ends, default=0)


def differences(stored: ThreadIndex, rebuilt: ThreadIndex, *, is_limited: bool) -> list[str]:
    """In what the index of a head is not what it is rebuilt to, in words; nothing: it is right.

    Args:
        stored: what the tags of the head say.
        rebuilt: what `rebuild_index` gave.
        is_limited: whether the thread has reached a limit of its workflow.
    """
    found = [
        f"{name} is {mine!r}, not {its!r}"
        for name, mine, its in zip(stored._fields, stored, rebuilt, strict=True)
        if name not in _COMPARED_APART and mine != its
    ]
    for role in sorted({*stored.roles, *rebuilt.roles}):
        if stored.role(role) != rebuilt.role(role):
            found.append(f"the state of role {role} is another one")
    if not _is_same_sum(stored.totals, rebuilt.totals):
        found.append("the usage is another one")
    return found if _is_told(stored, is_limited) else [*found, *_standing(stored, rebuilt)]


_COMPARED_APART = ("status", "current_role", "suspension", "roles", "totals")


def _is_told(stored: ThreadIndex, is_limited: bool) -> bool:
    """Whether the thread waits for a reason that no node tells."""
    waiting = stored.suspension
    if stored.status != "suspended" or waiting is None:
        return False
    by_limit = waiting.reason == "limit" and is_limited
    return by_limit or waiting.kind == FailureKind.ROUTING.word


def _standing(stored: ThreadIndex, rebuilt: ThreadIndex) -> list[str]:
    found = []
    if stored.status != rebuilt.status:
        found.append(f"status is {stored.status!r}, not {rebuilt.status!r}")
    if stored.current_role != rebuilt.current_role:
        found.append(f"current_role is {stored.current_role!r}, not {rebuilt.current_role!r}")
    if _without_wording(stored.suspension) != _without_wording(rebuilt.suspension):
        found.append("the suspension is another one")
    return found


def _without_wording(suspension: Suspension | None) -> Suspension | None:
    """A failure's message comes with a hint in the index and without one in the node."""
    if suspension is None or suspension.kind is None:
        return suspension
    return suspension._replace(message="")


def _is_same_sum(one: Totals, other: Totals) -> bool:
    return _is_close(one.known, other.known) and one.unknown == other.unknown


def _is_close(one: dict[str, float], other: dict[str, float]) -> bool:
    """Whether the sums are the same; the order in which they were added is not."""
    return one.keys() == other.keys() and all(
        isclose(value, other[name], rel_tol=1e-9) for name, value in one.items()
    )
