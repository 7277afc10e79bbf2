"""The steps of a thread with those of the threads that it called, in one list."""

from collections import Counter
from collections.abc import Iterator
from itertools import takewhile
from typing import TYPE_CHECKING, NamedTuple

from uwf_explain.comparison.align import Key

if TYPE_CHECKING:
    from uwf_core.api import RecordedStep, RecordedThread

_READ = ("output", "body", "edgePrompt")
"""The nodes that are read together with the steps."""


class PlacedStep(NamedTuple):
    """A step and its place.

    Attributes:
        path: its role after those that call its thread (`work/writer`), a fan-out with its branch
            (`planner/planned/0/worker`).
        key: the path, and which of its steps in this call of the thread this is.
        thread: the thread that has the step in its chain.
    """

    step: "RecordedStep"
    path: str
    key: Key
    thread: str


def placed_steps(thread: "RecordedThread") -> list[PlacedStep]:
    """The steps of a thread, oldest first; those of a called thread follow the call, and those of
    open calls come last.
    """
    return list(_of_thread(thread, list(thread.steps(*_READ)), "", (), set()))


def _of_thread(
    thread: "RecordedThread",
    steps: "list[RecordedStep]",
    above: str,
    calls: tuple[int, ...],
    seen: set[str],
) -> Iterator[PlacedStep]:
    """The steps of a thread in one call, with those of its open calls."""
    visits = Counter[str]()
    yield from _placed(steps, thread.id, above, calls, seen, visits)
    for call in thread.open_calls:
        child = thread.called_thread(call)
        if child is not None:
            path = f"{above}{call.caller_role}/" + ("" if call.key is None else f"{call.key}/")
            below = list(_newest(child, seen))[::-1]
            seen.update(each.ref for each in below)
            visit = visits[call.caller_role] + 1
            yield from _of_thread(child, below, path, (*calls, visit), seen)


def _placed(
    steps: "list[RecordedStep]",
    thread: str,
    above: str,
    calls: tuple[int, ...],
    seen: set[str],
    visits: Counter[str],
) -> Iterator[PlacedStep]:
    for step in steps:
        visits[step.role] += 1
        path, visit = f"{above}{step.role}", visits[step.role]
        yield PlacedStep(step, path, (path, (*calls, visit)), thread)
        for call in step.calls:
            if call.took_step:
                below = list(_of_call(step, call.end, seen))[::-1]
                seen.update(each.ref for each in below)
                inner = f"{path}/" if call.key is None else f"{path}/{call.key}/"
                place = (*calls, visit)
                yield from _placed(below, call.thread, inner, place, seen, Counter())


def _of_call(step: "RecordedStep", end: str | None, seen: set[str]) -> "Iterator[RecordedStep]":
    """The steps of a called thread that belong to one call, newest first: those that no earlier
    call delivered.
    """
    ref = end
    while ref is not None and ref not in seen:
        each = step.other(ref)
        yield each
        ref = each.node["prev"]


def _newest(child: "RecordedThread", seen: set[str]) -> "Iterator[RecordedStep]":
    """The steps of a called thread in its open call, newest first."""
    return takewhile(lambda step: step.ref not in seen, child.newest_first(*_READ))
