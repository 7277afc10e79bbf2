"""Stage 11, and the other ends of an attempt: what each stores and where the head is afterwards."""

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from uwf_core.api.agent import Usage, usage_payload
from uwf_core.api.events import StepAsked, StepFailed, StepFinished
from uwf_core.api.sums import NOTHING_USED
from uwf_core.engine.attempt import end_attempt, forget_attempt, record_files, save_end
from uwf_core.engine.context import Attempt
from uwf_core.engine.events import save_event
from uwf_core.engine.labels import event_fields, note
from uwf_core.engine.record import denials_of, message_of, save_failed_step, unrouted
from uwf_core.errors import (
    AgentFailure,
    AgentInterrupted,
    CorruptNodeError,
    LeaseLostError,
    NeedsAnswer,
    RoutingFailed,
    UwfError,
)
from uwf_core.fields.records import read_record
from uwf_core.ids import Ref
from uwf_core.moderator.next import is_back
from uwf_core.process import crash_points
from uwf_core.thread.decisions import Event, session_of, session_payload, waits
from uwf_core.thread.fold import fold
from uwf_core.thread.head import Head, move_head
from uwf_core.thread.history import is_answer
from uwf_core.thread.lifecycle import INTERRUPTED_MESSAGE, status_fields
from uwf_core.thread.names import asked_name, attempt_name, turns_prefix
from uwf_core.thread.state import ThreadState
from uwf_core.workflow.definition import END, SUSPEND

if TYPE_CHECKING:
    from collections.abc import Callable

    from uwf_core.engine.context import Run
    from uwf_core.engine.documents import StepResult
    from uwf_core.engine.engine import Engine
    from uwf_core.thread.state import ThreadState
    from uwf_core.thread.types import AttemptPayload, ErrorPayload


def advance(run: "Run", attempt: Attempt) -> Head:
    """Stage 11: move the head to the step. Within a transaction."""
    assert attempt.step is not None
    forget_attempt(run.engine, attempt, failed_ones=True)
    crash_points.reach("advance")
    state = fold(attempt.head.state, attempt.step)
    _keep_files(run.engine, attempt, state)
    return move_head(run.engine.store, attempt.head, Ref(attempt.step.ref), state)


def _keep_files(engine: "Engine", attempt: Attempt, state: "ThreadState") -> None:
    if attempt.files is not None:
        from uwf_core.engine.moving import keep_files  # for threads of workers

        keep_files(engine.store, attempt, state)


def save_failure(run: "Run", attempt: Attempt, failure: AgentFailure) -> Attempt:
    """Store a failed attempt; the head stays where it is, and the thread is suspended, or the step
    of the engine leads on.
    """
    from uwf_core.engine.retry import policy_of  # not for every step

    engine = run.engine
    _check_until(run, attempt, failure)
    end_attempt(run, attempt)
    attempt.policy = policy_of(run, attempt, failure)
    record_files(run, attempt)
    try:
        with engine.store.batch():
            step = _save_failed(engine, attempt, failure)
            crash_points.reach("fail")
            state = fold(attempt.head.state, step)
            failed = move_head(engine.store, attempt.head, attempt.head.ref, state)
            attempt.head = _followed(engine, failed, attempt.ended_ms)
            _keep_files(engine, attempt, attempt.head.state)
    except LeaseLostError as error:
        save_refused(run, attempt, error)
        raise
    run.watch.event(failed_event(engine, attempt, failure))
    return attempt


def _followed(engine: "Engine", head: Head, at_ms: int) -> Head:
    """The head after the edge of a failure, if it has one."""
    if head.state.suspension is None:
        return head
    from uwf_core.engine.failed_step import follow_failure  # not for every step

    return follow_failure(engine, head, at_ms)


def _check_until(run: "Run", attempt: Attempt, failure: AgentFailure) -> None:
    """Keep the end of a limit only if it can be right, whichever agent names it."""
    named = failure.until_ms
    if named is not None:
        from uwf_core.api.moments import plausible_ms  # not for every step

        failure.until_ms = plausible_ms(named, run.engine.now_ms())
        if failure.until_ms is None:
            note(run, attempt, "the agent names an end of the limit that cannot be right: unknown")


