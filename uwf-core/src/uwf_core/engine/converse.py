"""Stages 7 to 9: run the agent, keep its reply, extract the output; 7 again for a correction."""

import json
from dataclasses import replace
from time import monotonic
from typing import TYPE_CHECKING

from uwf_core.agents.supervise import fork_call, run_call
from uwf_core.api.agent import AgentReply, AgentRequest, Usage, priced
from uwf_core.api.extract import NO_USAGE, ExtractProblem
from uwf_core.engine.assemble import fresh_request, notice_lost_session, session_machine
from uwf_core.engine.extraction import extract_output
from uwf_core.engine.labels import note
from uwf_core.errors import AgentFailure, InvalidOutput, SessionLost, TimedOut, Unavailable
from uwf_core.extract.typed import problem_words
from uwf_core.process import crash_points
from uwf_core.thread.types import CorrectionPayload

if TYPE_CHECKING:
    from uwf_core.agents.open import OpenAgent
    from uwf_core.api.redact import Redactor
    from uwf_core.engine.context import Attempt, CallProgress, Run


def run_agent(run: "Run", attempt: "Attempt", agent: "OpenAgent") -> AgentReply:
    """Stage 7: call the agent in its session; a lost session is replaced by a new one, and marked.

    Raises:
        AgentFailure: the agent failed.
        NeedsAnswer: it needs an answer of a person.
    """
    request, known = attempt.request, attempt.known
    assert request is not None
    try:
        if known is None:
            return _call_anew(run, attempt, agent, request)
        if not known.inherited:
            return _call(run, attempt, agent, request)
        session = fork_call(agent, known.id, _limited(attempt, request), known.mark)
        if session is None:
            request = request.with_(session=known.id, forks=True)
        else:
            attempt.progress.session(session)
            request = request.with_(session=session)
        reply = _call(run, attempt, agent, request)
        attempt.continuation = "forked"
    except SessionLost:
        if known is None:
            raise
        attempt.request = fresh_request(run, attempt, agent, request)
        attempt.known = None
        reply = _call(run, attempt, agent, attempt.request)
        attempt.continuation = "restarted"
    return reply


def _call_anew(
    run: "Run", attempt: "Attempt", agent: "OpenAgent", request: AgentRequest
) -> AgentReply:
    """Call the agent in a new session, which replaces one that is on another machine, if any."""
    machine = session_machine(attempt.head, request.role, agent.name)
    if machine is None or "continue" not in agent.capabilities:
        return _call(run, attempt, agent, request)
    notice_lost_session(run, attempt, machine)
    reply = _call(run, attempt, agent, request)
    attempt.continuation = "restarted"
    return reply


def _call(run: "Run", attempt: "Attempt", agent: "OpenAgent", request: AgentRequest) -> AgentReply:
    request, progress = _limited(attempt, request), attempt.progress
    progress.next_call()
    try:
        reply = run_call(agent, request, progress, progress.flush)
    except BaseException as error:
        attempt.spend(priced(_used_by(error, progress), request.model))
        attempt.mark = None
        named = error.session if isinstance(error, AgentFailure) else None
        seen = (_keepable(run, named), progress.session_seen, request.session)
        others = request.session if request.forks else None  # another thread's: never to be kept
        attempt.session = next((each for each in seen if each and each != others), None)
        raise
    crash_points.reach("reply")
    for notice in reply.notices:
        note(run, attempt, run.engine.redactor.text(notice))
    attempt.spend(priced(reply.usage, request.model))
    attempt.session = _keepable(run, reply.session)
    attempt.mark = attempt.session and _keepable(run, reply.mark)
    attempt.continuation = reply.continuation
    return reply


def _used_by(error: BaseException, progress: "CallProgress") -> Usage:
    """What a failed call used, as far as the agent reported it. One that was unavailable before its
    first turn used nothing.
    """
    if progress.usage_seen is not None:
        return progress.usage_seen
    return NO_USAGE if isinstance(error, Unavailable) and not progress.has_turns else Usage()


def _keepable(run: "Run", name: str | None) -> str | None:
    """A session or a mark if it may be stored: if redacted, it would name nothing."""
    is_clean = name is None or run.engine.redactor.text(name) == name
    return name if is_clean else None


