"""Stage 10: the step node, of a step that succeeded or of an attempt that failed."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from uwf_core import __version__
from uwf_core.api.agent import Usage
from uwf_core.errors import AgentFailure
from uwf_core.extract.typed import SUSPEND_SCHEMA
from uwf_core.ids import Ref
from uwf_core.named_tuple import NamedTuple
from uwf_core.process import crash_points
from uwf_core.thread.state import Event
from uwf_core.thread.types import ErrorPayload, NextPayload, StepPayload
from uwf_core.thread.usage import usage_payload
from uwf_core.workflow.variants import SUSPEND

if TYPE_CHECKING:
    from uwf_core.api.store import Variable
    from uwf_core.engine.attempt import Attempt
    from uwf_core.engine.converse import Talk
    from uwf_core.engine.engine import Engine


class Told(NamedTuple):
    """What is known of an attempt when it ends, however it ends.

    `turns` are the turn nodes, `loose` the names of those that were stored as they came;
    `completed_ms` is when it ended.
    """

    attempt: "Attempt"
    talk: "Talk | None"
    turns: list[Ref]
    completed_ms: int
    loose: "Sequence[Variable]" = ()

    @property
    def session(self) -> str | None:
        """The session, as far as it is known."""
        return self.attempt.payload["session"] if self.talk is None else self.talk.session


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


class Verdict(NamedTuple):
    """How an attempt ended: its output node, where that leads, and the failure if it failed;
    `previous` are the failed attempts before it.
    """

    output: Ref
    next: NextPayload
    failure: AgentFailure | None = None
    previous: tuple[Ref, ...] = ()


def put_step(engine: "Engine", told: Told, verdict: Verdict) -> Event:
    """Store the step node with everything it refers to. Within a transaction."""
    attempt, talk = told.attempt, told.talk
    reply = None if talk is None else talk.reply
    failure, given = verdict.failure, attempt.payload
    payload: StepPayload = {
        "thread": given["thread"],
        "seq": given["seq"],
        "start": attempt.head.state.start,
        "prev": given["prev"],
        "replaces": given["replaces"],
        "number": given["number"],
        "role": given["role"],
        "purpose": given["purpose"],
        "output": verdict.output,
        "raw": None if talk is None or talk.raw is None else engine.store.put_text(talk.raw),
        "body": _body(engine, talk),
        "detail": engine.nodes.put("detail", {"session": told.session, "turns": told.turns}),
        "failure": None if failure is None else failure.kind.word,
        "sessionKept": failure is None or failure.kind.keeps_session,
        "next": verdict.next,
        "agent": given["agent"],
        "agentVersion": _clean(engine, reply.agent_version if reply else None),
        "engineVersion": __version__,
        "model": _clean(engine, reply.model if reply else None),
        "extractor": None if talk is None else talk.extractor,
        "session": told.session,
        "ownSession": given["ownSession"],
        "continuation": talk.continuation if talk is not None else "new",  # type: ignore[typeddict-item]
        "mark": None,
        "edgePrompt": given["edgePrompt"],
        "prompt": given["prompt"] if talk is None else engine.store.put_text(talk.prompt),
        "said": given["said"],
        "answer": given["answer"],
        "by": given["by"],
        "cwd": given["cwd"],
        "startedAtMs": given["startedAtMs"],
        "completedAtMs": told.completed_ms,
        "usage": usage_payload(spent(told)),
        "denials": [engine.redactor.text(denial) for denial in (reply.denials if reply else ())],
        "proof": _clean(engine, reply.proof if reply else None),
        "stopReason": _clean(engine, reply.stop_reason if reply else None),
        "corrections": list(talk.corrections) if talk is not None else [],
        "previousAttempts": [str(ref) for ref in verdict.previous],
        **_UNUSED,
    }
    crash_points.reach("record")
    ref, plain = engine.nodes.put_plain("step", payload)
    return Event("step", ref, plain)


_UNUSED: Any = dict.fromkeys(
    (
        "child",
        "children",
        "called",
        "calledUsage",
        "ancestors",
        "artifacts",
        "workspace",
        "skills",
        "toolList",
    )
)
"""Fields of calls, files and skills, which no step has yet."""


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
