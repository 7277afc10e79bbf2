"""A recorded step: each part is read when it is asked for, and nothing can change the store."""

import json
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

from uwf_core.ids import Ref, ThreadId
from uwf_core.thread.calls import CALL_AGENT, OpenCall, open_calls, state_below
from uwf_core.thread.decisions import artifacts_of, session_of
from uwf_core.thread.head import session_rests
from uwf_core.thread.history import (
    Saying,
    Step,
    is_answer,
    is_start,
    read_step,
    sayings,
    text_at,
    unordered_events,
)
from uwf_core.thread.links import CalledThread, threads_called
from uwf_core.thread.nodes import shown

if TYPE_CHECKING:
    from uwf_core.cas.store import Store
    from uwf_core.engine.engine import Engine
    from uwf_core.files.content import RecordedFile
    from uwf_core.thread.types import (
        CorrectionPayload,
        ErrorPayload,
        ToolCallPayload,
        TurnPayload,
    )
    from uwf_core.workflow.definition import Definition


class RecordedTurn:
    """One message inside the agent's own loop.

    Attributes:
        ref: the reference of its node.
        node: the node's payload: texts are references.
        index: its number in the step, from 0.
        speaker: `assistant`, `tool` or `note`.
        usage: what this message used, if the agent reported it.
    """

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
        """The model's reasoning, if the agent reported it."""
        return self.shown["reasoning"]

    @property
    def tool_calls(self) -> "Sequence[ToolCallPayload]":
        """The uses of tools, with the keys `id`, `name`, `arguments`, `result` (text or null),
        `isError`, `startedAtMs`, `endedAtMs`.
        """
        return self.shown["toolCalls"]


class RecordedCorrection:
    """A rejected reply, and the correction that the agent got.

    Attributes:
        node: the entry of the step's node: `prompt` and `raw` are references.
        errors: what was wrong with the reply.
    """

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


class RecordedCall:
    """A call of another thread: of a workflow that plays a role, or of a branch.

    Attributes:
        thread: the called thread.
        role: the role that it plays.
        caller_role: the role of the step that the call is: a workflow's, or `SOURCE/STATUS` of
            branches.
        key: of a branch: its name, or its number in the list; None for other calls.
        status: of a branch that has ended: its `$status`, `$cancelled` if it was cancelled.
        end: the last step of the called thread in this call; its start if it took none. None for
            an open call and for one that failed.
    """

    def __init__(
        self,
        store: "Store",
        call: CalledThread,
        place: tuple[str, int, str],
        event: str | None = None,
    ) -> None:
        self._store = store
        self._caller, self._number, self.caller_role = place
        self._event = event
        self.thread, self.role, self.end, self.status, *_ = call
        self.key = call.key

    @property
    def event(self) -> str | None:
        """The node of the call; None if the called thread is gone."""
        if self._event is None:
            for event in unordered_events(self._store, ThreadId(self.thread)):
                called = event.payload
                place = self._caller, self._number  # a thread can be called again
                if event.kind == "called" and (called["parent"], called["number"]) == place:
                    self._event = event.ref
        return self._event

    @property
    def prompt_ref(self) -> str | None:
        """The node of the instruction."""
        return None if self.event is None else self._store.payload(Ref(self.event))["prompt"]

    @property
    def prompt(self) -> str | None:
        """The instruction; None if the called thread is gone."""
        ref = self.prompt_ref
        return None if ref is None else self._store.text(Ref(ref))

    @property
    def took_step(self) -> bool:
        """Whether the called thread has a step at its end: it may have been cancelled before."""
        return self.end is not None and not is_start(self._store.payload(Ref(self.end)))

    @property
    def state(self) -> str | None:
        """The status of the called thread now (as `RecordedThread.status`); None if it is gone."""
        found = state_below(self._store, ThreadId(self.thread))
        return None if found is None else found.status


