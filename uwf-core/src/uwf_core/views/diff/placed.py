"""The steps of a thread with those of the threads that it called, in one list."""

from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING

from uwf_core.named_tuple import NamedTuple
from uwf_core.views.diff.align import Key

if TYPE_CHECKING:
    from uwf_core.views.recorded import StepRecord, ThreadRecord

_READ = ("output", "body", "edgePrompt")
"""The nodes that are read together with the steps."""


class PlacedStep(NamedTuple):
    """A step and its place.

    Attributes:
        path: its role after those that call its thread (`work/writer`).
        key: the path, and which of its steps in this call of the thread this is.
        thread: the thread that has the step in its chain.
    """

    step: "StepRecord"
    path: str
    key: Key
    thread: str


def placed_steps(thread: "ThreadRecord") -> list[PlacedStep]:
    """The steps of a thread, oldest first; those of a called thread follow the call."""
    seen = set[str]()
    return list(_placed(list(thread.steps(*_READ)), thread.id, "", (), seen))


def _placed(
    steps: "list[StepRecord]", thread: str, above: str, calls: tuple[int, ...], seen: set[str]
) -> Iterator[PlacedStep]:
    visits = Counter[str]()
    for step in steps:
        visits[step.role] += 1
        path, visit = f"{above}{step.role}", visits[step.role]
        yield PlacedStep(step, path, (path, (*calls, visit)), thread)
        if step.node["child"] is not None:
            below = list(_of_call(step, seen))[::-1]
            seen.update(each.ref for each in below)
            session = step.node["session"] or ""
            yield from _placed(below, session, f"{path}/", (*calls, visit), seen)


def _of_call(step: "StepRecord", seen: set[str]) -> "Iterator[StepRecord]":
    """The steps of a called thread that belong to one call, newest first: those that no earlier
    call delivered.
    """
    ref = step.node["child"]
    while ref is not None and ref not in seen:
        each = step.other(ref)
        yield each
        ref = each.node["prev"]
