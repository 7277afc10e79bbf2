"""Stage 11 and the other ways in which an attempt ends: where the head and its index are now."""

from typing import TYPE_CHECKING

from uwf_core.agents.secrets import guess
from uwf_core.api.events import StepFailed, StepFinished
from uwf_core.engine.attempt import (
    close_with_question,
    close_with_step,
    failed_steps,
    forget_attempts,
)
from uwf_core.engine.event import happen
from uwf_core.engine.extraction import schema_fault
from uwf_core.engine.record import Told, Verdict, put_error, put_output, put_step, spent
from uwf_core.engine.results import Spoken, StepEnd, failure_document, step_result
from uwf_core.engine.transition import decide
from uwf_core.errors import AgentFailure, FailureKind, InternalFailure, NeedsAnswer, RoutingFailed
from uwf_core.ids import Ref
from uwf_core.named_tuple import NamedTuple
from uwf_core.process import crash_points
from uwf_core.thread.head import Head, move_head
from uwf_core.thread.next import waits
from uwf_core.thread.state import Event, fold
from uwf_core.thread.usage import usage_payload

if TYPE_CHECKING:
    from uwf_core.engine.engine import Engine
    from uwf_core.engine.running import Run


class Recorded(NamedTuple):
    """A step that is stored, and the failure where the graph leads it nowhere."""

    step: Event
    failure: RoutingFailed | None


def record(run: "Run", told: Told) -> Recorded:
    """Stage 10: store the output and the step node, with where it leads. Within a transaction."""
    engine, attempt, talk = run.engine, told.attempt, told.talk
    assert talk is not None and talk.output is not None
    role = run.definition.roles[attempt.payload["role"]]
    output = engine.redactor.value(dict(talk.output))
    failure = None
    try:
        to = decide(run.definition, role.name, output, engine.redactor.text(talk.body))
    except RoutingFailed as error:
        failure, message = error, _message(run, error)
        to = waits("failure", role.name, message, kind=error.kind.word)
    verdict = Verdict(
        put_output(engine, output, role.frontmatter),
        to,
        previous=tuple(failed_steps(engine, attempt.head)),
    )
    return Recorded(put_step(engine, told, verdict), failure)


def advance(run: "Run", told: Told, recorded: Recorded) -> StepEnd:
    """Stage 11: move the head to the step. Within a transaction."""
    attempt, step, failure = told.attempt, recorded.step, recorded.failure
    forget_attempts(run.engine, attempt, told.loose)
    crash_points.reach("advance")
    state = fold(attempt.head.state, step)
    head = move_head(run.engine.store, attempt.head, Ref(step.ref), state)
    reported = None if failure is None else failure_document(failure, _message(run, failure))
    return StepEnd(head, step_result(head.state, _spoken(told, step.ref), reported))


def fail(run: "Run", told: Told, failure: AgentFailure) -> StepEnd:
    """Store a failed attempt; the head stays where it is, and the thread is suspended."""
    engine, attempt = run.engine, told.attempt
    message = _message(run, failure)
    with engine.store.transaction():
        step = put_failed(engine, told, failure, message)
        close_with_step(engine, attempt, Ref(step.ref))
        crash_points.reach("fail")
        state = fold(attempt.head.state, step)
        head = move_head(engine.store, attempt.head, attempt.head.ref, state)
    run.watch.event(_failed_event(told, step.ref, failure, message))
    document = failure_document(failure, message)
    return StepEnd(head, step_result(head.state, _spoken(told, step.ref), document))


def put_failed(engine: "Engine", told: Told, failure: AgentFailure, message: str) -> Event:
    """Store the step node of a failed attempt. Within a transaction."""
    is_interrupted = failure.kind is FailureKind.INTERRUPTED
    to = waits(
        "interrupted" if is_interrupted else "failure",
        told.attempt.payload["role"],
        message,
        kind=failure.kind.word,
        until_ms=failure.until_ms,
    )
    return put_step(engine, told, Verdict(put_error(engine, failure), to, failure))


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
        crash_points.reach("question")
        given = attempt.payload
        head = happen(
            engine,
            attempt.head,
            "asked",
            attempt=close_with_question(engine, attempt, ref, told.session),
            role=given["role"],
            agent=given["agent"],
            session=told.session,
            startedAtMs=given["startedAtMs"],
            completedAtMs=told.completed_ms,
            usage=usage_payload(spent(told)),
            next=waits("role", given["role"], message, question=ref),
        )
    return StepEnd(head, step_result(head.state, _spoken(told, None)))


def fail_to_route(run: "Run", head: Head, failure: RoutingFailed, role: str) -> StepEnd:
    """Nothing could be run: the thread is suspended, without an attempt."""
    message = _message(run, failure)
    with run.engine.store.transaction():
        to = waits("failure", role, message, kind=failure.kind.word)
        head = happen(run.engine, head, "unrouted", next=to)
    document = failure_document(failure, message)
    return StepEnd(head, step_result(head.state, Spoken(None, role), document))


def finished_event(engine: "Engine", told: Told, step: str) -> StepFinished:
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


def _failed_event(told: Told, step: str, failure: AgentFailure, message: str) -> StepFailed:
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


def _spoken(told: Told, step: str | None) -> Spoken:
    payload = told.attempt.payload
    duration = told.completed_ms - payload["startedAtMs"]
    return Spoken(step, payload["role"], payload["agent"], duration, usage_payload(spent(told)))
