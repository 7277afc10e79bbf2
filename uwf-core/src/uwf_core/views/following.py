"""What happens in a thread, and in those that it calls, as others run it. Takes no lock."""

from collections.abc import Iterator, Sequence
from itertools import takewhile
from typing import TYPE_CHECKING, Any, NamedTuple

from uwf_core.api.agent import Usage
from uwf_core.api.events import StepFailed, StepFinished
from uwf_core.engine.labels import label_of
from uwf_core.errors import CorruptNodeError, UnknownIdError
from uwf_core.fields.records import read_payload
from uwf_core.ids import Ref, ThreadId
from uwf_core.moderator.next import is_back
from uwf_core.thread.calls import calling_heads, open_below
from uwf_core.thread.head import read_head
from uwf_core.thread.lock import running_threads
from uwf_core.thread.names import attempt_name, turns_prefix
from uwf_core.views.activity import Activity, Running, activity_of, is_over
from uwf_core.views.recorded import RecordedThread
from uwf_core.views.recorded_step import RecordedTurn
from uwf_core.views.row import used_with_calls
from uwf_core.views.steps import turn_document
from uwf_core.workflow.definition import END, SUSPEND

if TYPE_CHECKING:
    from uwf_core.api.sums import UsagePayload
    from uwf_core.engine.documents import TurnDocument
    from uwf_core.engine.engine import Engine
    from uwf_core.thread.state import ThreadState
    from uwf_core.thread.types import NextPayload
    from uwf_core.views.recorded_step import RecordedStep

EARLIER = 10
"""So many steps from before are shown."""


class TurnSeen(NamedTuple):
    """A turn, or a newer state of one; `label` is the number of its step in the whole tree.
    `is_finished`: it does not grow any more.
    """

    thread: str
    label: str
    turn: "TurnDocument"
    is_finished: bool


class BranchesSeen(NamedTuple):
    """An open fan-out: its role, and how many branches have each status."""

    role: str
    counts: dict[str, int]


class Look(NamedTuple):
    """What is new since the last look, in the order in which it happened, and how it is now.

    Attributes:
        events: `StepFinished`, `StepFailed` and `TurnSeen`. state: of the root, as it is shown.
        usage: of the root with all that it called. attempts: the steps under way.
        stack: the names of the workflows from the root to the thread at work.
        skipped: how many steps from before were left out.
    """

    events: list[object]
    state: "ThreadState"
    usage: "UsagePayload"
    attempts: list[Running]
    branches: list[BranchesSeen]
    stack: list[str]
    is_running: bool
    skipped: int


def running_roots(engine: "Engine") -> list[str]:
    """The roots of all threads that run now, oldest first."""
    roots = set[str]()
    for thread in running_threads(engine.store):
        if not ThreadId.matches(thread):
            continue
        try:
            state = read_head(engine.store, ThreadId(thread)).state
        except (UnknownIdError, CorruptNodeError):  # its run reports it
            continue
        above = calling_heads(engine.store, state) if state.caller is not None else []
        roots.add(above[-1].thread if above else thread)
    return sorted(roots)


class SeenRun:
    """What was seen of a thread."""

    def __init__(self, number: int) -> None:
        self.number = number  # of its newest step that was seen
        self.head = ""
        self.failed: set[str] = set()
        self.turns: dict[tuple[int, int, int], str] = {}


