"""The promises of every exporter, as tests: subclass `ExporterContract` and define its fixture.

```python
import pytest
from uwf_testing.exporter_contract import ExporterContract

class TestCsv(ExporterContract):
    @pytest.fixture
    def exporter(self):
        return "csv"                              # the name of the entry point

    def test_each_step_is_a_line(self, thread, export):
        assert len(export(thread).splitlines()) == 1 + thread.count
```

The kit exports threads with corrections, failed attempts, replaced steps, answers of persons,
calls, branches and hostile text: completed, idle, suspended and cancelled ones. `thread` is the
richest without calls, `threads` are all by name, and `export` gives the output of a new exporter.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from itertools import zip_longest
from pathlib import Path
from typing import Any

import pytest

from uwf_core.api import ExporterSpec, RecordedStep, RecordedThread
from uwf_core.plugins.plugins import Plugins
from uwf_core.plugins.scan import EXPORTERS
from uwf_testing.contract import KIT_VERSION
from uwf_testing.exporter_threads import ExporterThreads
from uwf_testing.surroundings import Work, WorkContract

__all__ = ["KIT_VERSION", "ExporterContract"]

Export = Callable[[RecordedThread], bytes]
Parts = Callable[[RecordedThread], Iterable[Any]]
Threads = Mapping[str, RecordedThread]


class ExporterContract(WorkContract):
    """The promises of `Exporter`."""

    kind = "exporter"
    group = EXPORTERS

    @pytest.fixture
    def recorded(self, tmp_path: Path) -> Iterator[ExporterThreads]:
        """The store with the threads of the kit."""
        made = ExporterThreads(tmp_path / "kit-threads")
        yield made
        made.close()

    @pytest.fixture
    def threads(self, recorded: ExporterThreads) -> Threads:
        """The threads of the kit, by what happened in them."""
        return recorded.all()

    @pytest.fixture
    def thread(self, threads: Threads) -> RecordedThread:
        """The thread of the kit in which most happened."""
        return threads["rich"]

    @pytest.fixture
    def parts(self, record: ExporterSpec, plugins: Plugins, plugin_name: str) -> Parts:
        """Calls a new exporter, which is created as by uwf; what it gives."""

        def call(thread: RecordedThread) -> Iterable[Any]:
            made = plugins.attribute(EXPORTERS, plugin_name, record.factory)()
            given: Iterable[Any] = made.export(thread)
            return (given,) if isinstance(given, str | bytes) else given

        return call

    @pytest.fixture
    def export(self, parts: Parts) -> Export:
        """The whole output of a new exporter."""
        return lambda thread: b"".join(map(_encoded, parts(thread)))

    @pytest.fixture
    def work(self, export: Export, threads: Threads) -> Work:
        """Exports every thread of the kit."""
        return lambda: _export_all(export, threads)

    def check_record(self, record: ExporterSpec) -> None:
        """Check the suffix, which ends the names of files."""
        suffix = record.suffix
        assert suffix.startswith(".") and "/" not in suffix, f"the suffix {suffix!r} has no dot"

    def test_every_thread_can_be_exported(self, parts: Parts, threads: Threads) -> None:
        """It exports threads of every status, with every kind of step, also one without steps. It
        never ends the process.
        """
        for name, thread in threads.items():
            try:
                list(parts(thread))
            except BaseException as error:
                pytest.fail(f"the {name} thread raises {type(error).__name__}: {error!s:.200}")

    def test_the_output_is_text_or_bytes(self, parts: Parts, threads: Threads) -> None:
        """Each part is text that UTF-8 can encode, or bytes."""
        for name, thread in _exportable(parts, threads):
            for part in parts(thread):
                assert isinstance(part, str | bytes), f"{name}: a part is {type(part).__name__}"
                _encoded(part)

    def test_the_same_thread_gives_the_same_output(
        self, export: Export, recorded: ExporterThreads
    ) -> None:
        """Two exports of a thread are the same bytes: no time, no random number, no order by
        chance.
        """
        again = recorded.all()
        for name, thread in _exportable(export, recorded.all()):
            assert export(thread) == export(again[name]), f"two exports of {name} differ"

    def test_two_at_once_stay_apart(
        self, parts: Parts, export: Export, recorded: ExporterThreads
    ) -> None:
        """Two exports whose parts are read alternately each give the output of their thread."""
        names = ("rich", "hostile")
        alone = [export(recorded.all()[name]) for name in names]
        running = [iter(parts(recorded.all()[name])) for name in names]
        pairs = list(zip_longest(*running, fillvalue=b""))
        assert [b"".join(map(_encoded, each)) for each in zip(*pairs, strict=True)] == alone

    def test_nothing_is_written_to_the_store(
        self, export: Export, recorded: ExporterThreads
    ) -> None:
        """An export changes no node and no name."""
        before = recorded.contents()
        _export_all(export, recorded.all())
        assert recorded.contents() == before, "the store has changed"

    def test_the_thread_is_left_as_it_was(self, export: Export, threads: Threads) -> None:
        """The exporter changes no value of the thread, which other code may read after it."""
        before = {name: _snapshot(thread) for name, thread in threads.items()}
        _export_all(export, threads)
        for name, thread in threads.items():
            assert _snapshot(thread) == before[name], f"it changes values of the {name} thread"


def _encoded(part: Any) -> bytes:
    return part.encode() if isinstance(part, str) else bytes(part)


def _exportable(
    export: Callable[[RecordedThread], Any], threads: Threads
) -> Iterator[tuple[str, RecordedThread]]:
    """The threads that it exports; another clause tests that it exports all."""
    for name, thread in threads.items():
        with suppress(Exception, SystemExit):
            list(export(thread))
            yield name, thread


def _export_all(export: Export, threads: Threads) -> None:
    for thread in threads.values():
        with suppress(Exception, SystemExit):
            export(thread)


def _snapshot(thread: RecordedThread) -> str:
    """Every value of a thread and of its steps, as text."""
    own = (thread.node, thread.usage, thread.workflow.graph, thread.workflow.roles)
    steps = [_step(step) for step in (*thread.steps(), *thread.pending)]
    events = [(each.kind, each.payload) for each in thread.events()]
    return repr((own, steps, events))


def _step(step: RecordedStep) -> Any:
    turns = [(turn.node, turn.tool_calls) for turn in step.turns]
    corrections = [(each.node, each.errors) for each in step.corrections]
    return step.node, step.output, step.failure, turns, corrections
