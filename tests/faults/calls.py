"""Whether each call of a thread is recorded as it must be."""

from collections import Counter

from uwf_core.client import Client, ThreadFilter
from uwf_core.ids import ThreadId
from uwf_core.thread.calls import CALL_AGENT, calls_of
from uwf_core.thread.head import read_head
from uwf_core.thread.history import own_events

ALL = ThreadFilter(all=True, children=True)
"""The threads that others called as well."""

Calls = Counter[tuple[str, str]]
"""How many calls there are of a caller and a called thread."""


def miscalled(uwf: Client) -> str | None:
    """A call that is recorded twice, or neither recorded nor open."""
    begun, known = Calls(), Calls()
    store = uwf._engine.store
    for row in uwf.list(ALL):
        thread = ThreadId(row["thread"])
        known.update((thread, call.child) for call in calls_of(store, thread))
        for event in own_events(store, thread, read_head(store, thread).ref):
            if event.kind == "called":
                begun[event.payload["parent"], thread] += 1
            elif event.kind == "step" and event.payload["agent"] == CALL_AGENT:
                known[thread, event.payload["session"]] += 1
    return None if begun == known else f"called: {begun}; recorded or open: {known}"
