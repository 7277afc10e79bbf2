"""Stage 11 and the other ways in which an attempt ends: where the head and its index are now."""

from typing import TYPE_CHECKING

from uwf_core.agents.secrets import guess
from uwf_core.api.events import StepFailed, StepFinished
from uwf_core.engine.attempt import (
    Asking,
    close_with_question,
    close_with_step,
    failed_steps,
    forget_attempts,
)
from uwf_core.engine.extraction import schema_fault
from uwf_core.engine.landing import land
from uwf_core.engine.record import Told, put_error, put_output, put_step, spent
from uwf_core.engine.results import Spoken, StepEnd, failure_document, step_result
from uwf_core.errors import AgentFailure, FailureKind, InternalFailure, NeedsAnswer, RoutingFailed
from uwf_core.ids import Ref
from uwf_core.process import crash_points
from uwf_core.thread.head import Head, move_head
from uwf_core.thread.index import Suspension, ThreadIndex
from uwf_core.thread.lifecycle import ended, spoken, suspended, with_session, without_session
from uwf_core.thread.status import Reason
from uwf_core.thread.usage import usage_payload

if TYPE_CHECKING:
    from uwf_core.engine.engine import Engine
    from uwf_core.engine.running import Run


def record(run: "Run", told: Told) -> Ref:
    """Stage 10: store the output and the step node. Within a transaction."""
    assert told.talk is not None and told.talk.output is not None
    role = run.definition.roles[told.attempt.payload["role"]]
    output = put_output(run.engine, told.talk.output, role.frontmatter)
    return put_step(run.engine, told, output, failed_steps(run.engine, told.attempt.head))


def advance(run: "Run", told: Told, step: Ref) -> StepEnd:
    """Stage 11: move the head to `step`, with what the graph says of it. Within a transaction."""
    attempt, talk = told.attempt, told.talk
    assert talk is not None and talk.output is not None
    output = run.engine.redactor.value(dict(talk.output))
    body = run.engine.redactor.text(talk.body)
    role = attempt.payload["role"]
    landing = land(run.definition, _spoken_state(told, step), role, output, body)
    forget_attempts(run.engine, attempt.head)
    crash_points.reach("advance")
    head = move_head(run.engine.store, attempt.head, step, landing.state)
    failure = landing.failure
    reported = None if failure is None else failure_document(failure, _message(run, failure))
    return StepEnd(head, step_result(head.state, _spoken(told, step), reported))


def fail(run: "Run", told: Told, failure: AgentFailure) -> StepEnd:
    """Store a failed attempt; the head stays where it is, and the thread is suspended."""
    engine, attempt = run.engine, told.attempt
    message = _message(run, failure)
    reason: Reason = "interrupted" if failure.kind is FailureKind.INTERRUPTED else "failure"
    waiting = Suspension(
        reason, attempt.payload["role"], message, failure.kind.word, failure.until_ms
    )
    with engine.store.transaction():
        error = put_error(engine, failure)
        step = put_step(engine, told, error, [])
        close_with_step(engine, attempt, step)
        state = ended(_failed_state(told, failure), waiting)
        crash_points.reach("fail")
        head = move_head(engine.store, attempt.head, attempt.head.ref, state)
    run.watch.event(_failed_event(told, step, failure, message))
    document = failure_document(failure, message)
    return StepEnd(head, step_result(head.state, _spoken(told, step), document))


