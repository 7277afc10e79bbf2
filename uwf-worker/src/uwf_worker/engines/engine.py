"""What a queue does for workers: it wakes one when a thread can be run.

The queue is a hint, the store is the truth: a job names a thread, and the worker claims the row of
that thread in the store. A job that is lost, doubled or late therefore costs time, never a step.
"""

from collections.abc import Collection, Sequence
from hashlib import blake2b
from typing import NamedTuple, Protocol, runtime_checkable


class EngineError(Exception):
    """The queue failed. Workers continue without it: they look into the store from time to time."""


class Job(NamedTuple):
    """A hint: `thread` can perhaps be run. `id` is that of the queue."""

    id: int
    thread: str


class Hint(NamedTuple):
    """A thread to wake a worker for, in the queue of its needs."""

    thread: str
    queue: str


@runtime_checkable
class Engine(Protocol):
    """A queue. Called from several threads of a worker; each method may raise `EngineError`."""

    def enqueue(self, hints: Sequence[Hint]) -> None:
        """Add a job for each, after the commit that made the thread wanted. A thread that has a
        waiting job needs no second one.
        """

    def claim(self, queues: Collection[str], wait_seconds: float) -> Job | None:
        """A job of one of the queues, which no other worker gets; None after `wait_seconds`."""

    def heartbeat(self) -> None:
        """Tell the queue that this worker lives."""

    def finish(self, job: Job) -> None:
        """Remove a claimed job."""

    def reap(self) -> int:
        """Remove the claimed jobs of dead workers, whose threads the store hands out again; how
        many.
        """

    def close(self) -> None:
        """Release everything. A second call does nothing."""


def queue_of(needs: Sequence[str]) -> str:
    """The queue of threads with these needs: 20 characters, since some queues allow 40."""
    return "uwf-" + blake2b("\n".join(sorted(needs)).encode(), digest_size=8).hexdigest()
