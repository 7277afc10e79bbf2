"""The receivers of events and notices: a terminal, a client, observers of plugins."""

from collections.abc import Callable, Iterable
from typing import Protocol


class Watch(Protocol):
    """Gets the events and notices of a run. Called from any thread; must not raise."""

    def event(self, event: object) -> None:
        """One of the event records of `uwf_core.api`."""

    def notice(self, text: str) -> None:
        """One line for people, such as the origin of a workflow."""


class Silent:
    """A watch that ignores everything."""

    def event(self, event: object) -> None:
        """Ignore it."""

    def notice(self, text: str) -> None:
        """Ignore it."""


class Broadcast:
    """Sends to a watch, and to the observers of plugins, which are loaded at the first event."""

    def __init__(
        self, watch: Watch, observers: Callable[[], Iterable[Callable[[object], None]]]
    ) -> None:
        self._watch = watch
        self._load = observers
        self._observers: tuple[Callable[[object], None], ...] | None = None

    def event(self, event: object) -> None:
        """Send it to the watch, then to the observers."""
        self._watch.event(event)
        if self._observers is None:
            self._observers = tuple(self._load())
        for observe in self._observers:
            observe(event)

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
