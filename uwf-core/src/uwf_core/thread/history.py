"""The history of a thread: its chain of steps, and its stored events in their order, folded."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import islice
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from uwf_core.api.sums import UsagePayload
from uwf_core.errors import CorruptNodeError, StoreError
from uwf_core.ids import Ref, ThreadId
from uwf_core.thread.decisions import Event, call_of
from uwf_core.thread.fold import begin, fold
from uwf_core.thread.names import attempts_prefix, event_kind, events_prefix
from uwf_core.thread.state import ThreadState

if TYPE_CHECKING:
    from uwf_core.cas.store import Store
    from uwf_core.thread.types import GuidancePayload, StartPayload, StepPayload
    from uwf_core.workflow.definition import Definition


class Step(NamedTuple):
    """A step node."""

    ref: Ref
    payload: "StepPayload"


def is_step(payload: Any) -> bool:
    """Whether a node's payload is that of a step (or failed attempt)."""
    return isinstance(payload, dict) and "attempt" in payload and "body" in payload


def is_start(payload: Any) -> bool:
    """Whether a node's payload is that of a start."""
    return isinstance(payload, dict) and "parent" in payload and "workflow" in payload


def failed_steps(store: "Store", state: ThreadState) -> list[Ref]:
    """The failed attempts at the pending step, oldest first."""
    if state.tries == 0:
        return []
    variables = sorted(
        store.variables(attempts_prefix(ThreadId(state.thread))),
        key=lambda variable: int(variable.name.rpartition(".")[2]),
    )
    payloads = (store.get(Ref(variable.value)).payload for variable in variables)
    return [Ref(payload["step"]) for payload in payloads if payload["step"] is not None]


def read_step(store: "Store", ref: Ref) -> Step:
    """The step node `ref`.

    Raises:
        MissingNodeError, CorruptNodeError: it is missing, damaged, or not a step.
    """
    payload = store.payload(ref)
    if not is_step(payload):
        raise CorruptNodeError(f"node {ref} is not a step")
    return Step(ref, payload)


def read_start(store: "Store", ref: Ref) -> "StartPayload":
    """The start node `ref`; raises as `read_step`."""
    payload = store.get(ref).payload
    if not is_start(payload):
        raise CorruptNodeError(f"node {ref} is not the start of a thread")
    return payload  # type: ignore[no-any-return]


def root_task(store: "Store", start: str) -> str:
    """The task of the thread that began the calls which led to a start node: it stays the same,
    whatever is called or forked later.
    """
    payload = read_start(store, Ref(start))
    while payload["parent"] is not None:
        above = store.payload(payload["parent"])
        payload = above if is_start(above) else read_start(store, Ref(above["start"]))
    return store.text(payload["prompt"])


def read_input(store: "Store", state: ThreadState) -> Any:
    """The typed input of a thread: that of its newest call, else of its start; None without one."""
    if state.caller is not None:
        ref = store.payload(Ref(state.caller.event))["input"]
    else:
        ref = read_start(store, Ref(state.start))["input"]
    return None if ref is None else store.payload(Ref(ref))


def typed_input(store: "Store", definition: "Definition", state: ThreadState) -> Any:
    """What `input` means in the templates of a workflow; None if it has no typed input."""
    return None if definition.input is None else read_input(store, state)


def newest_first(
    store: "Store", head: Ref, start: Ref, beside: Sequence[str] = ()
) -> Iterator[Step]:
    """The steps from `head` back to the first; none if the head is the start.

    The longer the chain that is used, the more of it is read at once, with the nodes in the fields
    `beside`: few steps cost little, and thousands few statements.
    """
    ref: str | None = None if head == start else head
    count = 1
    while ref is not None:
        steps = _some_steps(store, Ref(ref), count)
        store.read_ahead(_refs_in(steps, beside))
        yield from steps
        ref = steps[-1].payload["prev"]
        count = min(4 * count, _MOST_AT_ONCE)


def oldest_first(
    store: "Store", head: Ref, start: Ref, beside: Sequence[str] = ()
) -> Iterator[Step]:
    """The steps from the first to `head`, few of them in memory at a time; `beside` as for
    `newest_first`.
    """
    if head == start:
        return
    ends = [read_step(store, head)]
    while (number := ends[-1].payload["number"] - _BLOCK) > 0:
        ends.append(step_at(store, ends[-1], number))
    before: str | None = None
    for end in reversed(ends):
        block = list(islice(newest_first(store, end.ref, start, beside), _BLOCK))
        if block[-1].payload["prev"] != before:
            message = f"step {block[-1].ref} is out of place in the chain"
            raise CorruptNodeError(message, hint=_VERIFY)
        yield from reversed(block)
        before = end.ref