def save_refused(run: "Run", attempt: Attempt, error: UwfError) -> None:
    """Keep an attempt whose thread belongs to another process by now: not in the thread, but beside
    it, as a name of its node. What it has used counts in the ledger of the thread. Other errors
    leave the attempt to `recover`.
    """
    if attempt.variable is None or not isinstance(error, LeaseLostError):
        return
    engine, thread = run.engine, attempt.head.thread
    attempt.usage = _not_reported(attempt)
    attempt.head = run.head  # it may be the one that was refused
    with engine.store.batch(fenced=False):
        end_attempt(run, attempt)
        there = engine.store.present(attempt.turns)  # others were refused as well
        attempt.turns = [ref for ref in attempt.turns if ref in there]
        step = save_failed_step(engine, attempt, AgentInterrupted(_REFUSED), keeps_session=False)
        engine.store.set_variable(asked_name(thread, step.ref), Ref(step.ref), {}, None)


_REFUSED = "refused: another process has taken over the thread"


def _not_reported(attempt: Attempt) -> Usage | None:
    """What the attempt used beyond what it has reported: the next process stores that."""
    assert attempt.variable is not None
    reported = attempt.variable.tags.get("usage")
    if attempt.usage is None or reported is None:
        return attempt.usage
    before, used = read_record(Usage, json.loads(reported)), attempt.usage
    names = ("turns", "input_tokens", "output_tokens", "cache_read_tokens", "cache_write_tokens")
    beyond: dict[str, Any] = {}
    for name in (*names, "cost_usd"):
        whole = getattr(used, name)
        beyond[name] = None if whole is None else max(0, whole - (getattr(before, name) or 0))
    return replace(used, **beyond)


def _save_failed(engine: "Engine", attempt: Attempt, failure: AgentFailure) -> Event:
    attempt.step = save_failed_step(engine, attempt, failure)
    save_end(engine, attempt, step=Ref(attempt.step.ref))
    return attempt.step


def save_question(run: "Run", attempt: Attempt, question: NeedsAnswer) -> Attempt:
    """Store a question to a person; there is no step, and the session is kept."""
    from uwf_core.engine.expiry import expiry_of_question  # not for every step

    engine = run.engine
    end_attempt(run, attempt)
    given, message = attempt.payload, engine.redactor.text(question.message)
    with engine.store.batch():
        form = json.dumps(engine.redactor.value(dict(question.form)), ensure_ascii=False)
        ref = engine.nodes.put(
            "question",
            {"message": engine.store.put_text(message), "form": engine.store.put_text(form)},
        )
        crash_points.reach("question")
        session = session_payload(attempt.session)
        expires = expiry_of_question(run, attempt)
        attempt.head = save_event(
            engine,
            attempt.head,
            "asked",
            attempt=save_end(engine, attempt, session=session, question=ref),
            **{name: given[name] for name in ("role", "agent", "startedAtMs")},
            session=session,
            completedAtMs=attempt.ended_ms,
            usage=usage_payload(attempt.total_usage()),
            next=waits("role", given["role"], message, question=ref, expires=expires),
        )
    run.watch.event(
        StepAsked(
            attempt=given["attempt"]["number"], message=message, **event_fields(engine, attempt)
        )
    )
    return attempt


def save_unrouted(
    run: "Run", failure: RoutingFailed, role: str, *, leads_on: bool = False
) -> Attempt:
    """Suspend a thread in which nothing can be run. There is no attempt but its failure.
    `leads_on`: whether it belongs to the role, whose edge of a failure is taken.
    """
    attempt = Attempt(run.head)
    attempt.failure = failure
    with run.engine.store.batch():
        to = unrouted(run.engine, failure, role)
        attempt.head = save_event(run.engine, run.head, "unrouted", next=to)
        if leads_on:
            attempt.head = _followed(run.engine, attempt.head, run.engine.now_ms())
    return attempt


def finished_event(engine: "Engine", attempt: Attempt) -> StepFinished:
    """The event of a step that is stored."""
    payload, state = attempt.payload, attempt.head.state
    definition, next_role = engine.definition(Ref(state.workflow)), state.current_role
    assert attempt.step is not None
    return StepFinished(
        step=attempt.step.ref,
        output=dict(attempt.output or {}),
        usage=attempt.total_usage(),
        duration_ms=attempt.ended_ms - payload["startedAtMs"],
        denials=tuple(denials_of(engine, attempt)),
        leads_to=_leads_to(state),
        back=next_role is not None and is_back(definition, payload["role"], next_role),
        **event_fields(engine, attempt),
    )


