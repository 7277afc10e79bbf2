"""What a chain of steps recorded, in order: the attempts at each step, also those that failed."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from uwf_core.ids import Ref, ThreadId
from uwf_core.thread.calls import CALL_AGENT, open_calls
from uwf_core.thread.decisions import (
    NO_CALL,
    Event,
    call_of,
    called_attempt,
    session_payload,
)
from uwf_core.thread.history import Step, failed_steps, newest_first, read_step, unordered_events
from uwf_core.thread.links import CalledThread, threads_called
from uwf_core.thread.summaries import compactions

if TYPE_CHECKING:
    from uwf_core.cas.store import Store
    from uwf_core.thread.calls import OpenCall
    from uwf_core.thread.head import Head

_TEXTS = ("prompt", "edgePrompt", "output", "body", "raw", "said", "answer")
"""The fields of a step that a replay compares."""


Kind = Literal["step", "failed", "replaced", "asked", "calling"]


class Recorded(NamedTuple):
    """A recorded attempt.

    Attributes:
        kind: `step` of the chain, `failed`, `replaced` (by a poke), `asked` (a question) or
            `calling` (an open call).
        ref: the node of the step, of the attempt with the question, or of the call's event.
        payload: of the step; of the attempt, with the usage and session of its event; of the call,
            as far as it is known.
        workflow: the workflow that chose its role.
    """

    kind: Kind
    ref: str
    payload: Mapping[str, Any]
    workflow: str

    @property
    def is_call(self) -> bool:
        """Whether it is a call of other threads."""
        return bool(self.payload["agent"] == CALL_AGENT)

    @property
    def is_failure(self) -> bool:
        """Whether it is the step of the engine after failed attempts."""
        return self.payload["agent"] is None

    @property
    def is_fan_out(self) -> bool:
        """Whether branches are these threads."""
        return call_of(self.payload)["branches"] is not None

    @property
    def called(self) -> Sequence[CalledThread]:
        """The threads that it called; of a fan-out in the order of the branches."""
        return threads_called(self.payload)


class Entry(NamedTuple):
    """A call of the thread, as its next step got it.

    Attributes:
        thread, number, role: the calling thread, and the number and role of its step.
        plays: the role that the called thread plays.
        instruction: the instruction. cwd: the folder.
        event: the node of the call, if it is known.
    """

    thread: str
    number: int
    role: str
    plays: str
    instruction: str
    cwd: str
    event: str = ""


class Chain(NamedTuple):
    """The recorded attempts of a thread: those at each step, then those at the pending one.

    `entries` are the calls of the thread, each by the step after which it came (or the start), and
    `calls` their events, also of those after which no attempt came; none of a deleted thread.
    `compactions` are the events of `thread compact`, the newest first, `expired` the questions that
    nobody answered in time.
    """

    thread: str
    start: str
    steps: tuple[Step, ...]
    attempts: tuple[Recorded, ...]
    entries: Mapping[str, Entry]
    calls: Sequence[Event] = ()
    compactions: Sequence[Event] = ()
    expired: Sequence[Event] = ()


def read_chain(store: "Store", head: "Head") -> Chain:
    """The chain of a thread, oldest step first.

    Raises:
        StoreError: a node of it is missing or damaged.
    """
    newest = newest_first(store, head.ref, Ref(head.state.start), _TEXTS)
    steps = tuple(reversed(list(newest)))
    found = _events(store, {step.payload["thread"] for step in steps} | {str(head.thread)})
    attempts = [each for step in steps for each in _attempts_at(store, step, found.questions)]
    attempts += _pending(store, head, steps, found.questions)
    attempts += _calling(store, head)
    start = str(head.state.start)
    entries = dict(_entries(store, attempts, start, found.calls))
    compacted = tuple(compactions(store, head.state.compacted))
    known = entries, found.calls, compacted, found.expired
    return Chain(str(head.thread), start, steps, tuple(attempts), *known)


def read_chain_to(store: "Store", thread: str, ref: Ref) -> Chain:
    """The chain of a thread that is deleted, up to a step; its events are gone.

    Raises:
        StoreError: a node of it is missing or damaged.
    """
    steps = tuple(reversed(list(newest_first(store, ref, Ref(""), _TEXTS))))
    attempts = [each for step in steps for each in _attempts_at(store, step, ())]
    return Chain(thread, steps[0].payload["start"], steps, tuple(attempts), {})


def _calling(store: "Store", head: "Head") -> Iterator[Recorded]:
    """The open call of a thread, or all branches of a fan-out, as an attempt at its next step."""
    calls = open_calls(store, head.thread)
    if not calls:
        return
    newest = None if head.at_start else str(head.ref)
    first, event = calls[0], calls[0].variable.value
    called = store.payload(event)
    replaced = called["replaces"]
    prev = newest if replaced is None else read_step(store, Ref(replaced)).payload["prev"]
    payload = {
        **called,
        "thread": str(head.thread),
        "seq": head.state.seq,
        "prev": prev,
        "agent": CALL_AGENT,
        "session": session_payload(str(first.child)),
        "attempt": called_attempt(called, head.state.tries + 1),
        "call": None,
    }
    if called["index"] is not None:
        branches = [_open_branch(store, call) for call in calls]
        payload |= {"session": None, "call": {**NO_CALL, "branches": branches}}
        payload["attempt"]["prompt"] = called["said"]
    yield Recorded("calling", event, payload, head.state.workflow)


def _open_branch(store: "Store", call: "OpenCall") -> dict[str, Any]:
    plays = store.payload(call.variable.value)["plays"]
    return {"name": call.name, "role": plays, "thread": str(call.child), "status": None}


def _entries(
    store: "Store", attempts: Sequence[Recorded], start: str, calls: Iterable[Event]
) -> Iterator[tuple[str, Entry]]:
    """The calls of the threads of a chain after which an attempt came."""
    for event in calls:
        called = event.payload
        for each in attempts:
            payload = each.payload
            if payload["thread"] == called["thread"] and payload["seq"] > called["seq"]:
                text = store.text(Ref(called["prompt"]))
                place = called["parent"], called["number"], called["role"], called["plays"]
                entry = Entry(*place, text, called["cwd"], event.ref)
                yield payload["prev"] or start, entry
                break


def _pending(
    store: "Store", head: "Head", steps: Sequence[Step], questions: Iterable[Recorded]
) -> Sequence[Recorded]:
    """The attempts at the next step that ended without one."""
    if head.state.tries == 0:
        return ()
    newest = steps[-1].payload if steps else None
    after = newest["seq"] if newest and newest["thread"] == head.thread else 0
    found = [_recorded("failed", read_step(store, ref)) for ref in failed_steps(store, head.state)]
    workflow = head.state.workflow
    found += [
        each._replace(workflow=workflow)
        for each in questions
        if each.payload["thread"] == head.thread and each.payload["seq"] > after
    ]
    return sorted(found, key=_seq)


class _Events(NamedTuple):
    """What was recorded beside the steps: attempts that ended with a question, those that nobody
    answered in time, and calls.
    """

    questions: Sequence[Recorded]
    calls: Sequence[Event]
    expired: Sequence[Event]


def _events(store: "Store", threads: Iterable[str]) -> _Events:
    """The events of threads; none of a thread that is deleted."""
    questions, calls, expired = list[Recorded](), list[Event](), list[Event]()
    for thread in sorted(threads):
        for event in unordered_events(store, ThreadId(thread)):
            if event.kind == "asked":
                ref = event.payload["attempt"]
                attempt = {**event.payload, "call": None, **store.payload(Ref(ref))}
                questions.append(Recorded("asked", ref, attempt, ""))
            elif event.kind == "called":
                calls.append(event)
            elif event.kind == "expired":
                expired.append(event)
    return _Events(questions, calls, expired)


def _attempts_at(
    store: "Store", step: Step, questions: Iterable[Recorded], kind: Kind = "step"
) -> Iterator[Recorded]:
    """The attempts that led to a step, oldest first, with those at the steps that it replaces."""
    payload = step.payload
    if payload["attempt"]["replaces"] is not None:
        replaced = read_step(store, Ref(payload["attempt"]["replaces"]))
        yield from _attempts_at(store, replaced, questions, "replaced")
    before = [
        _recorded("failed", read_step(store, Ref(each))) for each in payload["previousAttempts"]
    ]
    workflow = payload["workflow"]
    before += [
        each._replace(workflow=workflow) for each in questions if _led_to(each.payload, payload)
    ]
    yield from sorted(before, key=_seq)
    yield _recorded(kind, step)


def _led_to(question: Mapping[str, Any], step: Mapping[str, Any]) -> bool:
    """Whether a question was asked in an attempt at this step."""
    fields = ("thread", "number", "prev")
    is_same = question["attempt"]["replaces"] == step["attempt"]["replaces"]
    is_same = is_same and all(question[each] == step[each] for each in fields)
    return bool(is_same and question["seq"] < step["seq"])


def _recorded(kind: Kind, step: Step) -> Recorded:
    return Recorded(kind, step.ref, step.payload, step.payload["workflow"])


def _seq(attempt: Recorded) -> int:
    return int(attempt.payload["seq"])