_BLOCK = 1 + 4 + 16 + 64 + 256
"""What `newest_first` reads in its first five parts."""


def _some_steps(store: "Store", ref: Ref, count: int) -> list[Step]:
    """At most `count` steps from `ref` back, fewer before one that cannot be read."""
    if count == 1:
        return [read_step(store, ref)]
    is_ahead = _read_ahead(store, ref, count)
    steps = [read_step(store, ref)]
    with suppress(StoreError):  # reported to who gets that far
        while len(steps) < count and (prev := steps[-1].payload["prev"]) is not None:
            is_ahead = is_ahead or _read_ahead(store, prev, count - len(steps))
            steps.append(read_step(store, Ref(prev)))
    return steps


def _read_ahead(store: "Store", ref: str, count: int) -> bool:
    """Read `count` steps from `ref` back at once, unless this process has the first of them."""
    if count == 1 or store.is_known(ref):
        return False
    store.read_before(ref, count)
    return True


def _refs_in(steps: Sequence[Step], fields: Sequence[str]) -> set[str]:
    parts: list[Any] = [part for _, step in steps for part in (step, step["attempt"])]
    return {part.get(field) for part in parts for field in fields} - {None}


_MOST_AT_ONCE = 256


def step_at(store: "Store", step: Step, number: int) -> Step:
    """The step with this number in the chain that ends at `step`; reads O(log n) nodes.

    Args:
        number: from 1 to that of `step`.

    Raises:
        StoreError: a node on the way is missing or damaged.
    """
    while (own := step.payload["number"]) > number:
        place = 0  # of the farthest ancestor that does not come before the one
        while ((own - 1) >> (place + 1)) << (place + 1) >= number:
            place += 1
        ancestors = step.payload["ancestors"] or ()
        if place >= len(ancestors):
            raise CorruptNodeError(f"step {step.ref} lacks an ancestor", hint=_VERIFY)
        step = read_step(store, Ref(ancestors[place]))
    return step


_VERIFY = "next: uwf cas verify"


def output_of(store: "Store", step: Step) -> "Mapping[str, Any]":
    """The output of a step as templates read it. That of a call has further fields if the called
    thread worked in a worktree: they are not in the stored output, which is the called thread's.
    """
    output: Mapping[str, Any] = store.get(Ref(step.payload["output"])).payload
    if call_of(step.payload)["child"] is None:
        return output
    from uwf_core.thread.worktree import place_in_step  # for calls

    return {**output, **place_in_step(store, step.payload)}


def body_of(store: "Store", step: Step) -> str:
    """The text beside the output of a step."""
    return text_at(store, step.payload["body"]) or ""


def text_at(store: "Store", ref: str | None) -> str | None:
    """The text that a field of a node refers to."""
    return None if ref is None else store.text(Ref(ref))


class Guidance(NamedTuple):
    """A skill, memory or rules that a role got, as `GuidancePayload` stores it, with its text."""

    kind: Literal["skill", "memory", "rules"]
    name: str
    path: str
    given: Literal["text", "name"]
    text: str


def guidance_at(store: "Store", stored: "list[GuidancePayload] | None") -> list[Guidance]:
    """The skills, memory and rules of a step or an attempt."""
    return [
        Guidance(
            each["kind"], each["name"], each["path"], each["given"], store.text(Ref(each["text"]))
        )
        for each in stored or ()
    ]


class Saying(NamedTuple):
    """What a person said for a step.

    Attributes:
        kind: `answer`, or the purpose of the call: `run`, `resume`, `poke`.
        text: the person's words.
    """

    kind: str
    text: str


def sayings(store: "Store", step: Step) -> list[Saying]:
    """What persons said for a step, oldest first: also for the replies that it replaces and for the
    attempts that failed.
    """
    node, asked = step.payload, step.payload["attempt"]
    is_alone = asked["said"] is asked["answer"] is asked["replaces"] is None
    if is_alone and not node["previousAttempts"]:
        return []  # nearly all steps of a long thread
    found, replaced = list[Saying](), step
    line = [step]
    while (ref := replaced.payload["attempt"]["replaces"]) is not None:
        replaced = read_step(store, Ref(ref))
        line.append(replaced)
    for each in reversed(line):
        tries = (read_step(store, Ref(ref)) for ref in each.payload["previousAttempts"])
        for attempt in (*tries, each):
            found += [said for said in _own_sayings(store, attempt) if said not in found]
    return found


def _own_sayings(store: "Store", step: Step) -> Iterator[Saying]:
    asked = step.payload["attempt"]
    if asked["answer"] is not None and not is_answer(asked["answer"], step.payload["usage"]):
        yield Saying("answer", store.text(Ref(asked["answer"])))
    if asked["said"] is not None:
        yield Saying(asked["purpose"], store.text(Ref(asked["said"])))


