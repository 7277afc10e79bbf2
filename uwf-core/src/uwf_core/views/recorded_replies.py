"""The parts of a recorded thread that are messages: turns, rejected replies, questions."""

from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any

from uwf_core.ids import Ref
from uwf_core.thread.history import text_at
from uwf_core.thread.nodes import shown

if TYPE_CHECKING:
    from uwf_core.cas.store import Store
    from uwf_core.thread.decisions import Event
    from uwf_core.thread.types import CorrectionPayload, ToolCallPayload, TurnPayload


class TurnRecord:
    """A `RecordedTurn`."""

    def __init__(self, store: "Store", ref: str) -> None:
        self._store = store
        self.ref = ref
        self.node: TurnPayload = store.payload(Ref(ref))
        self.index = self.node["index"]
        self.speaker = self.node["speaker"]
        self.usage = self.node["usage"]

    @cached_property
    def shown(self) -> "TurnPayload":
        """The node with its texts."""
        found: TurnPayload = shown(self._store, "turn", self.node)
        return found

    @property
    def text(self) -> str:
        """The message."""
        return self.shown["text"]

    @property
    def reasoning(self) -> str | None:
        """The model's reasoning."""
        return self.shown["reasoning"]

    @property
    def tool_calls(self) -> "list[ToolCallPayload]":
        """The uses of tools, with the text of each result."""
        return self.shown["toolCalls"]


class CorrectionRecord:
    """A `RecordedCorrection`."""

    def __init__(self, store: "Store", node: "CorrectionPayload") -> None:
        self._store = store
        self.node = node
        self.errors = node["errors"]

    @property
    def prompt(self) -> str:
        """The text that the agent got."""
        return self._store.text(Ref(self.node["prompt"]))

    @property
    def raw(self) -> str:
        """The rejected reply."""
        return self._store.text(Ref(self.node["raw"]))


class EventRecord:
    """A `RecordedEvent`."""

    def __init__(self, store: "Store", event: "Event") -> None:
        self._store = store
        self.kind, self.ref, self.payload = event

    @cached_property
    def call(self) -> Mapping[str, Any] | None:
        """The call that ended with this question."""
        if self.kind != "asked":
            return None
        found: Mapping[str, Any] = self._store.payload(Ref(self.payload["attempt"]))
        return found

    @property
    def summary(self) -> str | None:
        """The text that replaces older steps in new sessions."""
        return None if self.kind != "compacted" else text_at(self._store, self.payload["summary"])

    @property
    def origin(self) -> str | None:
        """The thread from which a fork took over this summary."""
        before = self.payload["previous"] if self.kind == "compacted" else None
        thread = before and str(self._store.payload(Ref(before))["thread"])
        return None if thread == self.payload["thread"] else thread

    @property
    def said(self) -> str | None:
        """The words with which a person made that call."""
        return None if self.call is None else text_at(self._store, self.call["attempt"]["said"])
