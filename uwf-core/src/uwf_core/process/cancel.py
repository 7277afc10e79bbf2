"""The cancel token: set once, visible to all holders."""

import threading


class Cancel:
    """A request to stop a run. Thread-safe; once set, it stays set."""

    __slots__ = ("_event", "reason")

    def __init__(self) -> None:
        self._event = threading.Event()
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
