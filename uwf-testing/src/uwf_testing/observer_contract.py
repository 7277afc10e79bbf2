"""The promises of every observer, as tests: subclass `ObserverContract` and define its fixture.

```python
import pytest
from uwf_testing.observer_contract import ObserverContract

class TestAudit(ObserverContract):
    @pytest.fixture
    def observer(self, tmp_path, monkeypatch):
        monkeypatch.setenv("AUDIT_FILE", str(tmp_path / "audit.jsonl"))
        return "audit"                            # the name of the entry point
```

The kit calls the hooks that the observer implements, with the events of a run.
"""

import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, ClassVar

import pytest

from uwf_core.plugins.loading import manager_of
from uwf_core.plugins.scan import OBSERVERS, EntryPoint
from uwf_testing.contract import KIT_VERSION, Contract
from uwf_testing.observer_events import HOOKS, Event, events_of_a_run
from uwf_testing.plugin_contract import PluginContract
from uwf_testing.surroundings import ends_within, process_unchanged

__all__ = ["KIT_VERSION", "Contract", "ObserverContract"]

_RUNS_AT_ONCE = 4

Notify = Callable[[Event], Sequence[Any]]


class ObserverContract(PluginContract):
    """The promises of an observer: it sees a run and changes nothing of it."""

    kind = "observer"
    group = OBSERVERS

    seconds: ClassVar[float] = 10.0
    """How long the events of a whole run may take, and threads after it."""

    @pytest.fixture
    def record(self, found: EntryPoint) -> Any:
        """The observer's hooks; it registers no record."""
        return manager_of(found)

    @pytest.fixture
    def notify(self, record: Any) -> Notify:
        """Calls the observer's hook of an event; returns what it returned."""

        def call(event: Event) -> Sequence[Any]:
            returned: Sequence[Any] = getattr(record.hook, HOOKS[type(event)])(event=event)
            return returned

        return call

    def check_announced(self, record: Any, name: str) -> None:
        """Check that it implements a hook for an event."""
        del name
        used = [hook for hook in HOOKS.values() if getattr(record.hook, hook).get_hookimpls()]
        assert used, f"it implements none of {', '.join(HOOKS.values())}"

    def test_no_event_of_a_run_makes_it_fail(self, notify: Notify) -> None:
        """It handles all events of a run: odd text, every kind of failure, unknown usage. It never
        ends the process.
        """
        for event in events_of_a_run():
            _check_handled(notify, event)

    def test_an_event_makes_sense_alone(self, notify: Notify) -> None:
        """Each command is a process: an observer may get any event of a thread first, and never
        the others.
        """
        for number, event in enumerate(reversed(events_of_a_run()), 1):
            _check_handled(notify, event._replace(thread=f"01JD0000000000000000000{number:03}"))

    def test_it_returns_nothing(self, notify: Notify) -> None:
        """An observer returns None: it has no say in a run."""
        for event, returned in _answers(notify):
            assert not list(returned), f"{HOOKS[type(event)]} returns {returned!r}"

    def test_events_are_left_as_they_were(self, notify: Notify) -> None:
        """The observer does not change an event, which other observers get as well."""
        events = events_of_a_run()
        list(_answers(notify, events))
        for event, before in zip(events, events_of_a_run(), strict=True):
            assert event == before, f"{HOOKS[type(event)]} changes its event"

    def test_several_threads_may_notify_it(self, notify: Notify) -> None:
        """Events come from any thread, several at once."""
        together = threading.Barrier(_RUNS_AT_ONCE)

        def run(number: int) -> None:
            together.wait(self.seconds)
            for event in events_of_a_run(thread=f"01JD0000000000000000000{number:03}"):
                _check_handled(notify, event)

        with ThreadPoolExecutor(_RUNS_AT_ONCE) as threads:
            list(threads.map(run, range(1, _RUNS_AT_ONCE + 1)))

    def test_it_does_not_hold_a_run_up(self, notify: Notify) -> None:
        """A run waits for its observers: all events of one are handled within `seconds`."""
        assert ends_within(self.seconds, lambda: list(_answers(notify))), "a run waits for it"

    def test_it_keeps_no_process_alive(self, notify: Notify) -> None:
        """It leaves no thread for which the process must wait at its end."""
        before = set(threading.enumerate())
        list(_answers(notify))
        for thread in set(threading.enumerate()) - before:
            if not thread.daemon:
                thread.join(self.seconds)
                assert not thread.is_alive(), f"{thread.name} still runs, and is not a daemon"

    def test_the_process_is_left_as_it_was(
        self, notify: Notify, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """The observer changes neither the current folder nor the environment of uwf's process."""
        with process_unchanged(tmp_path, monkeypatch):
            list(_answers(notify))

    def test_its_output_is_not_the_result(
        self, notify: Notify, capfd: pytest.CaptureFixture[str]
    ) -> None:
        """The observer writes nothing to standard output, which is the command's result."""
        capfd.readouterr()
        list(_answers(notify))
        assert capfd.readouterr().out == ""


def _check_handled(notify: Notify, event: Event) -> None:
    hook = HOOKS[type(event)]
    try:
        notify(event)
    except BaseException as error:  # also what would end the process
        pytest.fail(f"{hook} raises {type(error).__name__}: {error!s:.200} for {event!r:.300}")


def _answers(
    notify: Notify, events: Sequence[Event] | None = None
) -> Iterator[tuple[Event, Sequence[Any]]]:
    """The events that are handled, with what was returned; another clause tests that all are."""
    for event in events_of_a_run() if events is None else events:
        returned = None
        try:
            returned = notify(event)
        except (Exception, SystemExit):
            continue
        yield event, returned
