"""The progress of stage 7: turns and session of an attempt, stored during the run.

What an agent reports is redacted, then stored at most twenty times a second without waiting for
the disk: it survives the death of the process, and costs a long run little. What comes sooner
waits for the next `flush` of the supervisor.
"""

import json
import threading
import time
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from uwf_core.api.agent import usage_payload
from uwf_core.api.events import TurnTaken
from uwf_core.ids import Ref
from uwf_core.process import crash_points
from uwf_core.thread.names import turn_name
from uwf_core.thread.types import ToolCallPayload, TurnPayload

if TYPE_CHECKING:
    from uwf_core.api.agent import Turn, Usage
    from uwf_core.api.redact import Redactor
    from uwf_core.api.store import Variable
    from uwf_core.engine.context import Attempt, Run
    from uwf_core.engine.engine import Engine
    from uwf_core.process.identity import ProcessId

FLUSH_SECONDS = 0.05


class Progress:
    """The turn sink of one attempt; its calls may come from any thread.

    Attributes:
        began: when it was made, by the monotonic clock.
        session_seen, usage_seen: what the current call has reported so far.
    """

    def __init__(self, run: "Run", attempt: "Attempt") -> None:
        self._run = run
        self._engine = run.engine
        self._attempt = attempt
        self._lock = threading.Lock()
        self._waiting: dict[int, Turn] = {}
        self._tags: dict[str, str] = {}
        self._turns: dict[int, Variable] = {}
        self._base = 0
        self._next = 0
        self.began = self._stored_at = time.monotonic()
        self.usage_seen: Usage | None = None
        self.session_seen: str | None = None

    def next_call(self) -> None:
        """Start another call of the same attempt, whose turns count from 0 again."""
        with self._lock:
            self._base = self._next
            self.usage_seen = None

    def turn(self, turn: "Turn") -> None:
        """Store a turn, or a newer state of it."""
        clean = _redacted(turn, self._engine.redactor)
        with self._lock:
            index = self._base + turn.index
            self._next = max(self._next, index + 1)
            self._waiting[index] = clean
            self._store_if_due()
        payload = self._attempt.payload
        self._run.watch.event(
            TurnTaken(
                thread=payload["thread"],
                number=payload["number"],
                role=payload["role"],
                turn=clean,
            )
        )

    def session(self, session: str) -> None:
        """Store the session's id; an id with a secret is not stored, and the session is lost."""
        if self._engine.redactor.text(session) == session:
            self.session_seen = session
            self._note("session", session)

    @property
    def has_turns(self) -> bool:
        """Whether the current call has reported a turn."""
        return self._next > self._base

    def usage(self, usage: "Usage") -> None:
        """Store the usage so far."""
        self.usage_seen = usage
        spent = self._attempt.usage
        total = usage if spent is None else spent.plus(usage)
        self._note("usage", json.dumps(usage_payload(total)))

    def process(self, identity: "ProcessId") -> None:
        """Store the process of the agent: it may start threads."""
        self._attempt.may_call = True
        self._note("process", f"{identity.pid} {identity.start}")

    def _note(self, key: str, value: str) -> None:
        with self._lock:
            self._tags[key] = value
            self._store_if_due()

    def flush(self) -> None:
        """Store what waits.

        Raises:
            StoreError: progress could not be stored.
        """
        with self._lock:
            self._store_waiting()

    def finish(self) -> None:
        """Fill the turns of the attempt at its end. Those that wait are stored without names, as
        turns of the step that is stored next.

        Raises:
            StoreError: progress could not be stored.
        """
        with self._lock:
            turns = {index: Ref(each.value) for index, each in self._turns.items()}
            if self._waiting:
                with self._engine.store.batch(durable=False):
                    for index, turn in sorted(self._waiting.items()):
                        turns[index] = save_turn(self._engine, index, turn)
            self._attempt.turns = [turns[index] for index in sorted(turns)]
            self._attempt.loose = list(self._turns.values())

    def _store_if_due(self) -> None:
        if time.monotonic() - self._stored_at >= FLUSH_SECONDS:
            self._store_waiting()

    def _store_waiting(self) -> None:
        waiting, self._waiting = self._waiting, {}
        tags, self._tags = self._tags, {}
        self._stored_at = time.monotonic()
        if waiting or tags:
            self._store(waiting, tags)

    def _store(self, waiting: "dict[int, Turn]", tags: dict[str, str]) -> None:
        store, attempt = self._engine.store, self._attempt
        with store.batch(durable=False):
            crash_points.reach("progress")
            for index, turn in sorted(waiting.items()):
                ref = save_turn(self._engine, index, turn)
                name = turn_name(attempt.head.thread, attempt.opened.name, index)
                self._turns[index] = store.set_variable(name, ref, {}, self._turns.get(index))
            before = attempt.variable
            if tags and before is not None:
                attempt.variable = store.set_variable(
                    before.name, Ref(before.value), {**before.tags, **tags}, before
                )


def save_turn(engine: "Engine", index: int, turn: "Turn") -> Ref:
    """Store a turn and its texts."""
    store = engine.store
    calls: list[ToolCallPayload] = [
        {
            "id": call.id,
            "name": call.name,
            "arguments": call.arguments,
            "result": None if call.result is None else store.put_text(call.result),
            "isError": call.is_error,
            "startedAtMs": call.started_ms,
            "endedAtMs": call.ended_ms,
        }
        for call in turn.tool_calls
    ]
    payload: TurnPayload = {
        "index": index,
        "speaker": turn.role,
        "text": store.put_text(turn.text),
        "reasoning": None if turn.reasoning is None else store.put_text(turn.reasoning),
        "toolCalls": calls,
        "usage": None if turn.usage is None else usage_payload(turn.usage),
    }
    return engine.nodes.put("turn", payload)


def _redacted(turn: "Turn", redactor: "Redactor") -> "Turn":
    def clean(record: Any, *names: str) -> dict[str, Any]:
        return {
            name: None if (text := getattr(record, name)) is None else redactor.partial(text)
            for name in names
        }

    own = ("id", "name", "arguments", "result")
    calls = tuple([replace(call, **clean(call, *own)) for call in turn.tool_calls])
    return replace(turn, **clean(turn, "text", "reasoning"), tool_calls=calls)
