"""`step ask`: a question to the session of a past step. No step is written, no head moves."""

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from uwf_core.agents.choose import (
    Choice,
    player_of,
    recorded_agent,
    resolve_agent,
)
from uwf_core.agents.open import OpenAgent
from uwf_core.agents.supervise import ask_call, fork_call, speaks_from
from uwf_core.api.agent import AgentReply, AgentRequest, AskRequest, NoSink, priced, usage_payload
from uwf_core.engine.agents import check_choice, recordable, run_limits, usual_agent
from uwf_core.engine.models import model_of
from uwf_core.engine.open_plugins import opened_agent
from uwf_core.engine.watch import Watch
from uwf_core.errors import NeedsAnswer, SessionLost, UsageError
from uwf_core.ids import Ref, ThreadId
from uwf_core.thread.branches import check_no_branches
from uwf_core.thread.decisions import call_of, session_of
from uwf_core.thread.head import read_head
from uwf_core.thread.history import read_start
from uwf_core.thread.names import ask_name, asked_name, head_name
from uwf_core.views.read import read_step
from uwf_core.views.recorded import open_step
from uwf_core.workflow.definition import PROGRAM

if TYPE_CHECKING:
    from uwf_core.engine.documents import AnswerDocument
    from uwf_core.engine.engine import Engine
    from uwf_core.process.cancel import Cancel
    from uwf_core.views.recorded_step import RecordedStep


class AskOptions(NamedTuple):
    """The question, the word of `--agent`, and whether the session may be forked."""

    text: str
    agent: str | None = None
    fork: bool = True


class _Question(NamedTuple):
    """A question about a step, the agent that gets it, and the fields of every call."""

    engine: "Engine"
    step: "RecordedStep"
    agent: OpenAgent
    text: str
    call: Mapping[str, Any]


def ask_step(
    engine: "Engine", word: str, options: AskOptions, watch: Watch, cancel: "Cancel"
) -> "AnswerDocument":
    """Ask a fork of the session of a step; the session itself stays unchanged.

    The answer is `original` only if the agent proved that it answers from a fork of that session as
    of the step; otherwise a new session got the record of the step, and the answer is
    `reconstructed`.

    Raises:
        UnknownIdError: unknown step. WrongStateError: it is the step of a fan-out.
        UsageError: the question is blank, or the agent does not declare `ask`: only that capability
            promises that it changes nothing.
        AgentFailure: the agent failed.
    """
    if not options.text.strip():
        raise UsageError("the question is blank", hint="ask it with -p TEXT")
    step = open_step(engine, word)
    while (last := call_of(step.node)["child"]) is not None:  # a call: who gave its result answers
        step = open_step(engine, last)
    check_no_branches(step.node, "ask")
    choice = _choose(engine, step, options.agent)
    with opened_agent(engine, choice, None) as agent:
        check_can_answer(agent)
        text = engine.redactor.text(options.text)
        call = _call(engine, step, agent, cancel)
        question = _Question(engine, step, agent, text, call)
        try:
            reply, session = _asked(question, watch, may_fork=options.fork)
        except NeedsAnswer as error:
            raise UsageError(
                f"{agent.origin} cannot be asked: it needs an answer itself",
                hint="ask with --agent NAME",
            ) from error
    document = _document(question, reply, session)
    _save(question, document, reply.model)
    return document


def _save(question: _Question, document: "AnswerDocument", model: str | None) -> None:
    """Store what was asked and what it used: it counts against the limits of the thread."""
    engine, thread = question.engine, ThreadId(document["thread"])
    if not engine.store.rows(head_name(thread), limit=1):
        return  # the thread of the step is deleted
    with engine.store.transaction():
        ask = engine.nodes.put(
            "ask",
            {
                "thread": thread,
                "step": document["step"],
                "role": document["role"],
                "agent": document["agent"],
                "model": model and engine.redactor.text(model),
                "question": engine.store.put_text(question.text),
                "answer": engine.store.put_text(document["answer"]),
                "askedAtMs": engine.now_ms(),
                "usage": document["usage"],
            },
        )
        engine.store.set_variable(asked_name(thread, ask), ask, {}, None)
        state = read_head(engine.store, thread).state
        if state.caller is not None:
            from uwf_core.engine.budget import count_above  # only in called threads

            count_above(engine, state, ask)


def check_can_answer(agent: OpenAgent) -> None:
    """Check that an agent declares `ask`: only that promises that it changes nothing.

    Raises:
        UsageError: it does not.
    """
    if "ask" not in agent.capabilities:
        raise UsageError(
            f"{agent.origin} cannot be asked: it does not declare `ask`, so nothing keeps it from "
            "changing files",
            hint="ask with --agent NAME; for a command, see `capabilities` in the guide Agents",
        )