class Follower:
    """Looks at a thread again and again."""

    def __init__(self, engine: "Engine", root: str) -> None:
        self._engine = engine
        self.root = ThreadId(root)
        self._seen: dict[str, SeenRun] = {}
        self._is_first = True

    def look(self) -> Look:
        """What has happened since the last look; at the first one, since the tenth step from the
        end.

        Raises:
            UnknownIdError: the thread was deleted. CorruptNodeError: it is damaged.
        """
        store = self._engine.store
        below = open_below(store, self.root)
        # Read before the threads: what ends in between is seen now, and again at the next look.
        root = RecordedThread(self._engine, read_head(store, self.root)).again()
        found = [root, *(each for child in below if (each := self._record(child)) is not None)]
        skipped = max(root.count - EARLIER, 0) if self._is_first else 0
        events = [event for each in reversed(found) for event in self._events(each)]
        self._is_first = False
        attempts = [each for record in found for each in self._attempt(record)]
        state = root.state
        return Look(
            events,
            state,
            used_with_calls(self._engine, root.stored),
            attempts,
            _branches(root, found),
            [frame.workflow_name for frame in root.stack],
            state.status == "running" or any(each.holder is not None for each in found),
            skipped,
        )

    def _record(self, thread: ThreadId) -> RecordedThread | None:
        try:
            return RecordedThread(self._engine, read_head(self._engine.store, thread)).again()
        except (UnknownIdError, CorruptNodeError):  # the run reports it
            return None

    def _events(self, record: RecordedThread) -> Iterator[object]:
        if record.id not in self._seen:
            first = max(record.count - EARLIER, 0) if self._is_first else 0
            self._seen[record.id] = SeenRun(first)
        seen = self._seen[record.id]
        for step in self._new_steps(record, seen):
            yield from self._below(step)
            for failed in step.attempts:
                yield from self._failed(record, seen, failed)
            yield from self._turns(record, seen, step, step.turns, is_over=True)
            yield self._finished(record, step)
        for failed in record.pending:
            yield from self._failed(record, seen, failed)
        opened = record.stored.attempt
        if opened is not None:
            yield from self._turns(record, seen, opened, record.open_turns, is_over=False)

    def _new_steps(self, record: RecordedThread, seen: SeenRun) -> "list[RecordedStep]":
        if record.head == seen.head:
            return []
        newest = takewhile(
            lambda step: step.number > seen.number and step.ref != seen.head,
            record.newest_first("output"),
        )
        found = list(newest)
        replaced = next(record.newest_first(), None) if not found else None
        if replaced is not None and seen.head and replaced.node["attempt"]["replaces"] is not None:
            found = [replaced]  # by a poke
        seen.head, seen.number = record.head, record.count
        return found[::-1]

    def _below(self, step: "RecordedStep") -> Iterator[object]:
        """What happened in the threads of a call that began and ended between two looks."""
        for call in step.calls if not self._is_first else ():
            record = self._record(ThreadId(call.thread))
            if record is not None:
                yield from self._events(record)

    def _failed(
        self, record: RecordedThread, seen: SeenRun, step: "RecordedStep"
    ) -> Iterator[object]:
        failure = step.failure
        if step.ref in seen.failed or failure is None:
            return
        seen.failed.add(step.ref)
        yield from self._turns(record, seen, step, step.turns, is_over=True)
        node = step.node
        yield StepFailed(
            thread=record.id, number=step.number, attempt=len(node["previousAttempts"]) + 1,
            step=step.ref, role=step.role, agent=node["agent"] or "", kind=failure["kind"],
            message=failure["message"], at_ms=node["completedAtMs"],
            label=self._label(record, step.number),
        )  # fmt: skip

    def _turns(
        self,
        record: RecordedThread,
        seen: SeenRun,
        of: Any,
        turns: Sequence[RecordedTurn],
        *,
        is_over: bool,
    ) -> Iterator[TurnSeen]:
        """The turns of a step or an open attempt that are new or have grown."""
        attempt = of.attempt if hasattr(of, "attempt") else len(of.node["previousAttempts"]) + 1
        step = of if is_over else None
        for turn in turns:
            is_finished = is_over or turn is not turns[-1]
            key, state = (of.number, attempt, turn.index), f"{turn.ref}{is_finished}"
            if seen.turns.get(key) == state:
                continue
            was_given = seen.turns.get(key) == f"{turn.ref}True"
            seen.turns[key] = state
            if not was_given:
                label = self._label(record, of.number)
                yield TurnSeen(record.id, label, turn_document(turn, of, step), is_finished)

    def _finished(self, record: RecordedThread, step: "RecordedStep") -> StepFinished:
        node, target = step.node, _leads_to(step.node["next"])
        graph = step.workflow.graph
        return StepFinished(
            thread=record.id, number=step.number, step=step.ref, role=step.role,
            agent=node["agent"] or "", output=step.output, usage=read_payload(Usage, node["usage"]),
            duration_ms=step.duration_ms, at_ms=node["completedAtMs"],
            denials=tuple(node["denials"]), leads_to=target,
            back=target in graph
            and step.role in graph
            and is_back(step.workflow, step.role, target or ""),
            label=self._label(record, step.number),
        )  # fmt: skip

    def _label(self, record: RecordedThread, number: int) -> str:
        return label_of(self._engine, record.stored, number) if record.stored.caller else ""

    def _attempt(self, record: RecordedThread) -> Iterator[Running]:
        opened, store = record.stored.attempt, self._engine.store
        if opened is None or record.holder is None:
            return
        variable = store.variable(attempt_name(ThreadId(record.id), opened.name))
        if variable is None:
            return
        node = store.payload(Ref(variable.value))
        rows = store.variables(turns_prefix(ThreadId(record.id), opened.name))
        turns = [RecordedTurn(store, row.value) for row in rows]
        label = self._label(record, opened.number) or str(opened.number)
        agent = self._engine.alias_of(node["agent"]) or node["agent"]
        started, heard = node["startedAtMs"], max((row.updated_ms for row in rows), default=0)
        yield Running(
            label, opened.attempt, opened.role, agent, started / 1000, max(started, heard) / 1000,
            len(turns), _tokens(turns), _activity(turns), node["attempt"]["answer"] is not None,
        )  # fmt: skip


def _leads_to(to: "NextPayload") -> str | None:
    """The target of the edge that a step took; None if there is none."""
    if to["reason"] is not None:
        return SUSPEND if to["reason"] == "role" else None
    return to["role"] or END


def _branches(root: RecordedThread, found: Sequence[RecordedThread]) -> list[BranchesSeen]:
    """The open fan-outs of a tree."""
    result = []
    for record in found:
        frame = record.stack[0] if record.stack else None
        if frame is not None and frame.branches is not None:
            counts: dict[str, int] = {}
            for call in record.open_calls:
                status = call.state or "corrupt"
                counts[status] = counts.get(status, 0) + 1
            result.append(BranchesSeen(frame.role or "", counts))
    return result


def _tokens(turns: Sequence[RecordedTurn]) -> int | None:
    known = [
        (turn.usage["inputTokens"] or 0) + (turn.usage["outputTokens"] or 0)
        for turn in turns
        if turn.usage is not None and turn.usage["outputTokens"] is not None
    ]
    return sum(known) if known else None


def _activity(turns: Sequence[RecordedTurn]) -> Activity:
    if not turns:
        return Activity()
    tools = [
        (str(each["name"]), is_over(each["result"], each["startedAtMs"], each["endedAtMs"]))
        for each in turns[-1].tool_calls
    ]
    return activity_of(turns[-1].text, tools)
