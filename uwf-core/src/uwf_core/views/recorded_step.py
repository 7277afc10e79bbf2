"""A recorded step, each part read when it is asked for."""

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from uwf_core.ids import Ref
from uwf_core.thread.calls import CALL_AGENT
from uwf_core.thread.decisions import artifacts_of, session_of
from uwf_core.thread.head import session_rests
from uwf_core.thread.history import (
    Saying,
    Step,
    is_answer,
    read_start,
    read_step,
    sayings,
    text_at,
)
from uwf_core.thread.nodes import shown
from uwf_core.views.recorded_calls import CallRecord, calls_of_step
from uwf_core.views.recorded_replies import CorrectionRecord, TurnRecord

if TYPE_CHECKING:
    from uwf_core.engine.engine import Engine
    from uwf_core.files.content import FileRecord
    from uwf_core.thread.types import ErrorPayload, StartPayload
    from uwf_core.workflow.definition import Definition


class StepRecord:
    """A `RecordedStep`."""

    _output: Mapping[str, Any] | None = None  # read once

    def __init__(self, engine: "Engine", step: Step) -> None:
        self._engine = engine
        self._step = step
        self.ref, self.node = step
        self.number, self.role = self.node["number"], self.node["role"]

    @property
    def shown(self) -> Any:
        """The node with texts and values in place of the references that documents resolve."""
        return shown(self._engine.store, "step", self.node)

    @property
    def workflow(self) -> "Definition":
        """The workflow that chose the role and routed the output."""
        return self._engine.definition(Ref(self.node["workflow"]))

    @property
    def child(self) -> str | None:
        """The thread that it called, if it is a call."""
        return session_of(self.node)["id"] if self.node["agent"] == CALL_AGENT else None

    @property
    def calls(self) -> list[CallRecord]:
        """The calls that it recorded: one, or those of the branches in their order."""
        return calls_of_step(self._engine.store, self._step)

    @property
    def alias(self) -> str | None:
        """The alias that the configuration has for the agent, if that is a command."""
        return self._engine.alias_of(self.node["agent"])

    @property
    def start_node(self) -> "StartPayload":
        """The start node of its chain."""
        return read_start(self._engine.store, Ref(self.node["start"]))

    @property
    def failure(self) -> "ErrorPayload | None":
        """The error of a failed attempt."""
        return self.node["failure"]

    @property
    def output(self) -> Mapping[str, Any]:
        """The typed output; empty for a failed attempt."""
        if self._output is None:
            ref = self.node["output"]
            self._output = {} if ref is None else self._engine.store.payload(Ref(ref))
        return self._output

    @property
    def status(self) -> str | None:
        """The `$status` of the output."""
        status = self.output.get("$status")
        return status if isinstance(status, str) else None

    @property
    def body(self) -> str:
        """The text beside the output."""
        return text_at(self._engine.store, self.node["body"]) or ""

    @property
    def raw(self) -> str | None:
        """The whole reply."""
        return text_at(self._engine.store, self.node["raw"])

    @property
    def prompt(self) -> str:
        """Exactly what the agent got."""
        return self._engine.store.text(Ref(self.node["attempt"]["prompt"]))

    @property
    def edge_prompt(self) -> str:
        """The moderator's instruction."""
        return self._engine.store.text(Ref(self.node["attempt"]["edgePrompt"]))

    @property
    def said(self) -> str | None:
        """The text of a person to the role."""
        return text_at(self._engine.store, self.node["attempt"]["said"])

    @property
    def answer(self) -> Any:
        """A person's answer."""
        answer = text_at(self._engine.store, self.node["attempt"]["answer"])
        return None if answer is None else json.loads(answer)

    @property
    def sayings(self) -> list[Saying]:
        """What persons said for this step and the attempts before it."""
        return sayings(self._engine.store, self._step)

    @property
    def is_answer(self) -> bool:
        """Whether the output is a person's answer."""
        return is_answer(self.node["attempt"]["answer"], self.node["usage"])

    @property
    def session_rests(self) -> bool:
        """Whether nothing was said in its session since, as far as its own thread knows."""
        return session_rests(self._engine.store, self._step)

    @property
    def duration_ms(self) -> int:
        """How long it took."""
        return self.node["completedAtMs"] - self.node["startedAtMs"]

    @property
    def corrections(self) -> list[CorrectionRecord]:
        """The replies that were rejected."""
        store = self._engine.store
        return [CorrectionRecord(store, each) for each in self.node["corrections"]]

    @property
    def attempts(self) -> "list[StepRecord]":
        """The attempts at this step that failed."""
        return [self.other(ref) for ref in self.node["previousAttempts"]]

    @property
    def replaced(self) -> "StepRecord | None":
        """The step that this one replaced."""
        replaced = self.node["attempt"]["replaces"]
        return None if replaced is None else self.other(replaced)

    @property
    def files(self) -> "Sequence[FileRecord]":
        """The files that it delivered, by their paths."""
        artifacts = artifacts_of(self.node)
        if not artifacts:
            return ()
        from uwf_core.files.content import FileRecord  # not for every step

        return [FileRecord(self._engine.store, *each) for each in sorted(artifacts.items())]

    @property
    def turns(self) -> list[TurnRecord]:
        """The messages inside the agent's loop."""
        detail = self._engine.store.payload(Ref(self.node["detail"]))
        return [TurnRecord(self._engine.store, ref) for ref in detail["turns"]]

    def other(self, ref: str) -> "StepRecord":
        """Another step of the store."""
        return StepRecord(self._engine, read_step(self._engine.store, Ref(ref)))
