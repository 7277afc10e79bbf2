"""The read model: a thread as it is stored, each part read when it is asked for.

Every view and every exporter renders it; `uwf_core.api.reading` describes it for plugins.
"""

import json
from collections.abc import Iterator, Sequence
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

from uwf_core.engine.find import find_step, find_thread
from uwf_core.errors import CorruptNodeError, UnknownIdError, WrongStateError
from uwf_core.ids import Ref, ThreadId
from uwf_core.thread.calls import (
    Called,
    Frame,
    asks_below,
    called_by,
    open_calls,
    shown_state,
    stack_of,
)
from uwf_core.thread.head import Head, nodes_present, read_head
from uwf_core.thread.history import (
    failed_steps,
    is_start,
    is_step,
    newest_first,
    read_input,
    read_start,
    read_step,
    step_at,
    unordered_events,
)
from uwf_core.thread.lifecycle import effective
from uwf_core.thread.lock import holder_of
from uwf_core.thread.names import attempt_name, turns_prefix
from uwf_core.views.recorded_calls import CallRecord, open_calls_of
from uwf_core.views.recorded_replies import EventRecord, TurnRecord
from uwf_core.views.recorded_step import StepRecord

if TYPE_CHECKING:
    from uwf_core.api.calls import RecordedCall
    from uwf_core.api.store import Holder
    from uwf_core.api.sums import UsagePayload
    from uwf_core.engine.documents import CompactedDocument
    from uwf_core.engine.engine import Engine
    from uwf_core.thread.decisions import OpenAttempt
    from uwf_core.thread.state import ThreadState
    from uwf_core.thread.summaries import StepsSummary
    from uwf_core.thread.types import StartPayload
    from uwf_core.workflow.definition import Definition


def open_thread(engine: "Engine", word: str) -> "ThreadRecord":
    """The recorded thread that a word names.

    Raises:
        UnknownIdError: it is unknown. CorruptNodeError: its head is damaged.
    """
    return ThreadRecord(engine, read_head(engine.store, find_thread(engine, word)))


def open_step(engine: "Engine", word: str) -> "StepRecord":
    """The recorded step, or failed attempt, that a word names.

    Raises:
        UnknownIdError: unknown step. WrongStateError: it is the start of a thread.
    """
    ref = find_step(engine, word)
    if is_start(engine.store.payload(ref)):
        raise WrongStateError(
            f"{ref} is the start of a thread, not a step",
            hint=f"`uwf cas get {ref}` prints it; `uwf thread read` prints the task",
        )
    return StepRecord(engine, read_step(engine.store, ref))


