"""What happened in a thread, in its order: attempts at steps, and events beside them."""

from collections.abc import Iterator

from uwf_core.api import RecordedEvent, RecordedStep, RecordedThread

_OF_STEPS = ("started", "called")
"""Events that the steps, or the steps of the calling thread, show already."""


def attempts_of(thread: RecordedThread, *fields: str) -> Iterator[RecordedStep]:
    """All attempts of a thread, oldest first, those at the next step last."""
    for step in thread.steps(*fields):
        yield from step.tries()
    yield from thread.pending


def timeline(
    thread: RecordedThread, *fields: str
) -> Iterator[tuple[RecordedStep | None, RecordedEvent | None]]:
    """The attempts of a thread, its own events between them; what a fork inherits comes first.
    Each is an attempt or an event.
    """
    events = [event for event in thread.events() if event.kind not in _OF_STEPS]
    for attempt in attempts_of(thread, *fields):
        if attempt.node["thread"] == thread.id:
            while events and events[0].payload["seq"] < attempt.node["seq"]:
                yield None, events.pop(0)
        yield attempt, None
    for event in events:
        yield None, event
