"""A place in a recorded thread, from which the stages plan and prompt the next step again."""

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from uwf_core.engine.context import Task
from uwf_core.engine.plan import Position, question_text
from uwf_core.ids import Ref, ThreadId
from uwf_core.moderator.next import Transition
from uwf_core.thread.decisions import Caller, Event, failure_kind, runs
from uwf_core.thread.expiry import after_expiry, expired_by
from uwf_core.thread.fold import after_step, decided
from uwf_core.thread.history import (
    Step,
    read_start,
    text_at,
)
from uwf_core.thread.state import ThreadState
from uwf_core.thread.summaries import summary_text
from uwf_core.workflow.definition import START

if TYPE_CHECKING:
    from uwf_core.cas.store import Store
    from uwf_core.replay.chain import Chain, Entry, Recorded
    from uwf_core.thread.types import NextPayload
    from uwf_core.workflow.definition import Definition


class ReplayPosition(Position):
    """A position that moves along the recorded attempts.

    Attributes:
        definition: the workflow of the next attempt.
        state: the thread's state with the decisions of `definition`.
        prev: the newest step.
        given: the typed input of the next attempt, None without one.
    """

    def __init__(self, store: "Store", chain: "Chain", definition: "Definition") -> None:
        self.store = store
        self._chain = chain
        start = read_start(store, Ref(chain.start))
        self._task_text = store.text(Ref(start["prompt"]))
        self.definition = definition
        self.state = _at_start(chain, start, definition)
        self.prev: str | None = None
        self.given: Any = None
        self._instruction = ""
        self._seq = 0
        self._route: Transition | None = None
        self._last: Task | None = None
        self._waiting: Task | None = None
        self._tries: list[Step] = []
        self._texts: dict[str, str] = {}

    def enter(
        self,
        definition: "Definition",
        attempt: Mapping[str, Any],
        given: Any,
        route: Transition | None,
    ) -> None:
        """Continue in this workflow and in the thread of an attempt with this typed input. `route`
        is where the newest step leads in it.
        """
        thread = attempt["thread"]
        before = self._seq if thread == self.state.thread else -1
        self.definition, self.given, self._seq = definition, given, attempt["seq"]
        if thread != self.state.thread:  # a fork is not called as its origin was
            self.state = self.state._replace(thread=thread, caller=None)
        self.state = self.state._replace(workflow=definition.ref)
        if route is not None:
            self._route = route
            self.state = decided(self.state, route.decision(0))
        for event in self._chain.expired:
            if event.payload["thread"] == thread and before < event.payload["seq"] < self._seq:
                self._expire(event)

    def _expire(self, event: Event) -> None:
        """A question of the recorded thread has expired; the workflow decides what follows."""
        asked = self.state.suspension
        if asked is None or asked.expires is None:
            return
        self.state = decided(self.state, after_expiry(asked))
        expired = expired_by(asked, event.payload["seq"])
        if expired is not None:
            self.state = self.state._replace(expired=expired)
            self._waiting = None

    def begin_call(self, entry: "Entry") -> None:
        """Another thread calls this one: its steps get the instruction of the call."""
        steps = self.state.steps
        caller = Caller("", entry.thread, entry.number, steps, entry.role, entry.plays)
        to = runs(self.definition.graph[START]["resume" if steps else "new"].role)
        self._instruction = entry.instruction
        if not steps:
            self._task_text = entry.instruction
        self.state = decided(self.state._replace(caller=caller, cwd=entry.cwd), to)

    def pass_by(
        self, attempt: "Recorded", task: Task, route: Transition | None, to: "NextPayload"
    ) -> None:
        """Move behind an attempt. `task` is what it was to do, `route` where its output leads, and
        `to` the decision with it.
        """
        payload = attempt.payload
        task = task._replace(cwd=payload["attempt"]["cwd"], agent=payload["agent"])
        is_step = attempt.kind in ("step", "replaced")
        kind = "asked" if attempt.kind == "asked" else "step"
        self.state = after_step(self.state, Event(kind, attempt.ref, {**payload, "next": to}))
        if is_step:
            self.prev, self._last, self._waiting, self._tries = attempt.ref, task, None, []
            self._route = route
            return
        self._waiting = self._task_again(attempt, task)
        if attempt.kind == "failed":
            self._tries = [*self._tries, Step(Ref(attempt.ref), payload)]  # type: ignore[arg-type]

    def _task_again(self, attempt: "Recorded", task: Task) -> Task:
        payload, store = attempt.payload, self.store
        given = text_at(store, payload["attempt"]["answer"])
        is_asked = attempt.kind == "asked"
        return task._replace(
            said=text_at(store, payload["attempt"]["said"]),
            answer=None if given is None else json.loads(given),
            last_failure=None if is_asked else failure_kind(payload),
            question=question_text(store, payload["question"]) if is_asked else None,
        )

    def last(self) -> Task:
        """The task of the newest step."""
        assert self._last is not None
        return self._last

    def route(self) -> Transition:
        """Where the newest step leads."""
        assert self._route is not None
        return self._route

    def called_with(self) -> str:
        """The instruction of the newest call."""
        return self._instruction

    def pending(self) -> Task | None:
        """The task of the newest attempt at the next step that ended without one."""
        return self._waiting

    def takes_edge(self) -> bool:
        """Whether the next task follows an edge: no attempt is pending, and no role waits."""
        waits = self.state.suspension
        return self._waiting is None and (waits is None or waits.reason != "role")

    def task_text(self) -> str:
        """The task of the whole thread."""
        return self._task_text

    def steps_before(self, task: Task) -> Iterable[Step]:
        """The steps before that of the task, newest first."""
        return self._chain.steps[: task.number - 1][::-1]

    def summary(self, task: Task) -> tuple[int, str] | None:
        """What its thread had stored, at the time, in place of steps before the task."""
        found = (
            each
            for each in self._chain.compactions
            if each.payload["thread"] == self.state.thread and each.payload["seq"] < self._seq
        )
        return summary_text(self.store, found, task.prev)

    def tries(self) -> Sequence[Step]:
        """The failed attempts at the next step."""
        return self._tries

    def markdown(self, step: Step) -> str:
        """A step as the history of a prompt shows it; written once, read by many prompts."""
        if step.ref not in self._texts:
            self._texts[step.ref] = super().markdown(step)
        return self._texts[step.ref]


def _at_start(chain: "Chain", start: Mapping[str, Any], definition: "Definition") -> ThreadState:
    state = ThreadState(
        thread=chain.thread,
        seq=1,
        status="idle",
        workflow=definition.ref,
        workflow_name=definition.name,
        start=chain.start,
        cwd=start["cwd"],
        started_ms=ThreadId(chain.thread).created_ms,
        current_role=None,
        agent=start["agent"],
    )
    return decided(state, runs(definition.graph[START]["new"].role))
