"""The thread that calls an agent."""

import threading
from collections.abc import Callable
from queue import SimpleQueue

_Work = Callable[[], None]


class AgentThread:
    """Make all calls of one agent, one after the other, in one thread: what an agent keeps for a
    thread (an event loop, a connection) is available at its next call.

    The thread starts at the first call, and ends with `end` or when this object is deleted. A
    thread that does not return from a call is abandoned, and the next call gets another.
    """

    def __init__(self, name: str) -> None:
        self._name = f"agent {name}"
        self._queue: SimpleQueue[_Work | None] | None = None
        self._done = threading.Event()

    def call(self, work: _Work) -> threading.Event:
        """Start `work`, which raises nothing; return the event of its end.

        Raises:
            RuntimeError: no more threads can be started.
        """
        if self._queue is None or not self._done.is_set():
            self._begin()
        assert self._queue is not None
        done = self._done = threading.Event()
        self._queue.put(lambda: _do(work, done))
        return done

    def end(self) -> None:
        """End the thread after its call."""
        if self._queue is not None:
            self._queue.put(None)
            self._queue = None

    __del__ = end

    def _begin(self) -> None:
        self.end()
        queue: SimpleQueue[_Work | None] = SimpleQueue()
        # A daemon, since a thread that is stuck must not keep the process from ending.
        threading.Thread(target=_work_off, args=(queue,), name=self._name, daemon=True).start()
        self._queue = queue


def _do(work: _Work, done: threading.Event) -> None:
    try:
        work()
    finally:
        done.set()


def _work_off(queue: "SimpleQueue[_Work | None]") -> None:
    """Keep no reference to the object whose end is the signal to stop."""
    while (work := queue.get()) is not None:
        work()
        del work
