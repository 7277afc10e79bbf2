"""A queue within one process: for tests, and for a worker without a queue, which then finds its
threads by looking into the store.
"""

from collections import deque
from collections.abc import Collection, Sequence
from threading import Condition

from uwf_worker.engines.engine import Hint, Job


class MemoryEngine:
    """A queue in memory."""

    def __init__(self) -> None:
        self._waiting: deque[tuple[Job, str]] = deque()
        self._claimed: dict[int, Job] = {}
        self._changed = Condition()
        self._last = 0
        self._is_open = True

    def enqueue(self, hints: Sequence[Hint]) -> None:
        """Add jobs."""
        with self._changed:
            there = {job.thread for job, _ in self._waiting}
            for hint in hints:
                if hint.thread not in there:
                    self._last += 1
                    self._waiting.append((Job(self._last, hint.thread), hint.queue))
                    there.add(hint.thread)
            self._changed.notify_all()

    def claim(self, queues: Collection[str], wait_seconds: float) -> Job | None:
        """The oldest job of one of the queues."""
        with self._changed:
            self._changed.wait_for(lambda: self._found(queues) or not self._is_open, wait_seconds)
            found = self._found(queues)
            if found is None:
                return None
            self._waiting.remove(found)
            self._claimed[found[0].id] = found[0]
            return found[0]

    def _found(self, queues: Collection[str]) -> tuple[Job, str] | None:
        return next((each for each in self._waiting if each[1] in queues), None)

    def heartbeat(self) -> None:
        """Nothing: the queue ends with its process."""

    def finish(self, job: Job) -> None:
        """Remove a job."""
        with self._changed:
            self._claimed.pop(job.id, None)

    def reap(self) -> int:
        """Nothing: no other process has claimed a job."""
        return 0

    def close(self) -> None:
        """Wake those that wait."""
        with self._changed:
            self._is_open = False
            self._changed.notify_all()