def _choose(engine: "Engine", step: "RecordedStep", word: str | None) -> Choice:
    """The named agent, else that of the step, with the options of its alias if that still fits."""
    start = read_start(engine.store, Ref(step.node["start"]))
    known = engine.agent_catalog(start["cwd"])
    if word is not None:
        return recordable(engine, resolve_agent(word, known))
    workflow, recorded = step.workflow, step.node["agent"]
    player = player_of(step.role, workflow.roles.get(step.role))
    choice = usual_agent(engine, known, workflow.name, player, start)
    if recorded not in (choice.name, PROGRAM, None):
        choice = recorded_agent(recorded, known)
    return check_choice(engine.store, step.node["start"], choice)


def _call(
    engine: "Engine", step: "RecordedStep", agent: OpenAgent, cancel: "Cancel"
) -> Mapping[str, Any]:
    role = step.workflow.roles.get(step.role)
    return {
        **call_fields(engine, agent, step.node["attempt"]["cwd"], cancel),
        "thread": step.node["thread"],
        "role": step.role,
        "step_number": step.number,
        "model": model_of(engine, agent.capabilities, role and role.model),
        # a question allows no more than the step did
        "tools": role.tools if role and "tools" in agent.capabilities else None,
    }


def call_fields(
    engine: "Engine", agent: OpenAgent, cwd: str, cancel: "Cancel"
) -> Mapping[str, Any]:
    """What every question to an agent has."""
    return {
        "cwd": cwd,
        "options": agent.options,
        "limits": run_limits(engine),
        "env": engine.agent_env(agent.env),
        "trusted": engine.trusts(cwd),
        "cancel": cancel,
    }


def _asked(question: _Question, watch: Watch, *, may_fork: bool) -> tuple[AgentReply, str | None]:
    """The reply, and the fork that gave it; None for a new session."""
    if may_fork and _can_fork(question, watch):
        for is_cached, session in _forks(question):
            try:
                return _ask_in(question, session), session
            except SessionLost:
                if not is_cached:
                    watch.notice("the session of the step is lost; asking a new one")
    return _ask_fresh(question), None


def _can_fork(question: _Question, watch: Watch) -> bool:
    """Whether the agent can fork its session so that the fork ends at the step."""
    node, agent = question.step.node, question.agent
    session = session_of(node)
    is_its_own = session["id"] is not None and node["agent"] == agent.name
    if not is_its_own or "fork" not in agent.capabilities:
        return False
    if session["mark"] or question.step.session_rests:
        return True
    watch.notice(
        f"the session of the step holds later turns, and {agent.name} cannot fork it as of the "
        "step; asking a new one"
    )
    return False


def _forks(question: _Question) -> Iterator[tuple[bool, str]]:
    """(is cached, session): the fork of an earlier question, then a new one."""
    store, name = question.engine.store, ask_name(question.step.ref)
    cached = store.variable(name)
    if cached is not None and cached.tags.get("agent") == question.agent.name:
        yield True, cached.tags["session"]
    own = session_of(question.step.node)
    session = own["id"]
    assert session is not None
    try:
        request = AgentRequest(**question.call, prompt="")
        forked = fork_call(question.agent, session, request, own["mark"])
    except SessionLost:
        return
    if forked is None:  # a copy comes only with a prompt, which may change things
        return
    if question.engine.redactor.text(forked) != forked:
        yield False, forked  # an id that contains a secret is not stored
        return
    with store.transaction():
        detail = question.engine.nodes.put("detail", {"session": forked, "turns": []})
        tags = {"session": forked, "agent": question.agent.name}
        store.set_variable(name, detail, tags, cached)
    yield False, forked


def _ask_in(question: _Question, session: str) -> AgentReply:
    request = AskRequest(**question.call, question=question.text, session=session)
    return ask_call(question.agent, request, NoSink())


def _ask_fresh(question: _Question) -> AgentReply:
    record = read_step(question.step)
    request = AskRequest(**question.call, question=question.text, record=record)
    return ask_call(question.agent, request, NoSink())


def _document(question: _Question, reply: AgentReply, session: str | None) -> "AnswerDocument":
    import json

    redactor, payload = question.engine.redactor, question.step.node
    said = reply.text
    if said is None:
        said = json.dumps(reply.structured, ensure_ascii=False)
    return {
        "step": question.step.ref,
        "thread": payload["thread"],
        "role": payload["role"],
        "agent": question.agent.name,
        "answer": redactor.text(said),
        "continuation": "original" if speaks_from(reply, session) else "reconstructed",
        "session": None if reply.session is None else redactor.text(reply.session),
        "usage": usage_payload(priced(reply.usage, question.call["model"])),
    }
