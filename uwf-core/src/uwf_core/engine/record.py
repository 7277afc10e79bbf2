"""Stage 10: the step node, of a step that succeeded or of an attempt that failed."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from uwf_core import __version__
from uwf_core.api.agent import Usage
from uwf_core.errors import AgentFailure
from uwf_core.extract.typed import SUSPEND_SCHEMA
from uwf_core.ids import Ref
from uwf_core.named_tuple import NamedTuple
from uwf_core.process import crash_points
from uwf_core.thread.types import ErrorPayload, StepPayload
from uwf_core.thread.usage import usage_payload
from uwf_core.workflow.variants import SUSPEND

if TYPE_CHECKING:
    from uwf_core.engine.attempt import Attempt
    from uwf_core.engine.converse import Talk
    from uwf_core.engine.engine import Engine


class Told(NamedTuple):
    """What is known of an attempt when it ends, however it ends.

    `start` is the thread's start node, `turns` the turn nodes, `completed_ms` when it ended.
    """

    attempt: "Attempt"
    talk: "Talk | None"
    turns: list[Ref]
    completed_ms: int


def put_output(engine: "Engine", output: Mapping[str, Any], schema: Ref) -> Ref:
    """Store a role's typed output; one that yields is typed by the suspend schema instead."""
    value = engine.redactor.value(dict(output))
    if value.get("$status") == SUSPEND:
        return engine.store.put(engine.store.put_schema(SUSPEND_SCHEMA, trusted=True), value)
    return engine.store.put(schema, value)


def put_error(engine: "Engine", failure: AgentFailure) -> Ref:
    """Store what went wrong as the output of a failed attempt."""
    payload: ErrorPayload = {
        "kind": failure.kind.word,
        "message": engine.redactor.text(failure.message),
        "until": failure.until_ms,
    }
    return engine.nodes.put("error", payload)


def put_step(engine: "Engine", told: Told, output: Ref, previous: list[Ref]) -> Ref:
    """Store the step node with everything it refers to. Within a transaction."""
    attempt, talk = told.attempt, told.talk
    reply = None if talk is None else talk.reply
    session = talk.session if talk is not None else attempt.payload["session"]
    payload: StepPayload = {
        "thread": attempt.payload["thread"],
        "start": attempt.head.state.start,
        "prev": attempt.payload["prev"],
        "replaces": attempt.payload["replaces"],
        "number": attempt.payload["number"],
        "role": attempt.payload["role"],
        "output": output,
        "raw": None if talk is None else talk.raw,
        "body": _body(engine, talk),
        "detail": engine.nodes.put("detail", {"session": session, "turns": told.turns}),
        "agent": attempt.payload["agent"],
        "agentVersion": _clean(engine, reply.agent_version if reply else None),
        "engineVersion": __version__,
        "model": _clean(engine, reply.model if reply else None),
        "session": session,
        "continuation": talk.continuation if talk is not None else "new",
        "edgePrompt": attempt.payload["edgePrompt"],
        "prompt": attempt.payload["prompt"] if talk is None else engine.store.put_text(talk.prompt),
        "cwd": attempt.payload["cwd"],
        "startedAtMs": attempt.payload["startedAtMs"],
        "completedAtMs": told.completed_ms,
        "usage": usage_payload(spent(told)),
        "denials": [engine.redactor.text(denial) for denial in (reply.denials if reply else ())],
        "proof": _clean(engine, reply.proof if reply else None),
        "stopReason": _clean(engine, reply.stop_reason if reply else None),
        "corrections": list(talk.corrections) if talk is not None else [],
        "previousAttempts": [str(ref) for ref in previous],
    }
    crash_points.reach("record")
    return engine.nodes.put("step", payload)


def spent(told: Told) -> Usage:
    """What the attempt used; its duration is the engine's own measure where the agent told none."""
    from dataclasses import replace

    usage = told.talk.usage if told.talk is not None and told.talk.usage is not None else Usage()
    if usage.duration_ms is not None:
        return usage
    return replace(usage, duration_ms=told.completed_ms - told.attempt.payload["startedAtMs"])


def _body(engine: "Engine", talk: "Talk | None") -> Ref | None:
    if talk is None or talk.output is None or not talk.body:
        return None
    return engine.store.put_text(engine.redactor.text(talk.body))


def _clean(engine: "Engine", text: str | None) -> str | None:
    return None if text is None else engine.redactor.text(text)
