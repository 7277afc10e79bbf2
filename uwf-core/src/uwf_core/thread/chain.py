"""The chain: from a head back to its start."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from uwf_core.errors import CorruptNodeError
from uwf_core.ids import Ref
from uwf_core.named_tuple import NamedTuple
from uwf_core.thread.types import ErrorPayload, StartPayload, StepPayload

if TYPE_CHECKING:
    from uwf_core.cas.store import Store


class Step(NamedTuple):
    """A step node."""

    ref: Ref
    payload: StepPayload


def is_step(payload: Any) -> bool:
    """Whether a node's payload is that of a step (or failed attempt)."""
    return isinstance(payload, dict) and "edgePrompt" in payload and "body" in payload


def is_start(payload: Any) -> bool:
    """Whether a node's payload is that of a start."""
    return isinstance(payload, dict) and "parent" in payload and "workflow" in payload


def read_step(store: "Store", ref: Ref) -> Step:
    """The step node `ref`.

    Raises:
        MissingNodeError, CorruptNodeError: it is absent, damaged, or no step.
    """
    payload = store.get(ref).payload
    if not is_step(payload):
        raise CorruptNodeError(f"node {ref} is no step")
    return Step(ref, payload)


def read_start(store: "Store", ref: Ref) -> StartPayload:
    """The start node `ref`; errors as in `read_step`."""
    payload = store.get(ref).payload
    if not is_start(payload):
        raise CorruptNodeError(f"node {ref} is no start of a thread")
    return payload  # type: ignore[no-any-return]


def newest_first(store: "Store", head: Ref, start: Ref) -> Iterator[Step]:
    """The steps from `head` back to the first; nothing where the head is the start.

    Reads a step only when it is asked for, so that a long thread costs what is looked at.
    """
    ref: str | None = None if head == start else head
    while ref is not None:
        step = read_step(store, Ref(ref))
        yield step
        ref = step.payload["prev"]


def failure_of(store: "Store", step: Step) -> ErrorPayload | None:
    """The error of a failed attempt, None for a step that succeeded."""
    if step.payload["failure"] is None:
        return None
    payload = store.get(Ref(step.payload["output"])).payload
    if isinstance(payload, dict) and "$status" not in payload and set(payload) == _ERROR_KEYS:
        return payload  # type: ignore[return-value]
    return None


def body_of(store: "Store", step: Step) -> str:
    """The text that the role said beside its output."""
    body = step.payload["body"]
    return "" if body is None else store.text(Ref(body))


_ERROR_KEYS = {"kind", "message", "until"}
