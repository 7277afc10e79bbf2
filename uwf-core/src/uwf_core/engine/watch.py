"""Who gets the events and notices of a run."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from uwf_core.plugins.observers import Event, Observers


class Watch(Protocol):
    """Gets the events and notices of a run. Called from any thread; must not raise."""

    def event(self, event: object) -> None:
        """One of the event records of `uwf_core.api`."""

    def notice(self, text: str) -> None:
        """One line for people, such as the origin of a workflow."""


class Broadcast:
    """Sends to a watch, and to the observers of plugins, which `load` imports."""

    def __init__(self, watch: Watch, observers: "Callable[[], Observers | None]") -> None:
        self._watch = watch
        self._load = observers
        self._is_loaded = False
        self._observers: Observers | None = None

    def load(self) -> None:
        """Import the observers, unless that was done."""
        if not self._is_loaded:
            self._is_loaded = True
            self._observers = self._load()

    def event(self, event: "Event") -> None:
        """Send it to the watch, then to the observers."""
        self._watch.event(event)
        if self._observers is not None:
            self._observers.notify(event)

    def relay(self, event: object) -> None:
        """Send an event of another process, which has its observers, to the watch alone."""
        self._watch.event(event)

    def close(self) -> None:
        """Wait until the observers have handled every event."""
        if self._observers is not None:
            self._observers.close()

    def notice(self, text: str) -> None:
        """Send it to the watch alone."""
        self._watch.notice(text)


class Listener:
    """A watch made of two functions."""

    def __init__(
        self,
        on_event: Callable[[object], None] | None,
        on_notice: Callable[[str], None] | None,
    ) -> None:
        self._on_event = on_event
        self._on_notice = on_notice

    def event(self, event: object) -> None:
        """Call the function for events."""
        if self._on_event is not None:
            self._on_event(event)

    def notice(self, text: str) -> None:
        """Call the function for notices."""
        if self._on_notice is not None:
            self._on_notice(text)
