"""The cancel token: set once, visible to all holders."""

import os
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from typing import Final

_LAST_SECONDS: Final = 1.0
"""What a cancelled run still stores, such as the files of its step, may take so long together."""


BY_CTRL_C: Final = "interrupted by Ctrl-C"
"""The reason of a cancel by the person at the terminal."""


class Cancel:
    """A request to stop a run. Thread-safe; once set, it stays set.

    Attributes:
        reason: why.
        working: what still ends because of it: agents, and programs with their trees.
        groups: the process groups of short programs that run for it, such as git. They are killed
            before this process ends at once.
    """

    __slots__ = ("_event", "_last_until", "groups", "reason", "working")

    def __init__(self) -> None:
        self._event = threading.Event()
        self._last_until = 0.0
        self.groups = set[int]()
        self.working = set[object]()
        self.reason: str | None = None

    def set(self, reason: str) -> None:
        """Request a stop; only the first reason is kept. Safe in a signal handler."""
        if self.reason is None:
            self.reason = reason
        self._event.set()

    def is_set(self) -> bool:
        """Whether a stop was requested."""
        return self._event.is_set()

    def wait(self, seconds: float | None = None) -> bool:
        """Wait until set, at most `seconds`; whether it is set."""
        return self._event.wait(seconds)

    def is_over(self) -> bool:
        """Whether it is set, and a second has passed since somebody asked this for the first time:
        what has to be stored may take that second, also if an agent ended long after the request.
        """
        if not self.is_set():
            return False
        now = time.monotonic()
        self._last_until = self._last_until or now + _LAST_SECONDS
        return now > self._last_until

    def kill_groups(self) -> None:
        """Kill the programs that run for it."""
        for group in [*self.groups]:
            with suppress(ProcessLookupError):
                os.killpg(group, signal.SIGKILL)

    @contextmanager
    def governing(self) -> Iterator[None]:
        """Let it be `current_cancel` in one block."""
        token = _CURRENT.set(self)
        try:
            yield
        finally:
            _CURRENT.reset(token)


_CURRENT: Final = ContextVar[Cancel | None]("cancel", default=None)


def current_cancel() -> Cancel | None:
    """The token of the run to which this code belongs, for programs that it starts; None outside of
    a run.
    """
    return _CURRENT.get()
