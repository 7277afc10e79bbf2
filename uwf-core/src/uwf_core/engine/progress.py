"""Stage 7's record: turns and session of an attempt, kept as they come.

What an agent reports is redacted, then stored at most twenty times a second without waiting for
the disk: it survives the death of the process, and costs a long run little. What comes too soon
after the last is stored by whoever waits for the agent, at the next `flush`.
"""

import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from uwf_core.ids import Ref, ThreadId
from uwf_core.named_tuple import NamedTuple
from uwf_core.process import crash_points
from uwf_core.thread.names import turn_name
from uwf_core.thread.types import ToolCallPayload, TurnPayload
from uwf_core.thread.usage import usage_payload

if TYPE_CHECKING:
    from uwf_core.agents.redact import Redactor
    from uwf_core.api.agent import Turn, Usage
    from uwf_core.api.store import Variable
    from uwf_core.cas.store import Store
    from uwf_core.engine.nodes import Nodes
    from uwf_core.process.identity import ProcessId

FLUSH_SECONDS = 0.05


class Place(NamedTuple):
    """Where an attempt keeps its progress."""

    store: "Store"
    nodes: "Nodes"
    redactor: "Redactor"
    thread: ThreadId
    attempt: str


class Finished(NamedTuple):
    """What is left when an attempt has ended: its turn nodes in their order, the names of those
    that were stored as they came, and the attempt's own variable.
    """

    turns: list[Ref]
    loose: "list[Variable]"
    variable: "Variable"


class Progress:
    """The turn sink of one attempt; its calls may come from any thread."""

    def __init__(
        self, place: Place, variable: "Variable", on_turn: "Callable[[Turn], None]"
    ) -> None:
        self._place = place
        self._variable = variable
        self._on_turn = on_turn
        self._lock = threading.Lock()
        self._waiting: dict[int, Turn] = {}
        self._tags: dict[str, str] = {}
        self._turns: dict[int, Variable] = {}
        self._base = 0
        self._next = 0
        self._stored_at = time.monotonic()
        self._last_usage: Usage | None = None
        self._session: str | None = None

    @property
    def session_seen(self) -> str | None:
        """The session as far as the agent has told it."""
        return self._session

    @property
    def usage_seen(self) -> "Usage | None":
        """What the call under way has used, as far as the agent has told it."""
        return self._last_usage

    def next_call(self) -> None:
        """Another call of the same attempt begins: its turns count from 0 again."""
        with self._lock:
            self._base = self._next
            self._last_usage = None

    def turn(self, turn: "Turn") -> None:
        """Keep a turn, or a newer state of it."""
        clean = _redacted(turn, self._place.redactor)
        with self._lock:
            place = self._base + turn.index
            self._next = max(self._next, place + 1)
            self._waiting[place] = clean
            self._store_if_due()
        self._on_turn(clean)

    def session(self, session: str) -> None:
        """Keep the session's id; one that holds a secret is not kept, and the session is lost."""
        if self._place.redactor.text(session) == session:
            self._session = session
            self._note("session", session)

    def usage(self, usage: "Usage") -> None:
        """Keep what was used so far."""
        self._last_usage = usage

    def process(self, identity: "ProcessId") -> None:
        """Keep which process the agent is."""
        self._note("process", f"{identity.pid} {identity.start}")

    def _note(self, key: str, value: str) -> None:
        with self._lock:
            self._tags[key] = value
            self._store_if_due()

    def flush(self) -> None:
        """Store what waits.

        Raises:
            StoreError: it could not be stored.
        """
        with self._lock:
            self._store_waiting()

    def finish(self) -> "Finished":
        """Stop listening. What waits is stored as turns of the step that comes now, without names.

        Raises:
            StoreError: progress could not be kept.
        """
        with self._lock:
            turns = {place: Ref(each.value) for place, each in self._turns.items()}
            if self._waiting:
                with self._place.store.transaction(durable=False):
                    for index, turn in sorted(self._waiting.items()):
                        turns[index] = put_turn(self._place, index, turn)
                self._waiting = {}
            ordered = [turns[place] for place in sorted(turns)]
            return Finished(ordered, list(self._turns.values()), self._variable)

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
        place = self._place
        with place.store.transaction(durable=False):
            crash_points.reach("progress")
            for index, turn in sorted(waiting.items()):
                ref = put_turn(place, index, turn)
                self._turns[index] = place.store.set_variable(
                    turn_name(place.thread, place.attempt, index), ref, {}, self._turns.get(index)
                )
            if tags:
                merged = {**self._variable.tags, **tags}
                self._variable = place.store.set_variable(
                    self._variable.name, Ref(self._variable.value), merged, self._variable
                )


def put_turn(place: Place, index: int, turn: "Turn") -> Ref:
    """Store a turn and its texts."""
    store = place.store
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
        "role": turn.role,
        "text": store.put_text(turn.text),
        "reasoning": None if turn.reasoning is None else store.put_text(turn.reasoning),
        "toolCalls": calls,
        "usage": None if turn.usage is None else usage_payload(turn.usage),
    }
    return place.nodes.put("turn", payload)


def _redacted(turn: "Turn", redactor: "Redactor") -> "Turn":
    from dataclasses import replace

    def clean(text: str | None) -> Any:
        return None if text is None else redactor.partial(text)

    calls = tuple(
        replace(
            call,
            id=clean(call.id),
            name=clean(call.name),
            arguments=clean(call.arguments),
            result=clean(call.result),
        )
        for call in turn.tool_calls
    )
    return replace(turn, text=clean(turn.text), reasoning=clean(turn.reasoning), tool_calls=calls)
