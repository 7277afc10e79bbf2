"""Observers: plugins that receive events. An error in one never stops the work."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from uwf_core.errors import RunInterrupted
from uwf_core.named_tuple import NamedTuple
from uwf_core.plugins.guards import StdoutGuard
from uwf_core.plugins.loading import cause_of
from uwf_core.plugins.scan import EntryPoint

if TYPE_CHECKING:
    import pluggy

    from uwf_core.api.events import (
        StepFailed,
        StepFinished,
        StepStarted,
        ThreadEnded,
        ThreadStarted,
        TurnTaken,
    )

    Event = ThreadStarted | StepStarted | TurnTaken | StepFinished | StepFailed | ThreadEnded

_HOOKS = {
    "ThreadStarted": "uwf_thread_started",
    "StepStarted": "uwf_step_started",
    "TurnTaken": "uwf_turn",
    "StepFinished": "uwf_step_finished",
    "StepFailed": "uwf_step_failed",
    "ThreadEnded": "uwf_thread_ended",
}


class Observer(NamedTuple):
    """A loaded observer: its origin, and the manager that holds its hooks."""

    found: EntryPoint
    manager: "pluggy.PluginManager"


class Observers:
    """All observers of a run. `on_fault` gets one line for each observer that fails, once."""

    def __init__(
        self, observers: Sequence[Observer], guard: StdoutGuard, on_fault: Callable[[str], None]
    ) -> None:
        self._observers = tuple(observers)
        self._guard = guard
        self._on_fault = on_fault
        self._reported: set[Observer] = set()

    def notify(self, event: "Event") -> None:
        """Notify every observer; callable from any thread."""
        hook = _HOOKS[type(event).__name__]
        for observer in self._observers:
            try:
                with self._guard:
                    getattr(observer.manager.hook, hook)(event=event)
            except (KeyboardInterrupt, RunInterrupted):
                raise
            except BaseException as error:
                self._report(observer, hook, error)

    def _report(self, observer: Observer, hook: str, error: BaseException) -> None:
        if observer not in self._reported:
            self._reported.add(observer)
            self._on_fault(f"the observer {observer.found} failed in {hook}: {cause_of(error)}")
