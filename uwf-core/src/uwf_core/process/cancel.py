"""The cancel token: set once, seen by everybody who holds it."""

import threading


class Cancel:
    """Says that a run is to stop. Thread-safe; once set, it stays set."""

    __slots__ = ("_event", "reason")

    def __init__(self) -> None:
        self._event = threading.Event()
        self.reason: str | None = None

    def set(self, reason: str) -> None:
        """Ask to stop; only the first reason is kept. Safe to call from a signal handler."""
        if self.reason is None:
            self.reason = reason
        self._event.set()

    def is_set(self) -> bool:
        """Whether somebody asked to stop."""
        return self._event.is_set()

    def wait(self, seconds: float | None = None) -> bool:
        """Wait until set, at most `seconds`; whether it is set."""
        return self._event.wait(seconds)
