"""What a chain of steps recorded, in order: the attempts at each step, also those that failed."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

from uwf_core.ids import Ref, ThreadId
from uwf_core.named_tuple import NamedTuple
from uwf_core.thread.history import Step, failed_steps, newest_first, read_step, unordered_events

if TYPE_CHECKING:
    from uwf_core.cas.store import Store
    from uwf_core.thread.head import Head

_TEXTS = ("prompt", "edgePrompt", "output", "body", "raw", "said", "answer")
"""The fields of a step that a replay compares."""


Kind = Literal["step", "failed", "replaced", "asked"]


class Recorded(NamedTuple):
    """A recorded attempt.

    Attributes:
        kind: `step` of the chain, `failed`, `replaced` (by a poke) or `asked` (a question).
        ref: the node of the step, or of the attempt with the question.
        payload: of the step; of the attempt, with the usage and session of its event.
        workflow: the workflow that chose its role.
    """

    kind: Kind
    ref: str
    payload: Mapping[str, Any]
    workflow: str


class Chain(NamedTuple):
    """The recorded attempts of a thread: those at each step, then those at the pending one."""

    thread: str
    start: str
    steps: tuple[Step, ...]
    attempts: tuple[Recorded, ...]


def read_chain(store: "Store", head: "Head") -> Chain:
    """The chain of a thread, oldest step first.

    Raises:
        StoreError: a node of it is missing or damaged.
    """
    newest = newest_first(store, head.ref, Ref(head.state.start), _TEXTS)
    steps = tuple(reversed(list(newest)))
    threads = {step.payload["thread"] for step in steps} | {str(head.thread)}
    questions = [each for name in sorted(threads) for each in _questions(store, name)]
    attempts = [each for step in steps for each in _attempts_at(store, step, questions)]
    attempts += _pending(store, head, steps, questions)
    return Chain(str(head.thread), str(head.state.start), steps, tuple(attempts))


def _pending(
    store: "Store", head: "Head", steps: Sequence[Step], questions: Iterable[Recorded]
) -> Sequence[Recorded]:
    """The attempts at the next step that ended without one."""
    if head.state.tries == 0:
        return ()
    newest = steps[-1].payload if steps else None
    after = newest["seq"] if newest and newest["thread"] == head.thread else 0
    found = [_recorded("failed", read_step(store, ref)) for ref in failed_steps(store, head)]
    workflow = head.state.workflow
    found += [
        each._replace(workflow=workflow)
        for each in questions
        if each.payload["thread"] == head.thread and each.payload["seq"] > after
    ]
    return sorted(found, key=_seq)


def _questions(store: "Store", thread: str) -> Iterator[Recorded]:
    """The attempts of a thread that ended with a question; none of a thread that is deleted."""
    for event in unordered_events(store, ThreadId(thread)):
        if event.kind == "asked":
            attempt = store.payload(Ref(event.payload["attempt"]))
            yield Recorded("asked", event.payload["attempt"], {**attempt, **event.payload}, "")


def _attempts_at(
    store: "Store", step: Step, questions: Iterable[Recorded], kind: Kind = "step"
) -> Iterator[Recorded]:
    """The attempts that led to a step, oldest first, with those at the steps that it replaces."""
    payload = step.payload
    if payload["replaces"] is not None:
        replaced = read_step(store, Ref(payload["replaces"]))
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
    fields = ("thread", "number", "prev", "replaces")
    return question["seq"] < step["seq"] and all(question[each] == step[each] for each in fields)


def _recorded(kind: Kind, step: Step) -> Recorded:
    return Recorded(kind, step.ref, step.payload, step.payload["workflow"])


def _seq(attempt: Recorded) -> int:
    return int(attempt.payload["seq"])