class RecordedStep:
    """A step of a role, or a failed attempt at one.

    Attributes:
        ref: the reference of its node.
        node: the node's payload (`uwf cas get STEP`): plain fields such as `agent`, `model`,
            `usage`, `denials`, `startedAtMs` and `next`, and the records `attempt` (what it was
            asked to do), `session`, `call` and `files`, null if unused; texts are references.
        number: its number in the thread, from 1.
        role: the role that ran.
    """

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
        """The thread that it called; None for the step of an agent, a person or a program, and for
        branches.
        """
        return session_of(self.node)["id"] if self.node["agent"] == CALL_AGENT else None

    @property
    def calls(self) -> list[RecordedCall]:
        """The calls that it recorded: one, those of the branches in their order, or none."""
        place = self.node["thread"], self.number, self.role
        return [RecordedCall(self._engine.store, each, place) for each in threads_called(self.node)]

    @property
    def alias(self) -> str | None:
        """The alias that the configuration has for the agent, if that is a command."""
        return self._engine.alias_of(self.node["agent"])

    @property
    def failure(self) -> "ErrorPayload | None":
        """`kind`, `message` and `until` of a failed attempt; None for a step."""
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
        """The `$status` of the output; None for a failed attempt."""
        status = self.output.get("$status")
        return status if isinstance(status, str) else None

    @property
    def body(self) -> str:
        """The text beside the output."""
        return text_at(self._engine.store, self.node["body"]) or ""

    @property
    def raw(self) -> str | None:
        """The whole reply as the agent gave it (redacted); None if there was none."""
        return text_at(self._engine.store, self.node["raw"])

    @property
    def prompt(self) -> str:
        """Exactly what the agent got."""
        return self._engine.store.text(Ref(self.node["attempt"]["prompt"]))

    @property
    def edge_prompt(self) -> str:
        """The moderator's instruction: the rendered prompt of the edge that led here."""
        return self._engine.store.text(Ref(self.node["attempt"]["edgePrompt"]))

    @property
    def said(self) -> str | None:
        """The text of a person to the role, if any."""
        return text_at(self._engine.store, self.node["attempt"]["said"])

    @property
    def answer(self) -> Any:
        """A person's answer to the role's question (JSON), None if there is none."""
        answer = text_at(self._engine.store, self.node["attempt"]["answer"])
        return None if answer is None else json.loads(answer)

    @property
    def sayings(self) -> list[Saying]:
        """What persons said for this step and the attempts before it, oldest first."""
        return sayings(self._engine.store, self._step)

    @property
    def is_answer(self) -> bool:
        """Whether the output is a person's answer, without a turn of an agent."""
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
    def corrections(self) -> list[RecordedCorrection]:
        """The replies that were rejected, oldest first."""
        store = self._engine.store
        return [RecordedCorrection(store, each) for each in self.node["corrections"]]

    @property
    def attempts(self) -> "list[RecordedStep]":
        """The attempts at this step that failed, oldest first."""
        return [self.other(ref) for ref in self.node["previousAttempts"]]

    @property
    def replaced(self) -> "list[RecordedStep]":
        """The steps that this one replaced (`thread poke`), oldest first."""
        found, older = list[RecordedStep](), self.node["attempt"]["replaces"]
        while older is not None:
            found.append(self.other(older))
            older = found[-1].node["attempt"]["replaces"]
        return found[::-1]

    def tries(self) -> "Iterator[RecordedStep]":
        """The attempts that led to it, oldest first: failed ones, the steps that it replaced with
        their failed ones, and at last the step.
        """
        for each in (*self.replaced, self):
            yield from (*each.attempts, each)

    @property
    def files(self) -> "Sequence[RecordedFile]":
        """The files that it delivered, by their paths."""
        artifacts = artifacts_of(self.node)
        if not artifacts:
            return ()
        from uwf_core.files.content import RecordedFile  # not for every step

        return [RecordedFile(self._engine.store, *each) for each in sorted(artifacts.items())]

    @property
    def turns(self) -> list[RecordedTurn]:
        """The messages inside the agent's loop."""
        detail = self._engine.store.payload(Ref(self.node["detail"]))
        return [RecordedTurn(self._engine.store, ref) for ref in detail["turns"]]

    def other(self, ref: str) -> "RecordedStep":
        """Another step of the store."""
        return RecordedStep(self._engine, read_step(self._engine.store, Ref(ref)))


def open_calls_of(store: "Store", thread: ThreadId) -> list[RecordedCall]:
    """The open calls of a thread for which its next step waits."""
    return [_open_call(store, call, thread) for call in open_calls(store, thread)]


def _open_call(store: "Store", call: OpenCall, thread: ThreadId) -> RecordedCall:
    event = call.variable.value
    called = store.payload(event)
    found = CalledThread(
        str(call.child), called["plays"], place=called["index"], name=called["branch"]
    )
    return RecordedCall(store, found, (str(thread), call.number, call.role), event)