def _limited(attempt: "Attempt", request: AgentRequest) -> AgentRequest:
    left = attempt.progress.began + request.limits.seconds - monotonic()
    if left <= 0:
        raise TimedOut(f"the step did not finish within {request.limits.seconds:g} s")
    return request.with_(limits=replace(request.limits, seconds=left))


def keep(redactor: "Redactor", reply: AgentReply) -> AgentReply:
    """Stage 8: the reply as it may be stored and read: redacted."""
    if reply.structured is None:
        text = redactor.text(reply.text or "")
        reply = reply if text == reply.text else replace(reply, text=text)
    else:
        reply = replace(reply, structured=redactor.value(dict(reply.structured)))
    crash_points.reach("keep")
    return reply


def raw_text(reply: AgentReply) -> str:
    """The reply as text: its own, or the JSON of its object."""
    if reply.structured is None:
        return reply.text or ""
    return json.dumps(reply.structured, ensure_ascii=False)


def extract(run: "Run", attempt: "Attempt") -> tuple[ExtractProblem, ...]:
    """Stage 9: fill the output of the attempt from its reply, or return what is wrong with it."""
    attempt.output = None
    found, name = extract_output(run, attempt)
    if found.usage != NO_USAGE:
        attempt.spend(found.usage)
    if found.output is None:
        return found.errors or (NOTHING_READ,)
    attempt.output, attempt.body, attempt.extractor = found.output, found.body, name
    if attempt.head.state.worktree is None:
        return ()
    from uwf_core.engine.worktree import unfinished_work  # for threads with worktrees

    return unfinished_work(run, attempt)


def correct(
    run: "Run", attempt: "Attempt", agent: "OpenAgent", problems: tuple[ExtractProblem, ...]
) -> AgentReply:
    """Stage 7 again: send the problems to the same session, or the whole prompt with them.

    Raises:
        InvalidOutput: the agent has had all of its corrections.
        AgentFailure, NeedsAnswer: as `run_agent`.
    """
    from uwf_core.extract.correction import (  # not for every step
        MAX_CORRECTIONS,
        correction_text,
        correction_without_session,
    )

    assert attempt.reply is not None and attempt.request is not None
    continuation, raw = attempt.continuation, raw_text(attempt.reply)
    typed = attempt.reply.structured is not None
    count = len(attempt.corrections) + 1
    is_program = attempt.choice.kind == "program"  # which cannot be corrected
    if is_program or count > MAX_CORRECTIONS:
        after = "" if is_program else f" after {MAX_CORRECTIONS} corrections"
        what = "the output does not satisfy the role's schema"
        if attempt.output is not None:
            what = "the work is not finished"
        attempt.output, attempt.body = None, ""
        raise InvalidOutput(
            f"{what}{after}: {'; '.join(map(problem_words, problems))}",
            hint="`uwf step show` on the failed attempt shows the reply",
        )
    again = attempt.request.with_(purpose="correction", answer=None)
    if "continue" in agent.capabilities and attempt.session is not None:
        text = correction_text(problems, count, MAX_CORRECTIONS, typed=typed)
        inside = again.with_(session=attempt.session, prompt=text)
        _save_correction(run, attempt, text, raw, problems)
        try:
            reply = _call(run, attempt, agent, inside)
            attempt.continuation = continuation
            return reply
        except SessionLost:
            attempt.corrections = attempt.corrections[:-1]
            continuation = "restarted"
    again = fresh_request(run, attempt, agent, again)
    appendix = correction_without_session(problems, count, MAX_CORRECTIONS, raw, typed=typed)
    again = again.with_(prompt=f"{again.prompt}\n{appendix}")
    _save_correction(run, attempt, again.prompt, raw, problems)
    reply = _call(run, attempt, agent, again)
    attempt.continuation = continuation
    return reply


def _save_correction(
    run: "Run", attempt: "Attempt", prompt: str, raw: str, problems: tuple[ExtractProblem, ...]
) -> None:
    store = run.engine.store
    with store.batch(durable=False):
        correction: CorrectionPayload = {
            "prompt": store.put_text(prompt),
            "raw": store.put_text(raw),
            "errors": [problem_words(problem) for problem in problems],
        }
    attempt.corrections = (*attempt.corrections, correction)


NOTHING_READ = ExtractProblem(path="", message="no extractor could read the output")
"""The problem of a reply in which no extractor found one."""
