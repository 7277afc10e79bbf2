"""Stage 10: the step node, of a step that succeeded or of an attempt that failed."""

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from uwf_core import __version__
from uwf_core.api.agent import usage_payload
from uwf_core.api.redact import guess
from uwf_core.engine.converse import raw_text
from uwf_core.engine.plan import steps_after
from uwf_core.errors import AgentFailure, RoutingFailed
from uwf_core.extract.typed import SUSPEND_SCHEMA
from uwf_core.ids import Ref
from uwf_core.moderator.next import apply_edge
from uwf_core.process import crash_points
from uwf_core.thread.calls import started_by
from uwf_core.thread.decisions import NO_CALL, Event, session_payload, waits, workspace_of
from uwf_core.thread.history import failed_steps, read_step, typed_input
from uwf_core.thread.types import ATTEMPTED, FailurePayload, NextPayload, StepPayload
from uwf_core.workflow.definition import SUSPEND
from uwf_core.workflow.variants import STATUS

if TYPE_CHECKING:
    from uwf_core.engine.context import Attempt, Run
    from uwf_core.engine.engine import Engine
    from uwf_core.thread.types import CallPayload, FilesPayload


def record(run: "Run", attempt: "Attempt") -> Event:
    """Stage 10: store the output and the step node with its decision. Within a transaction."""
    assert attempt.output is not None
    role = run.definition.roles[attempt.task.role]
    output = _save_output(run.engine, attempt.output, role.frontmatter)
    return save_routed_step(run, attempt, output)


def ends_thread(run: "Run", attempt: "Attempt") -> bool:
    """Whether the output leads to the end of the thread."""
    assert attempt.output is not None
    try:
        to = apply_edge(run.definition, attempt.task.role, attempt.output, attempt.body)
    except RoutingFailed:
        return False
    return to.status == "completed"


def save_routed_step(run: "Run", attempt: "Attempt", output: Ref) -> Event:
    """Store the step node of an output that is stored, with its decision. Within a transaction."""
    engine, role = run.engine, attempt.payload["role"]
    assert attempt.output is not None
    try:
        definition = run.definition
        given = typed_input(engine.store, definition, attempt.head.state)
        output_read = attempt.output
        if attempt.call is not None and attempt.call["child"] is not None:
            from uwf_core.thread.worktree import place_in_step  # for calls

            step = {**attempt.payload, "call": attempt.call}
            output_read = {**output_read, **place_in_step(engine.store, step)}
        steps = steps_after(run, attempt, output_read)
        route = apply_edge(definition, role, output_read, attempt.body, given, steps)
        to = route.decision(attempt.ended_ms)
    except RoutingFailed as failure:
        attempt.failure = failure
        to = unrouted(engine, failure, role)
    return _save_step(engine, attempt, output, to, failed_steps(engine.store, attempt.head.state))


def save_failed_step(
    engine: "Engine", attempt: "Attempt", failure: AgentFailure, *, keeps_session: bool = True
) -> Event:
    """Store the step node of a failed attempt. Within a transaction."""
    from uwf_core.thread.retry import after_failure  # not for every step

    attempt.failure, attempt.artifacts = failure, None
    error: FailurePayload = {
        "kind": failure.kind.word,
        "message": engine.redactor.text(failure.message),
        "until": failure.until_ms,
        "policy": attempt.policy,
    }
    role, message = attempt.payload["role"], message_of(engine, failure)
    drawn = os.urandom(1)[0] / 127.5 - 1
    to = after_failure(error, role, message, attempt.ended_ms, drawn)
    kept = keeps_session and failure.kind.keeps_session
    return _save_step(engine, attempt, None, to, [], error=error, kept=kept)


def unrouted(engine: "Engine", failure: RoutingFailed, role: str) -> NextPayload:
    """The decision where the graph leads nowhere: the thread is suspended with the message."""
    return waits("failure", role, message_of(engine, failure), kind=failure.kind.word)


def message_of(engine: "Engine", failure: AgentFailure) -> str:
    """The message of a failure with its hint, as it is stored and shown."""
    text = f"{failure.message} ({failure.hint})" if failure.hint else failure.message
    return guess(engine.redactor.text(text))


