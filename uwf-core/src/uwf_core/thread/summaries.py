"""Summaries in place of older steps (`thread compact`): which one holds before a step.

The events of compaction are a list: each refers to the one before it, in a fork also to that of the
thread that it was forked from. A summary holds as long as its step is in the chain: a poke that
replaces this step makes the summary before it hold again.
"""

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, NamedTuple

from uwf_core.ids import Ref
from uwf_core.thread.decisions import Event
from uwf_core.thread.history import read_step, step_at

if TYPE_CHECKING:
    from uwf_core.cas.store import Store

SUMMARY_CHARACTERS = 16_000
"""The maximum size of a summary: half of what a prompt shows of the steps after it."""


class StepsSummary(NamedTuple):
    """A summary that holds: its event, and the number of the newest summarized step."""

    event: Event
    number: int

    def text(self, store: "Store") -> str:
        """The summary."""
        return store.text(Ref(self.event.payload["summary"]))


def compactions(store: "Store", newest: str | None) -> Iterator[Event]:
    """The events of compaction from `newest` back."""
    while newest is not None:
        payload = store.payload(Ref(newest))
        yield Event("compacted", newest, payload)
        newest = payload["previous"]


def summaries(store: "Store", events: Iterable[Event], head: str | None) -> Iterator[StepsSummary]:
    """Those of the events whose step is in the chain that ends at the step `head`, as given."""
    if head is None:
        return
    newest = read_step(store, Ref(head))
    for event in events:
        step = read_step(store, Ref(event.payload["step"]))
        number = step.payload["number"]
        if number <= newest.payload["number"] and step_at(store, newest, number).ref == step.ref:
            yield StepsSummary(event, number)


def newest_summary(store: "Store", compacted: str | None, head: str | None) -> StepsSummary | None:
    """The newest summary that holds; `compacted` is the newest event of compaction."""
    return next(summaries(store, compactions(store, compacted), head), None)


def summary_text(
    store: "Store", events: Iterable[Event], prev: str | None
) -> tuple[int, str] | None:
    """The newest summary that holds after the step `prev`, as a prompt shows it: the number of its
    step, and the text.
    """
    found = next(summaries(store, events, prev), None)
    return None if found is None else (found.number, found.text(store))