class ThreadRecord:
    """A `RecordedThread`, as of the moment at which its head was read."""

    def __init__(self, engine: "Engine", head: Head) -> None:
        self._engine = engine
        self._head = head
        self.variable = head.variable
        self.id = str(head.thread)
        self.head = str(head.ref)
        self.start = str(head.state.start)
        self.stored = head.state

    @cached_property
    def node(self) -> "StartPayload":
        """The start node."""
        return read_start(self._engine.store, Ref(self.start))

    @property
    def task(self) -> str:
        """The text with which the thread was started."""
        return self._engine.store.text(Ref(self.node["prompt"]))

    @property
    def input(self) -> Any:
        """The typed input, None if the workflow has none."""
        has_input = self.workflow.input is not None
        return read_input(self._engine.store, self._head.state) if has_input else None

    @property
    def workflow(self) -> "Definition":
        """The workflow that the thread runs now."""
        return self._engine.definition(Ref(self._head.state.workflow))

    @property
    def alias(self) -> str | None:
        """The alias that the configuration has for the agent of the start, if that is a command."""
        return self._engine.alias_of(self.node["agent"])

    @cached_property
    def holder(self) -> "Holder | None":
        """The process that runs the thread."""
        return holder_of(self._engine.store, self._head.thread)

    @cached_property
    def is_sound(self) -> bool:
        """Whether the nodes that every command needs are there and no damage was found."""
        return self._head.damage is None and nodes_present(self._engine.store, self._head)

    @cached_property
    def state(self) -> "ThreadState":
        """The state to show."""
        is_running = self.holder is not None
        state = effective(self._head.state, is_running=is_running, is_sound=self.is_sound)
        return shown_state(self._engine.store, state)

    @cached_property
    def stack(self) -> list[Frame]:
        """The thread, and those below it in open calls."""
        return stack_of(self._engine.store, self._head)

    @property
    def called(self) -> list[Called]:
        """The threads that its roles called last."""
        return called_by(self._engine.store, self.stored)

    @property
    def open_calls(self) -> list[CallRecord]:
        """The open calls for which the next step waits; of a fan-out in the order of branches."""
        return open_calls_of(self._engine.store, self._head.thread)

    def called_thread(self, call: "RecordedCall") -> "ThreadRecord | None":
        """The thread of a call; None if it is deleted or cannot be read: exec reports that."""
        try:
            return ThreadRecord(self._engine, read_head(self._engine.store, ThreadId(call.thread)))
        except (UnknownIdError, CorruptNodeError):
            return None

    @property
    def form(self) -> dict[str, Any] | None:
        """The JSON Schema of an answer, of the pending question or of the role that yielded."""
        store = self._engine.store
        if open_calls(store, self._head.thread):
            below = [each.head for each in asks_below(store, self._head)]
            return ThreadRecord(self._engine, below[0]).form if len(below) == 1 else None
        waiting = self._head.state.suspension
        if waiting is None or waiting.reason != "role":
            return None
        if waiting.question is not None:
            form = json.loads(store.text(store.payload(Ref(waiting.question))["form"]))
        else:
            from uwf_core.workflow.definition import SUSPEND

            newest = next(self.newest_first(), None)
            form = newest.output.get("form") if newest and newest.status == SUSPEND else None
        return form if isinstance(form, dict) else None

    @property
    def status(self) -> str:
        """The status to show."""
        return self.state.status

    @cached_property
    def root(self) -> str | None:
        """The root of its bundle, None while it runs."""
        from uwf_core.thread.own_variables import thread_root

        return thread_root(self._engine.store, self._head)

    @property
    def cwd(self) -> str:
        """The folder of the thread."""
        return self._head.state.cwd

    @property
    def started_ms(self) -> int:
        """When it was started."""
        return self._head.state.started_ms

    @property
    def usage(self) -> "UsagePayload":
        """What all its attempts used."""
        return self._head.state.totals

    @property
    def running_ms(self) -> int:
        """The time that all its attempts took."""
        return self._head.state.running_ms

    @property
    def count(self) -> int:
        """How many steps there are."""
        return self._head.state.steps

    def newest_first(self, *fields: str, before: str | None = None) -> Iterator[StepRecord]:
        """The steps, newest first. What the `fields` of their nodes refer to is read with them.

        Raises:
            UnknownIdError: `before` is not a step of this thread.
        """
        top = self._head.ref if before is None else self._before(before)
        steps = newest_first(self._engine.store, top, Ref(self.start), fields)
        return map(partial(StepRecord, self._engine), steps)

    def _before(self, word: str) -> Ref:
        """The step before the one that a word names."""
        wanted, store = find_step(self._engine, word), self._engine.store
        node = store.payload(wanted)
        if is_step(node) and not self._head.at_start:
            newest = read_step(store, self._head.ref)
            if 0 < node["number"] <= newest.payload["number"]:
                found = step_at(store, newest, node["number"])
                if found.ref == wanted:
                    return Ref(found.payload["prev"] or self.start)
        raise UnknownIdError(
            f"{wanted} is not a step of thread {self.id}", hint=f"next: uwf step list {self.id}"
        )

    def steps(self, *fields: str) -> Iterator[StepRecord]:
        """The steps, oldest first."""
        return reversed(list(self.newest_first(*fields)))

    @property
    def pending(self) -> list[StepRecord]:
        """The attempts at the next step that have failed so far."""
        store = self._engine.store
        refs = failed_steps(store, self._head)
        return [StepRecord(self._engine, read_step(store, ref)) for ref in refs]

    def again(self) -> "ThreadRecord":
        """The thread as it is now. Whether it runs was looked up before: an attempt that is open
        although no process runs the thread was interrupted.
        """
        store, thread = self._engine.store, self._head.thread
        holder = holder_of(store, thread)
        found = ThreadRecord(self._engine, read_head(store, thread))
        found.holder = holder
        return found

    @property
    def open_turns(self) -> list[TurnRecord]:
        """The turns so far of the attempt that is open."""
        attempt, store = self._head.state.attempt, self._engine.store
        if attempt is None:
            return []
        found = store.variables(turns_prefix(self._head.thread, attempt.name))
        return [TurnRecord(store, variable.value) for variable in found]

    def result_of(self, attempt: "OpenAttempt") -> StepRecord | None:
        """The failed attempt or the step in which an attempt that was open has ended; None if it
        ended with a question.
        """
        store = self._engine.store
        failed = store.variable(attempt_name(self._head.thread, attempt.name))
        if failed is None:
            return next(
                (step for step in self.newest_first() if step.number == attempt.number), None
            )
        ref = store.payload(Ref(failed.value))["step"]
        return None if ref is None else StepRecord(self._engine, read_step(store, Ref(ref)))

    @property
    def summaries(self) -> "list[StepsSummary]":
        """The summaries that hold in place of steps (`thread compact`), the newest first."""
        newest, store = self.stored.compacted, self._engine.store
        if newest is None or self._head.at_start:
            return []
        from uwf_core.thread.summaries import compactions, summaries

        return list(summaries(store, compactions(store, newest), self.head))

    @property
    def compacted(self) -> "CompactedDocument | None":
        """The summary that new sessions get; None without one."""
        found = self.summaries
        if not found:
            return None
        from uwf_core.views.summary import compacted_document

        return compacted_document(self._engine.store, self.id, found[0])

    @property
    def summary_texts(self) -> dict[str, str]:
        """The summaries as Markdown, by the newest step that each replaces."""
        found = self.summaries
        if not found:
            return {}
        from uwf_core.views.summary import summary_markdown

        store = self._engine.store
        return {each.event.payload["step"]: summary_markdown(store, each) for each in found}

    def events(self) -> Sequence[EventRecord]:
        """The events of the thread that are not steps, in their order."""
        found = unordered_events(self._engine.store, self._head.thread)
        found.sort(key=lambda event: event.payload["seq"])
        return [EventRecord(self._engine.store, event) for event in found]