def _leads_to(state: ThreadState) -> str | None:
    """The target of the edge that was taken; None if there is none."""
    if state.suspension is not None:
        return SUSPEND if state.suspension.reason == "role" else None
    return state.current_role or END


def failed_event(engine: "Engine", attempt: Attempt, failure: AgentFailure) -> StepFailed:
    """The event of a failed attempt that is stored."""
    assert attempt.step is not None
    return StepFailed(
        attempt=attempt.payload["attempt"]["number"],
        step=attempt.step.ref,
        kind=failure.kind.word,
        message=message_of(engine, failure),
        **event_fields(engine, attempt),
    )


def step_result(engine: "Engine", attempt: Attempt) -> "StepResult":
    """The document of one step, with the state of the thread after it."""
    state, failure = attempt.head.state, attempt.failure
    if attempt.variable is None and attempt.call is None:  # nothing could be run
        role, agent, duration, usage = state.suspension and state.suspension.role, None, 0, None
        alias, answered = None, False
    else:
        role, agent = attempt.payload["role"], attempt.payload["agent"]
        alias = attempt.choice.alias if attempt.call is None else None
        duration = attempt.ended_ms - attempt.payload["startedAtMs"]
        usage = usage_payload(attempt.total_usage())
        answered = is_answer(attempt.payload["attempt"]["answer"], usage)
    return {
        "thread": attempt.head.thread,
        "step": attempt.step and attempt.step.ref,
        "role": role,
        "agent": agent,
        "alias": alias,
        **status_fields(state),
        "durationMs": duration,
        "usage": usage or NOTHING_USED,
        "failure": None if failure is None else _failure_document(engine, failure),
        "answered": answered,
        "notices": [engine.redactor.text(each) for each in attempt.notices],
    }


def _failure_document(engine: "Engine", failure: AgentFailure) -> "ErrorPayload":
    message = message_of(engine, failure)
    return {"kind": failure.kind.word, "message": message, "until": failure.until_ms}


def recover(engine: "Engine", head: Head, notice: "Callable[[str], None]") -> Head:
    """The head of a locked thread, after an attempt that a dead run left open is ended.

    Its processes are ended first. What its agent reported becomes a failed attempt, and its session
    is kept.
    """
    opened = head.state.attempt
    if opened is None:
        return head
    from uwf_core.process.leftovers import end_leftovers

    ended_processes = end_leftovers(
        f"{head.thread}/{opened.name}", grace_seconds=engine.settings.limits.grace_seconds
    )
    if ended_processes:
        notice(f"ended {ended_processes} processes of an interrupted run")
    attempt = _interrupted_attempt(engine, head, opened.name)
    with engine.store.batch():
        step = _save_failed(engine, attempt, AgentInterrupted(INTERRUPTED_MESSAGE))
        crash_points.reach("recover")
        return move_head(engine.store, head, head.ref, fold(head.state, step))


def _interrupted_attempt(engine: "Engine", head: Head, name: str) -> Attempt:
    """The attempt as far as it is stored. It ended, for all that is known, with its last report."""
    variable = engine.store.variable(attempt_name(head.thread, name))
    if variable is None:
        raise CorruptNodeError(
            f"the attempt {name} of thread {head.thread} is missing",
            hint=f"next: uwf cas verify {head.thread} --repair",
        )
    payload: AttemptPayload = engine.store.get(Ref(variable.value)).payload
    attempt = Attempt(head)
    attempt.variable = variable
    attempt.may_call = True
    attempt.session = variable.tags.get("session", session_of(payload)["id"])
    attempt.payload = {**payload, "session": session_payload(attempt.session)}
    reported = variable.tags.get("usage")
    attempt.usage = read_record(Usage, json.loads(reported)).plus(Usage()) if reported else Usage()
    own = engine.store.variables(turns_prefix(head.thread, name))
    attempt.turns = [Ref(each.value) for each in own]
    attempt.loose = engine.store.variables(turns_prefix(head.thread))
    attempt.ended_ms = max([head.variable.updated_ms, *(each.updated_ms for each in own)])
    return attempt
