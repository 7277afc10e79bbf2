"""What a thread's index is rebuilt from, read from the store."""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Protocol

from uwf_core.engine.landing import land
from uwf_core.errors import CorruptNodeError
from uwf_core.ids import Ref, ThreadId
from uwf_core.thread.chain import (
    Step,
    body_of,
    failure_of,
    is_start,
    newest_first,
    read_start,
    read_step,
)
from uwf_core.thread.index import ThreadIndex
from uwf_core.thread.names import attempts_prefix, events_prefix
from uwf_core.thread.rebuild import (
    Land,
    OffChain,
    Origin,
    Past,
    Tried,
    named_by,
    rebuild_index,
)
from uwf_core.thread.types import AttemptPayload, EventPayload

if TYPE_CHECKING:
    from uwf_core.cas.store import Store
    from uwf_core.workflow.definition import Definition


class Known(Protocol):
    """Where the nodes are, and the workflows that were read before: an engine, or a bundle."""

    @property
    def store(self) -> "Store":
        """The store."""

    def definition(self, ref: Ref) -> "Definition":
        """A published workflow."""


def index_of_fork(known: Known, thread: ThreadId, head: Ref) -> ThreadIndex:
    """The index of a thread that begins at `head`, a step (that succeeded) or a start.

    Raises:
        StoreError: something of the chain is missing or damaged.
    """
    past = _inherited(known, thread, head)
    return rebuild_index(past, _landing(known, past))


def index_of_thread(known: Known, thread: ThreadId, head: Ref) -> ThreadIndex:
    """The index of the thread whose head is `head`, from its chain, attempts and events.

    Raises:
        StoreError: something of it is missing or damaged.
    """
    store = known.store
    past = _inherited(known, thread, head)
    tried = [_tried(store, payload) for payload in _attempts(store, thread)]
    events = _events(store, thread)
    failed = [each.payload["step"] for each in tried if each.payload["step"] is not None]
    asked = [_attempt(store, event["attempt"]) for event in events if event["attempt"]]
    past = past._replace(
        beside=_beside(store, thread, past.chain, failed), tried=tried, events=events, asked=asked
    )
    return rebuild_index(past, _landing(known, past))


def _inherited(known: Known, thread: ThreadId, head: Ref) -> Past:
    store = known.store
    start, chain = head, list[Step]()
    if not is_start(store.get(head).payload):
        start = Ref(read_step(store, head).payload["start"])
        chain = list(newest_first(store, head, start))
        _check_chain(chain, start)
    payload = read_start(store, start)
    definition = known.definition(Ref(payload["workflow"]))
    origin = Origin(
        thread=thread,
        start=start,
        payload=payload,
        workflow_name=definition.name,
        first_role=definition.graph["$START"]["new"].role,
    )
    return Past(origin, chain)


def _check_chain(chain: list[Step], start: Ref) -> None:
    """That the steps count down to 1 and all begin at the same start."""
    for number, step in zip(range(len(chain), 0, -1), chain, strict=True):
        if step.payload["number"] != number or step.payload["start"] != start:
            raise CorruptNodeError(
                f"the step {step.ref} does not belong where the chain has it",
                hint="`uwf cas verify` names what is damaged",
            )


def _landing(known: Known, past: Past) -> Land:
    """What the graph makes of the newest step."""
    store = known.store

    def landed(index: ThreadIndex) -> ThreadIndex:
        step = past.chain[0]
        if failure_of(store, step) is not None:
            raise CorruptNodeError(f"the head {step.ref} is a failed attempt")
        output = store.get(Ref(step.payload["output"])).payload
        definition = known.definition(Ref(index.workflow))
        return land(definition, index, step.payload["role"], output, body_of(store, step)).state

    return landed


def _attempts(store: "Store", thread: ThreadId) -> list[AttemptPayload]:
    variables = store.variables(attempts_prefix(thread))
    payloads = [_attempt(store, variable.value) for variable in variables]
    return sorted(payloads, key=lambda payload: (payload["number"], payload["attempt"]))


def _attempt(store: "Store", ref: str) -> AttemptPayload:
    payload = store.get(Ref(ref)).payload
    if not isinstance(payload, dict) or "marker" not in payload:
        raise CorruptNodeError(f"node {ref} is no attempt")
    return payload  # type: ignore[return-value]


def _events(store: "Store", thread: ThreadId) -> list[EventPayload]:
    found: list[EventPayload] = []
    for variable in store.variables(events_prefix(thread)):
        payload = store.get(Ref(variable.value)).payload
        if not isinstance(payload, dict) or "atMs" not in payload:
            raise CorruptNodeError(f"node {variable.value} is no event")
        found.append(payload)  # type: ignore[arg-type]
    return found


def _tried(store: "Store", payload: AttemptPayload) -> Tried:
    if payload["step"] is not None:
        step = read_step(store, Ref(payload["step"]))
        return Tried(payload, step.payload, failure_of(store, step))
    if payload["question"] is not None:
        question = store.get(Ref(payload["question"])).payload
        return Tried(payload, message=store.text(Ref(question["message"])))
    return Tried(payload)


def _beside(
    store: "Store", thread: ThreadId, chain: Sequence[Step], failed: Iterable[str]
) -> dict[str, OffChain]:
    """The steps beside the chain: what the thread's own steps name as failed or replaced."""
    in_chain = {step.ref for step in chain}
    found: dict[str, OffChain] = {}
    waiting = [*failed]
    for step in chain:
        if step.payload["thread"] == thread:
            waiting += named_by(step.payload)
    while waiting:
        ref = waiting.pop()
        if ref not in found and ref not in in_chain:
            step = read_step(store, Ref(ref))
            found[ref] = OffChain(step, failure_of(store, step))
            if step.payload["thread"] == thread:
                waiting += named_by(step.payload)
    return found