def _save_output(engine: "Engine", output: Mapping[str, Any], schema: Ref) -> Ref:
    """Store the output of a role; that of a role that suspends has the suspend schema."""
    if output.get(STATUS) == SUSPEND:
        schema = engine.store.put_schema(SUSPEND_SCHEMA, trusted=True)
    return engine.store.put(schema, output)


def _save_step(
    engine: "Engine",
    attempt: "Attempt",
    output: Ref | None,
    to: NextPayload,
    previous: list[Ref],
    *,
    error: FailurePayload | None = None,
    kept: bool = True,
) -> Event:
    """Store the step node. `kept`: whether its session may be continued."""
    store, given, reply, request = engine.store, attempt.payload, attempt.reply, attempt.request
    turns, redactor = [str(ref) for ref in attempt.turns], engine.redactor
    tools = reply and reply.tool_list
    asked, workspace = given["attempt"], workspace_of(given)
    files: FilesPayload = {"artifacts": attempt.artifacts or None, "workspace": workspace}
    if request is not None and request is not attempt.saved:
        asked = {**asked, "prompt": str(store.put_text(request.prompt))}
    payload: StepPayload = {
        **{name: given[name] for name in ATTEMPTED},  # type: ignore[literal-required,typeddict-item]
        "session": session_payload(attempt.session, attempt.continuation, attempt.mark, kept=kept),
        "attempt": asked,
        "files": files if attempt.artifacts or workspace else None,
        "start": attempt.head.state.start,
        "workflow": attempt.head.state.workflow,
        "status": None if output is None or attempt.output is None else attempt.output[STATUS],
        "output": output,
        "raw": None if reply is None else store.put_text(raw_text(reply)),
        "body": store.put_text(attempt.body) if attempt.body else None,
        "detail": engine.nodes.put("detail", {"session": attempt.session, "turns": turns}),
        "failure": error,
        "next": to,
        "agentVersion": redacted(engine, reply and reply.agent_version),
        "engineVersion": __version__,
        "model": redacted(engine, reply and reply.model),
        "extractor": attempt.extractor,
        "completedAtMs": attempt.ended_ms,
        "usage": usage_payload(attempt.total_usage()),
        "denials": denials_of(engine, attempt),
        "proof": redacted(engine, reply and reply.proof),
        "stopReason": redacted(engine, reply and reply.stop_reason),
        "corrections": list(attempt.corrections),
        "previousAttempts": [str(ref) for ref in previous],
        "call": _call(engine, attempt) if attempt.call or attempt.may_call else None,
        "ancestors": _ancestors(engine, attempt),
        "toolList": store.put_text(redactor.text(tools)) if tools else None,
        "notices": [redactor.text(each) for each in attempt.notices] or None,
    }
    crash_points.reach("record")
    return Event("step", *engine.nodes.put_plain("step", payload))


def _ancestors(engine: "Engine", attempt: "Attempt") -> list[str] | None:
    """Earlier steps at powers of two: those of the step that a poke replaces."""
    replaced = attempt.payload["attempt"]["replaces"]
    if replaced is not None:
        return read_step(engine.store, Ref(replaced)).payload["ancestors"]
    return [*attempt.head.state.ancestors] or None


def _call(engine: "Engine", attempt: "Attempt") -> "CallPayload | None":
    """What a call, or the agent of an attempt, has called. The names of the calls of an agent are
    deleted with the loose ones of the attempt.
    """
    if attempt.call is not None:
        return attempt.call
    calls = started_by(engine.store, attempt.head.thread, attempt.opened.name)
    if not calls:
        return None
    attempt.loose = [*attempt.loose, *(call.variable for call in calls)]
    from uwf_core.engine.budget import used_by

    called = [str(call.child) for call in calls]
    return {**NO_CALL, "called": called, "usage": used_by(engine, calls)}


def denials_of(engine: "Engine", attempt: "Attempt") -> list[str]:
    """The tools that were denied to the agent."""
    reply = attempt.reply
    return [] if reply is None else [engine.redactor.text(each) for each in reply.denials]


def redacted(engine: "Engine", text: str | None) -> str | None:
    """A text without secrets."""
    return None if text is None else engine.redactor.text(text)