def is_answer(answer: str | None, usage: UsagePayload) -> bool:
    """Whether a step is the answer of a person, without a turn of the agent that asked."""
    return answer is not None and usage["turns"] == 0


def state_of_thread(store: "Store", thread: ThreadId, head: Ref) -> ThreadState:
    """The state of the thread whose newest step (or start) is `head`, from its stored events.

    Raises:
        StoreError: a node of it is missing, damaged or out of place.
    """
    events = own_events(store, thread, head)
    if not events or events[0].kind != "started":
        raise CorruptNodeError(f"thread {thread} has no first event")
    state = begin(events[0], inherited_steps(store, Ref(events[0].payload["head"])))
    for event in events[1:]:
        state = fold(state, event)
    return state


def inherited_steps(store: "Store", head: Ref) -> list[Event]:
    """The steps up to `head`, oldest first, as a fork inherits them; none if it is a start.

    Raises:
        StoreError: a node of the chain is missing or damaged.
    """
    return [Event("step", step.ref, step.payload) for step in reversed(_chain(store, head))]


def unordered_events(store: "Store", thread: ThreadId) -> list[Event]:
    """The events of the thread itself, without its steps and attempts.

    Raises:
        StoreError: one of them is missing or damaged.
    """
    return [
        Event(event_kind(each.name), each.value, _payload(store, each.value, event_kind(each.name)))
        for each in store.variables(events_prefix(thread))
    ]


def own_events(store: "Store", thread: ThreadId, head: Ref) -> list[Event]:
    """The events of the thread itself; an open attempt comes last."""
    events = unordered_events(store, thread)
    opened = list[Event]()
    tried = list[str]()
    for variable in store.variables(attempts_prefix(thread)):
        payload = _payload(store, variable.value, "attempt")
        if payload["step"] is not None:
            tried.append(payload["step"])
        elif payload["question"] is None:
            opened.append(Event("attempt", variable.value, payload))
    events += _own_steps(store, thread, _chain(store, head), tried)
    return sorted(events, key=lambda event: event.payload["seq"]) + opened


def _own_steps(
    store: "Store", thread: ThreadId, chain: Sequence[Step], tried: Sequence[str]
) -> Iterator[Event]:
    """The steps of the thread itself: of its chain, and those that failed or were replaced."""
    seen = set[str]()
    waiting = [(step.ref, step.payload) for step in chain]
    waiting += [(Ref(ref), read_step(store, Ref(ref)).payload) for ref in tried]
    while waiting:
        ref, payload = waiting.pop()
        if ref in seen or payload["thread"] != thread:
            continue
        seen.add(ref)
        yield Event("step", ref, payload)
        off_chain = [*payload["previousAttempts"], *filter(None, [payload["attempt"]["replaces"]])]
        waiting += [(Ref(each), read_step(store, Ref(each)).payload) for each in off_chain]


def _chain(store: "Store", head: Ref) -> list[Step]:
    """The steps from `head` back to the first, with numbers that count down to 1 and with the
    ancestors that follow from these.
    """
    if is_start(store.get(head).payload):
        return []
    chain = list(newest_first(store, head, Ref("")))
    start = chain[0].payload["start"]
    refs = {number: step.ref for number, step in zip(range(len(chain), 0, -1), chain, strict=True)}
    for number, step in zip(refs, chain, strict=True):
        if step.payload["number"] != number or step.payload["start"] != start:
            raise CorruptNodeError(f"step {step.ref} is out of place in the chain", hint=_VERIFY)
        before = number - 1
        expected = [refs[(before >> place) << place] for place in range(before.bit_length())]
        if (step.payload["ancestors"] or []) != expected:
            message = f"the ancestors of step {step.ref} are not the steps of its chain"
            raise CorruptNodeError(message, hint=_VERIFY)
    return chain


def _payload(store: "Store", ref: str, kind: str) -> dict[str, Any]:
    from uwf_core.thread.types import NODES  # lists read none

    payload = store.get(ref).payload
    shape = NODES.get(kind)
    if (
        shape is None
        or not isinstance(payload, dict)
        or payload.keys() != shape.__annotations__.keys()
    ):
        raise CorruptNodeError(f"node {ref} is not of the kind {kind!r}")
    return payload


def differences(stored: ThreadState, folded: ThreadState) -> list[str]:
    """The fields in which a stored state differs from the fold of its events."""
    return [
        f"{name} is {mine!r}, not {its!r}"
        for name, mine, its in zip(stored._fields, stored, folded, strict=True)
        if mine != its
    ]
