"""The thread in which an agent is called."""

import threading
from collections.abc import Callable
from queue import SimpleQueue

_Work = Callable[[], None]


class AgentThread:
    """Makes all calls of one agent, one after the other, in one thread: what an agent keeps for a
    thread (an event loop, a connection) is there at its next call.

    The thread is begun at the first call, and ends with `end` or once nobody holds this object any
    more. One that does not come back from a call is left behind, and the next call gets another.
    """

    def __init__(self, name: str) -> None:
        self._name = f"agent {name}"
        self._queue: SimpleQueue[_Work | None] | None = None
        self._done = threading.Event()

    def call(self, work: _Work) -> threading.Event:
        """Begin `work`, which raises nothing; the event is set when it is done.

        Raises:
            RuntimeError: no further thread can be started.
        """
        if self._queue is None or not self._done.is_set():
            self._begin()
        assert self._queue is not None
        done = self._done = threading.Event()
        self._queue.put(lambda: _do(work, done))
        return done

    def end(self) -> None:
        """Let the thread end once its call is over."""
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
    """Refers to no object whose end is the sign to stop."""
    while (work := queue.get()) is not None:
        work()
        del work
