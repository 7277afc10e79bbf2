"""Steps of the original as steps of uwf."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from uwf_core.engine.record import decision_of
from uwf_core.errors import InvalidOutput, MissingNodeError, RoutingFailed
from uwf_core.extract.split import split_reply
from uwf_core.ids import Ref
from uwf_core.moderator.next import apply_edge
from uwf_core.original.fields import NotImported, mapping, moment, text, texts
from uwf_core.original.turns import reply_of, save_detail, session_of, usage_of
from uwf_core.thread.decisions import Event, waits

if TYPE_CHECKING:
    from uwf_core.engine.engine import Engine
    from uwf_core.original.nodes import NodeCopy
    from uwf_core.original.turns import TurnChains
    from uwf_core.thread.state import ThreadState
    from uwf_core.thread.types import NextPayload
    from uwf_core.workflow.definition import Definition

ENGINE = "original"
"""What these steps record as the version of the engine."""

_LONGEST = 100_000

_UNUSED: Mapping[str, Any] = {
    **dict.fromkeys(("replaces", "agentVersion", "model", "session", "mark", "said", "answer")),
    **dict.fromkeys(("by", "stopReason", "child", "children", "branches", "called", "calledUsage")),
    **dict.fromkeys(("usageByRole", "artifacts", "workspace", "skills", "toolList", "notices")),
}
"""Fields that no step of the original has. A session is named in the detail alone: it belongs to a
service that uwf does not call.
"""


class OriginalChain(NamedTuple):
    """The steps of a thread in the original, oldest first, each with its reference; and its start.

    Raises where it is made: MissingNodeError, NotImported.
    """

    start: str
    begun: Mapping[str, Any]
    steps: list[tuple[str, Mapping[str, Any]]]


def read_chain(copy: "NodeCopy", head: str) -> OriginalChain:
    """The chain that ends at `head`, a step or a start.

    Raises:
        MissingNodeError: a node of it is missing. NotImported: it is not a chain.
    """
    steps: list[tuple[str, Mapping[str, Any]]] = []
    payload, ref = mapping(copy.node(head).payload, "the head"), head
    while "role" in payload and "output" in payload:
        steps.append((ref, payload))
        if len(steps) > _LONGEST:
            raise NotImported(f"it has more than {_LONGEST} steps")
        ref = text(payload, "prev") or text(payload, "start")
        payload = mapping(copy.node(ref).payload, "a step")
    if not ("workflow" in payload and "prompt" in payload):
        raise NotImported(f"the node {ref} is neither a step nor a start")
    return OriginalChain(ref, payload, steps[::-1])


class StepWriter:
    """Writes the steps of one thread.

    Args:
        engine: the engine, within a transaction. copy, chains: the nodes and turns of the home.
        definition: the thread's workflow.
    """

    def __init__(
        self, engine: "Engine", copy: "NodeCopy", chains: "TurnChains", definition: "Definition"
    ) -> None:
        self._engine = engine
        self._copy = copy
        self._chains = chains
        self._definition = definition

    def failed(self, state: "ThreadState", prev: str | None, ref: str) -> Event:
        """Store an attempt that failed before the next step of a thread in this state.

        Raises:
            MissingNodeError, NotImported: a part of it is missing, or has no form here.
        """
        step = mapping(self._copy.node(ref).payload, "a failed step")
        output = mapping(self._copy.node(text(step, "output")).payload, "the output of a step")
        failure = InvalidOutput(text(output, "error") or "the attempt failed")
        error = {"kind": failure.kind.word, "message": failure.message, "until": None}
        fields = {
            "output": self._engine.nodes.put("error", error),
            "failure": failure.kind.word,
            "sessionKept": False,
            "next": decision_of(self._engine, failure, text(step, "role")),
            "previousAttempts": [],
            "body": None,
        }
        return self._save(state, prev, ref, step, fields)

    def delivered(
        self, state: "ThreadState", prev: str | None, ref: str, failed: list[str]
    ) -> Event:
        """Store a step; raises as `failed`."""
        step = mapping(self._copy.node(ref).payload, "a step")
        output = self._copy.copy(text(step, "output"))
        split = split_reply(reply_of(self._chains.of(step)))
        body = "" if isinstance(split, str) else split[2]
        fields = {
            "output": output,
            "failure": None,
            "sessionKept": True,
            "next": self._decision(text(step, "role"), output, body),
            "previousAttempts": failed,
            "body": self._engine.store.put_text(body) if body else None,
        }
        return self._save(state, prev, ref, step, fields)

    def _decision(self, role: str, output: Ref, body: str) -> "NextPayload":
        payload = mapping(self._engine.store.payload(output), "the output of a step")
        try:
            return apply_edge(self._definition, role, payload, body).decision()
        except RoutingFailed as failure:
            return decision_of(self._engine, failure, role)

    def _save(
        self,
        state: "ThreadState",
        prev: str | None,
        ref: str,
        step: Mapping[str, Any],
        fields: Mapping[str, Any],
    ) -> Event:
        put_text, turns = self._engine.store.put_text, self._chains.of(step)
        began = moment(step, "startedAtMs") or moment(step, "completedAtMs") or state.started_ms
        ended = max(moment(step, "completedAtMs") or began, began)
        raw = reply_of(turns)
        payload = {
            **_UNUSED,
            "thread": state.thread,
            "seq": state.seq,
            "start": state.start,
            "workflow": state.workflow,
            "prev": prev,
            "number": state.steps + 1,
            "role": text(step, "role"),
            "purpose": "run",
            "raw": put_text(raw) if raw else None,
            "detail": save_detail(self._engine, turns, session_of(self._copy, step)),
            "agent": text(step, "agent") or "unknown",
            "engineVersion": ENGINE,
            "extractor": "frontmatter",
            "ownSession": False,
            "continuation": "new",
            "edgePrompt": put_text(text(step, "edgePrompt")),
            "prompt": put_text(self._prompt(step)),
            "cwd": text(step, "cwd") or state.cwd,
            "startedAtMs": began,
            "completedAtMs": ended,
            "usage": usage_of(step, ended - began),
            "denials": [],
            "proof": f"step {ref} of the original",
            "corrections": [],
            "ancestors": [*state.ancestors] or None,
            **fields,
        }
        stored, plain = self._engine.nodes.put_plain("step", payload)
        return Event("step", stored, plain)

    def _prompt(self, step: Mapping[str, Any]) -> str:
        """The whole prompt, empty where it was not recorded."""
        try:
            found = self._copy.node(text(step, "assembledPrompt")).payload
        except MissingNodeError:
            return ""
        return found if isinstance(found, str) else ""


def interrupted(role: str, message: str) -> "NextPayload":
    """The decision of a thread that the original suspended after a failure."""
    return waits("failure", role, message, kind=InvalidOutput("").kind.word)


def failed_before(step: Mapping[str, Any]) -> list[str]:
    """The failed attempts of a step, oldest first."""
    return texts(step.get("previousAttempts"))
