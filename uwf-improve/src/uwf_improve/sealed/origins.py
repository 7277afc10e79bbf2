"""Which recorded threads belong to sealed tasks, and which ones a search has seen.

A task that was made of a thread has the source `source:<thread>`. Threads that this one called, and
forks of it, show the same work.
"""

from collections.abc import Iterable, Iterator
from typing import Final

from uwf_core.client import Client
from uwf_core.errors import StoreError
from uwf_core.ids import ThreadId
from uwf_eval.store.results import Results
from uwf_improve.edit.catalog import Edits
from uwf_improve.sealed.catalog import Sets

SCREEN: Final = "screen."
"""The names of the runs of screenings begin so."""
SOURCE: Final = "source:"
"""The mark of what the versions of a task share begins so; often a thread follows."""


class Origins:
    """Where the threads of a client's store come from; the marks of each are read once."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._known: dict[str, frozenset[str]] = {}

    def sealed(self) -> frozenset[str]:
        """The marks of all threads of which sealed tasks were made."""
        return self._marks_of(
            mark.removeprefix(SOURCE)
            for record in Sets(self._client).known()
            for mark, place in record.places.items()
            if place.side == "sealed" and ThreadId.matches(mark.removeprefix(SOURCE))
        )

    def seen(self) -> frozenset[str]:
        """The marks of all threads that a search has seen: an edit was screened on a step, or its
        author got the texts of one, or cites one.
        """
        return self._marks_of([*self._screened(), *self._shown()])

    def _screened(self) -> Iterator[str]:
        results = Results(self._client)
        for run in results.runs():
            if run.name.startswith(SCREEN):
                for trial in results.trials(run.run):
                    if trial.recorded is not None:
                        yield trial.recorded.thread

    def _shown(self) -> Iterator[str]:
        for edit, _ in Edits(self._client).all():
            for step in (*edit.seen, *(step for each in edit.findings for step in each.steps)):
                try:
                    yield str(self._client.nodes.get(step)["thread"])
                except StoreError:
                    continue  # a deleted thread is shown to nobody again

    def marks(self, thread: str) -> frozenset[str]:
        """What a thread, the threads above it and their forks share. Of a deleted thread only its
        id is known.
        """
        if thread not in self._known:
            self._known[thread] = frozenset(self._read(thread))
        return self._known[thread]

    def _marks_of(self, threads: Iterable[str]) -> frozenset[str]:
        return frozenset[str]().union(*map(self.marks, dict.fromkeys(threads)))

    def _read(self, thread: str | None) -> Iterator[str]:
        seen = set[str]()
        while thread is not None and thread not in seen:
            yield thread
            seen.add(thread)
            if self._client.nodes.name(f"@uwf/thread/{thread}") is None:
                return
            above = self._client.show(thread)["parent"]
            if above is None:
                yield self._client.thread(thread).start
            thread = above
