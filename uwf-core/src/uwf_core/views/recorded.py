"""The read model: a thread as it is stored, each part read when it is asked for.

Every view and every exporter renders it, those of plugins as well (`uwf_core.api`). Nothing in it
can change the store.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

from uwf_core.engine.find import find_step, find_thread
from uwf_core.errors import CorruptNodeError, UnknownIdError, WrongStateError
from uwf_core.ids import Ref, ThreadId
from uwf_core.thread.calls import (
    Frame,
    LastCalled,
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
    oldest_first,
    read_start,
    read_step,
    step_at,
    text_at,
    typed_input,
    unordered_events,
)
from uwf_core.thread.lifecycle import effective
from uwf_core.thread.lock import holder_of
from uwf_core.thread.names import TASK, attempt_name, turns_prefix
from uwf_core.thread.tags import CUT, first_line
from uwf_core.views.recorded_step import RecordedCall, RecordedStep, RecordedTurn, open_calls_of

if TYPE_CHECKING:
    from uwf_core.api.store import Holder
    from uwf_core.api.sums import UsagePayload
    from uwf_core.cas.store import Store
    from uwf_core.engine.documents import CompactedDocument
    from uwf_core.engine.engine import Engine
    from uwf_core.thread.decisions import Event, OpenAttempt
    from uwf_core.thread.state import ThreadState
    from uwf_core.thread.summaries import StepsSummary
    from uwf_core.thread.types import StartPayload
    from uwf_core.workflow.definition import Definition


def open_thread(engine: "Engine", word: str) -> "RecordedThread":
    """The recorded thread that a word names.

    Raises:
        UnknownIdError: it is unknown. CorruptNodeError: its head is damaged.
    """
    return RecordedThread(engine, read_head(engine.store, find_thread(engine, word)))


def open_step(engine: "Engine", word: str) -> "RecordedStep":
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
    return RecordedStep(engine, read_step(engine.store, ref))


class RecordedEvent:
    """A stored event of the thread that is not a step.

    Attributes:
        kind: `started`, `called`, `compacted`, `asked`, `granted`, `limit`, `unrouted`, …
        ref: the reference of its node.
        payload: the node's payload: `seq`, `atMs`, `by`, `next` and what the kind adds.
    """

    def __init__(self, store: "Store", event: "Event") -> None:
        self._store = store
        self.kind, self.ref, self.payload = event

    @cached_property
    def call(self) -> Mapping[str, Any] | None:
        """Of `asked`: the payload of the call that asked (`payload["attempt"]`), whose record
        `attempt` has the person who made it (`by`) and the words of that person (`said`, a
        reference).
        """
        if self.kind != "asked":
            return None
        found: Mapping[str, Any] = self._store.payload(Ref(self.payload["attempt"]))
        return found

    @property
    def said(self) -> str | None:
        """Of `asked`: the words with which a person made that call, if any."""
        return None if self.call is None else text_at(self._store, self.call["attempt"]["said"])

    @property
    def summary(self) -> str | None:
        """Of `compacted`: the text that replaces older steps in new sessions."""
        return None if self.kind != "compacted" else text_at(self._store, self.payload["summary"])

    @property
    def origin(self) -> str | None:
        """Of `compacted`: the thread from which a fork took over this summary, if any."""
        before = self.payload["previous"] if self.kind == "compacted" else None
        thread = before and str(self._store.payload(Ref(before))["thread"])
        return None if thread == self.payload["thread"] else thread


class RecordedThread:
    """One run of a workflow as it is stored, as of the moment at which its head was read.

    Attributes:
        id: the thread's id.
        head: the reference of its newest step, or of its start.
        start: the reference of its start node.
        variable: its head as the store has it.
        stored: the state that its head has.
    """

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
        """The payload of the start node: `prompt` is a reference, `cwd` and `agent` are text."""
        return read_start(self._engine.store, Ref(self.start))

    @property
    def task(self) -> str:
        """The text with which the thread was started."""
        return self._engine.store.text(Ref(self.node["prompt"]))

    @property
    def task_line(self) -> str:
        """The first line of its task, which its head has unless it is long."""
        line = self.variable.tags.get(TASK)
        return first_line(self.task) if line is None or line.endswith(CUT) else line

    @property
    def input(self) -> Any:
        """The typed input, None if the workflow has none."""
        return typed_input(self._engine.store, self.workflow, self._head.state)

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
    def called(self) -> list[LastCalled]:
        """The threads that its roles called last."""
        return called_by(self._engine.store, self.stored)

    @cached_property
    def has_calls(self) -> bool:
        """Whether it has calls for which its next step waits."""
        return bool(open_calls(self._engine.store, self._head.thread))

    @property
    def open_calls(self) -> list[RecordedCall]:
        """The calls for which the next step waits, of branches in their order."""
        return open_calls_of(self._engine.store, self._head.thread)

    def called_thread(self, call: RecordedCall) -> "RecordedThread | None":
        """The thread of a call of this thread; None if it is deleted or cannot be read."""
        try:
            return open_thread(self._engine, ThreadId(call.thread))
        except (UnknownIdError, CorruptNodeError):
            return None

    @property
    def form(self) -> dict[str, Any] | None:
        """The JSON Schema of an answer, of the pending question or of the role that yielded."""
        store = self._engine.store
        if self.has_calls:
            below = [each.head for each in asks_below(store, self._head)]
            return RecordedThread(self._engine, below[0]).form if len(below) == 1 else None
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
        """`idle`, `running`, `suspended`, `completed`, `cancelled` or `corrupt`."""
        return self.state.status

    @cached_property
    def root(self) -> str | None:
        """The root over all its nodes, which `uwf thread export` and `uwf bundle verify` print; it
        reads all of them. None while the thread runs.
        """
        from uwf_core.thread.own_variables import thread_root

        return thread_root(self._engine.store, self._head)

    @property
    def cwd(self) -> str:
        """The folder of the thread."""
        return self._head.state.cwd

    @property
    def started_ms(self) -> int:
        """When it was started, in ms since 1970."""
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

    def newest_first(self, *fields: str, before: str | None = None) -> Iterator[RecordedStep]:
        """The steps, newest first; reads little more than is consumed. `fields` as for `steps`;
        with `before` (a step, or a prefix of one) only the steps before that one.

        Raises:
            UnknownIdError: `before` is not a step of this thread.
        """
        top = self._head.ref if before is None else self._before(before)
        steps = newest_first(self._engine.store, top, Ref(self.start), fields)
        return map(partial(RecordedStep, self._engine), steps)

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

    def steps(self, *fields: str) -> Iterator[RecordedStep]:
        """The steps, oldest first. What the `fields` of their nodes refer to (`output`, `body`, …)
        is read together with them, which makes long threads fast. Few are in memory at a time.
        """
        steps = oldest_first(self._engine.store, self._head.ref, Ref(self.start), fields)
        return map(partial(RecordedStep, self._engine), steps)

    @cached_property
    def pending(self) -> list[RecordedStep]:
        """The attempts at the next step that have failed so far, oldest first."""
        store = self._engine.store
        refs = failed_steps(store, self._head.state)
        return [RecordedStep(self._engine, read_step(store, ref)) for ref in refs]

    def again(self) -> "RecordedThread":
        """The thread as it is now. Whether it runs was looked up before: an attempt that is open
        although no process runs the thread was interrupted.
        """
        store, thread = self._engine.store, self._head.thread
        holder = holder_of(store, thread)
        found = RecordedThread(self._engine, read_head(store, thread))
        found.holder = holder
        return found

    @property
    def open_turns(self) -> list[RecordedTurn]:
        """The turns so far of the attempt that is open."""
        attempt, store = self._head.state.attempt, self._engine.store
        if attempt is None:
            return []
        found = store.variables(turns_prefix(self._head.thread, attempt.name))
        return [RecordedTurn(store, variable.value) for variable in found]

    def result_of(self, attempt: "OpenAttempt") -> RecordedStep | None:
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
        return None if ref is None else RecordedStep(self._engine, read_step(store, Ref(ref)))

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

    def events(self) -> Sequence[RecordedEvent]:
        """The events of the thread that are not steps, in their order."""
        found = unordered_events(self._engine.store, self._head.thread)
        found.sort(key=lambda event: event.payload["seq"])
        return [RecordedEvent(self._engine.store, event) for event in found]