def wait_for_answer(run: "Run", told: Told, question: NeedsAnswer) -> StepEnd:
    """Store a question to a person; no step, the session is kept."""
    import json

    engine, attempt = run.engine, told.attempt
    fault = schema_fault(question.form)
    if fault is not None:  # nobody could ever answer
        return fail(run, told, InternalFailure(f"the agent's form is no JSON Schema: {fault}"))
    message = engine.redactor.text(question.message)
    with engine.store.transaction():
        form = json.dumps(engine.redactor.value(dict(question.form)), ensure_ascii=False)
        ref = engine.nodes.put(
            "question",
            {"message": engine.store.put_text(message), "form": engine.store.put_text(form)},
        )
        session = told.talk.session if told.talk is not None else attempt.payload["session"]
        usage = usage_payload(spent(told))
        close_with_question(engine, attempt, Asking(ref, session, told.completed_ms, usage))
        waiting = Suspension("role", attempt.payload["role"], message, question=ref)
        state = ended(_with_session(_accounted(told), told, keep=True), waiting)
        crash_points.reach("question")
        head = move_head(engine.store, attempt.head, attempt.head.ref, state)
    return StepEnd(head, step_result(head.state, _spoken(told, None)))


def fail_to_route(run: "Run", head: Head, failure: RoutingFailed, role: str) -> StepEnd:
    """Nothing could be run: the thread is suspended, without an attempt."""
    message = _message(run, failure)
    waiting = Suspension("failure", role, message, failure.kind.word)
    with run.engine.store.transaction():
        head = move_head(run.engine.store, head, head.ref, suspended(head.state, waiting))
    document = failure_document(failure, message)
    return StepEnd(head, step_result(head.state, Spoken(None, role), document))


def finished_event(engine: "Engine", told: Told, step: Ref) -> StepFinished:
    """What observers are told of a step that is stored."""
    assert told.talk is not None
    payload, reply = told.attempt.payload, told.talk.reply
    denied = reply.denials if reply is not None else ()
    return StepFinished(
        thread=payload["thread"],
        number=payload["number"],
        step=step,
        role=payload["role"],
        agent=payload["agent"],
        output=dict(told.talk.output or {}),
        usage=spent(told),
        duration_ms=told.completed_ms - payload["startedAtMs"],
        at_ms=told.completed_ms,
        denials=tuple(engine.redactor.text(each) for each in denied),
    )


def _failed_event(told: Told, step: Ref, failure: AgentFailure, message: str) -> StepFailed:
    payload = told.attempt.payload
    return StepFailed(
        thread=payload["thread"],
        number=payload["number"],
        attempt=payload["attempt"],
        step=step,
        role=payload["role"],
        agent=payload["agent"],
        kind=failure.kind.word,
        message=message,
        at_ms=told.completed_ms,
    )


def _message(run: "Run", failure: AgentFailure) -> str:
    text = f"{failure.message} ({failure.hint})" if failure.hint else failure.message
    return guess(run.engine.redactor.text(text))


def _spoken(told: Told, step: Ref | None) -> Spoken:
    payload = told.attempt.payload
    duration = told.completed_ms - payload["startedAtMs"]
    return Spoken(step, payload["role"], payload["agent"], duration, usage_payload(spent(told)))


def _accounted(told: Told) -> ThreadIndex:
    """The index with what the attempt used."""
    state = told.attempt.head.state
    return state._replace(
        totals=state.totals.plus(usage_payload(spent(told))),
        running_ms=state.running_ms
        + max(0, told.completed_ms - told.attempt.payload["startedAtMs"]),
    )


def _spoken_state(told: Told, step: Ref) -> ThreadIndex:
    """The index after a step."""
    payload = told.attempt.payload
    assert told.talk is not None
    return spoken(_accounted(told), payload, step, told.talk.session)._replace(
        steps=payload["number"],
        inherited_steps=min(told.attempt.head.state.inherited_steps, payload["number"] - 1),
    )


def _failed_state(told: Told, failure: AgentFailure) -> ThreadIndex:
    return _with_session(_accounted(told), told, keep=failure.kind.keeps_session)


def _with_session(state: ThreadIndex, told: Told, *, keep: bool) -> ThreadIndex:
    """The index in which the role's session is the one that the failed attempt leaves behind."""
    payload = told.attempt.payload
    if not keep:
        return without_session(state, payload["role"], payload["agent"])
    session = told.talk.session if told.talk is not None else payload["session"]
    return with_session(state, payload["role"], session, payload["agent"])
