"""The typed input at each step of a recorded thread, which a later call can have replaced."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from uwf_core.ids import Ref, ThreadId
from uwf_core.thread.history import read_start, unordered_events

if TYPE_CHECKING:
    from uwf_core.cas.store import Store
    from uwf_core.workflow.definition import Definition


class RecordedInputs:
    """The inputs of the threads that made a chain; each thread's calls are read once."""

    def __init__(self, store: "Store", start: str) -> None:
        self._store = store
        self._start = start
        self._calls: dict[str, list[tuple[int, str | None]]] = {}

    def at(self, definition: "Definition", event: Mapping[str, Any]) -> Any:
        """The input that a thread had at a step or attempt: that of the newest call before it, else
        of the start. None if the workflow has none.
        """
        if definition.input is None:
            return None
        given = read_start(self._store, Ref(self._start))["input"]
        for seq, called in self._calls_of(event["thread"]):
            given = called if seq < event["seq"] else given
        return None if given is None else self._store.payload(Ref(given))

    def _calls_of(self, thread: str) -> list[tuple[int, str | None]]:
        if thread not in self._calls:
            events = unordered_events(self._store, ThreadId(thread))
            calls = [each.payload for each in events if each.kind == "called"]
            self._calls[thread] = sorted((call["seq"], call["input"]) for call in calls)
        return self._calls[thread]
