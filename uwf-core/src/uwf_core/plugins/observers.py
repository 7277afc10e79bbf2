"""Observers: plugins that receive events. Whatever one does, the work continues, and its time does
not count as that of a step.
"""

import threading
from collections import deque
from collections.abc import Callable, Iterable
from time import monotonic
from typing import TYPE_CHECKING

from uwf_core.errors import PluginBroken, PluginError
from uwf_core.plugins.guards import OBSERVER_THREAD, PluginGuard
from uwf_core.plugins.loading import cause_of
from uwf_core.plugins.scan import EntryPoint

if TYPE_CHECKING:
    import pluggy

    from uwf_core.api.events import (
        StepAsked,
        StepFailed,
        StepFinished,
        StepStarted,
        ThreadEnded,
        ThreadStarted,
        TurnTaken,
    )

    Event = (
        ThreadStarted
        | StepStarted
        | TurnTaken
        | StepFinished
        | StepFailed
        | StepAsked
        | ThreadEnded
    )

_HOOKS = {
    "ThreadStarted": "uwf_thread_started",
    "StepStarted": "uwf_step_started",
    "TurnTaken": "uwf_turn",
    "StepFinished": "uwf_step_finished",
    "StepFailed": "uwf_step_failed",
    "StepAsked": "uwf_step_asked",
    "ThreadEnded": "uwf_thread_ended",
}


_LAST = ("StepFinished", "StepFailed", "StepAsked", "ThreadEnded")
"""After these events the run waits for the observers."""

OBSERVER_SECONDS = 10.0
"""The longest time of an import or a hook call, if the limit of a run is not shorter."""


class Observer:
    """An observer in its own thread, which imports it and then makes all calls of its hooks.

    Args:
        found: its origin. load: imports it.
        guard: keeps its output off our stdout. seconds: the time limit of its import and each call.
        on_fault: gets one line if it fails; afterwards its failures are not reported.
    """

    def __init__(
        self,
        found: EntryPoint,
        load: Callable[[], "pluggy.PluginManager"],
        guard: PluginGuard,
        seconds: float,
        on_fault: Callable[[str], None],
    ) -> None:
        self._found = found
        self._load = load
        self._guard = guard
        self._seconds = seconds
        self._on_fault = on_fault
        self._manager: pluggy.PluginManager | None = None
        self._events: deque[Event | None] = deque((None,))  # None: import it
        self._changed = threading.Condition()
        self._began = monotonic()
        self._is_over = False
        self._is_reported = False
        self._thread = threading.Thread(
            target=self._serve, name=f"{OBSERVER_THREAD}{found.name}", daemon=True
        )
        self._thread.start()

    def send(self, event: "Event") -> None:
        """Let it handle an event; returns at once."""
        with self._changed:
            if not self._is_over:
                self._began = self._began if self._events else monotonic()
                self._events.append(event)
                self._changed.notify_all()

    def wait(self) -> None:
        """Wait until it has handled all events, or abandon it after its time limit."""
        with self._changed:
            while self._events and not self._is_over:
                left = self._began + self._seconds - monotonic()
                if left > 0:
                    self._changed.wait(left)
                    continue
                self._is_over = True
                assert self._thread.ident is not None
                self._guard.forget(self._thread.ident)
                doing = _hook_of(self._events[0])
                self._report(
                    f"{doing} took longer than {self._seconds:g} s; it gets no further events"
                )

    def close(self) -> None:
        """Wait for it, and end its thread."""
        self.wait()
        with self._changed:
            self._is_over = True
            self._changed.notify_all()

    def _serve(self) -> None:
        while True:
            with self._changed:
                while not self._events:
                    if self._is_over:
                        return
                    self._changed.wait()
                event = self._events[0]
            self._handle(event)
            with self._changed:
                if self._is_over:  # it was abandoned
                    return
                self._events.popleft()
                self._began = monotonic()
                self._changed.notify_all()

    def _handle(self, event: "Event | None") -> None:
        """Import it, or call its hook. What it raises is its failure, also a KeyboardInterrupt:
        that of a person reaches the main thread.
        """
        try:
            if event is None:
                self._manager = self._load()
            elif self._manager is not None:
                with self._guard:
                    getattr(self._manager.hook, _hook_of(event))(event=event)
        except (PluginBroken, PluginError) as error:
            self._report(f"{error.message} ({error.hint})", named=True)
        except BaseException as error:
            self._report(f"{_hook_of(event)} failed: {cause_of(error)}")

    def _report(self, text: str, *, named: bool = False) -> None:
        if not self._is_reported:
            self._is_reported = True
            self._on_fault(text if named else f"the observer {self._found}: {text}")


def _hook_of(event: "Event | None") -> str:
    return "its import" if event is None else _HOOKS[type(event).__name__]


class Observers:
    """All observers of a run."""

    def __init__(self, observers: Iterable[Observer]) -> None:
        self._observers = list[Observer]()
        for each in observers:  # imported one after the other
            each.wait()
            self._observers.append(each)

    def notify(self, event: "Event") -> None:
        """Notify every observer; callable from any thread. The work continues meanwhile: only the
        end of a step or thread waits until they have handled it.
        """
        for each in self._observers:
            each.send(event)
        if type(event).__name__ in _LAST:
            for each in self._observers:
                each.wait()

    def close(self) -> None:
        """Wait until all events are handled, and end the observers' threads."""
        for each in self._observers:
            each.close()
