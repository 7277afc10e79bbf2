"""Stage 6: the task and the history -> the request to the agent, with its prompt and limits."""

from typing import TYPE_CHECKING

from uwf_core.api.agent import AgentRequest, PromptParts, RunLimits
from uwf_core.engine.agents import run_limits
from uwf_core.engine.models import model_of
from uwf_core.engine.plan import HeadPosition
from uwf_core.engine.progress import Progress
from uwf_core.ids import Ref
from uwf_core.process.identity import hostname
from uwf_core.prompt.assemble import (
    HISTORY_CHARACTERS,
    Situation,
    prompt_parts,
    prompt_text,
)
from uwf_core.thread.decisions import session_of
from uwf_core.thread.head import SESSION_HOSTS, session_rests
from uwf_core.thread.history import guidance_at, read_step, text_at

if TYPE_CHECKING:
    from collections.abc import Sequence

    from uwf_core.agents.open import OpenAgent
    from uwf_core.cas.store import Store
    from uwf_core.engine.context import Attempt, Run, Task
    from uwf_core.engine.plan import Position
    from uwf_core.thread.head import Head
    from uwf_core.thread.history import Guidance, Saying
    from uwf_core.thread.state import RoleSession, RoleState
    from uwf_core.workflow.definition import Role


def usable_session(
    store: "Store", head: "Head", role: str, agent: "OpenAgent"
) -> "RoleSession | None":
    """The role's session with this agent, if the agent can use it: its own is continued, an
    inherited or imported one is forked first, as of the step that the thread shares.
    """
    state = head.state.role(role)
    session = state.sessions.get(agent.name)
    if session is None or "continue" not in agent.capabilities:
        return None
    if session_machine(head, role, agent.name) is not None:
        return None
    is_imported = session.id in head.imported_sessions
    if not (session.inherited or is_imported):
        return session
    has_end = session.mark or (not is_imported and _rests(store, state, session))
    can_fork = "fork" in agent.capabilities and has_end
    return session._replace(inherited=True) if can_fork else None


def session_machine(head: "Head", role: str, agent: str) -> str | None:
    """The other machine on which the role's session with an agent is; None if it is here, as far
    as it is known.
    """
    if SESSION_HOSTS not in head.variable.tags:
        return None
    from uwf_core.thread.session_hosts import session_host  # for queued threads alone

    host = session_host(head.session_hosts, head.state, role, agent)
    return None if host == hostname() else host


def _rests(store: "Store", state: "RoleState", session: "RoleSession") -> bool:
    """Whether an inherited session holds nothing later than the step that the thread shares."""
    assert state.step is not None
    step = read_step(store, Ref(state.step))
    return session_of(step.payload)["id"] == session.id and session_rests(store, step)


def assemble(run: "Run", attempt: "Attempt", agent: "OpenAgent") -> AgentRequest:
    """Stage 6: the request for the task of the attempt, in the session that the agent can use."""
    engine, head, task = run.engine, attempt.head, attempt.task
    role = run.definition.roles[task.role]
    attempt.progress = Progress(run, attempt)
    if attempt.choice.kind == "program":
        from uwf_core.engine.programs import program_request  # not for every step

        return program_request(run, attempt)
    attempt.known = usable_session(engine.store, head, task.role, agent)
    takes_rules = "rules" in agent.capabilities and getattr(agent.options, "rules", True)
    if role.skills or role.memory or takes_rules:
        from uwf_core.engine.guidance import guidance_of  # not for every step

        attempt.guidance = guidance_of(run, attempt, agent, rules=takes_rules)
    prompt, parts = _prompt(run, attempt, agent, attempt.known)
    return AgentRequest(
        thread=head.thread,
        role=task.role,
        step_number=task.number,
        cwd=task.cwd,
        session=None if attempt.known is None or attempt.known.inherited else attempt.known.id,
        model=model_of(engine, agent.capabilities, role.model),
        options=agent.options,
        limits=_limits(run, role, agent),
        env={**engine.agent_env(agent.env), "UWF_ATTEMPT": attempt.marker},
        trusted=engine.trusts(task.cwd),
        cancel=run.cancel,
        on_process=attempt.progress.process,
        purpose=task.purpose,  # type: ignore[arg-type]
        prompt=prompt,
        parts=parts,
        schema=role.schema,
        answer=task.answer,
        tools=role.tools if "tools" in agent.capabilities else None,
    )


def fresh_request(
    run: "Run", attempt: "Attempt", agent: "OpenAgent", request: AgentRequest
) -> AgentRequest:
    """The request with the whole history, for an agent that has lost its session."""
    if attempt.known is None:
        return request
    prompt, parts = _prompt(run, attempt, agent, None)
    return request.with_(prompt=prompt, parts=parts, session=None)


def _prompt(
    run: "Run", attempt: "Attempt", agent: "OpenAgent", known: "RoleSession | None"
) -> tuple[str, PromptParts]:
    engine, task, position = run.engine, attempt.task, HeadPosition(run, attempt.head)
    typed, role = _delivers_object(agent), position.definition.roles[task.role]
    known_before: Sequence[Guidance] = ()
    if attempt.guidance or role.memory:
        known_before = known_guidance(engine.store, position, task)
    now = situation(
        position,
        task,
        known,
        typed=typed,
        guidance=attempt.guidance,
        known_guidance=known_before,
    )
    parts = prompt_parts(role, now)
    text = prompt_text(parts, task.role if now.own_session else None)
    clean = engine.redactor.text(text)
    if clean != text:
        fields = PromptParts.__dataclass_fields__
        parts = PromptParts(**{name: engine.redactor.text(getattr(parts, name)) for name in fields})
    return clean, parts


def situation(
    position: "Position",
    task: "Task",
    known: "RoleSession | None",
    *,
    typed: bool,
    guidance: "Sequence[Guidance]" = (),
    known_guidance: "Sequence[Guidance]" = (),
) -> Situation:
    """What the prompt of a task depends on; `known` is the session that the agent continues. For
    `guidance` and `known_guidance` see `Situation`.
    """
    state, newest = position.state, 0 if known is None else known.number
    summary = None if newest else position.summary(task)  # a session that continues has the steps
    steps, earlier = _history(position, task, summary[0] if summary else newest)
    deliverable = position.definition.roles[task.role].deliverable
    assert deliverable is not None  # of an agent or a person
    form, last_line = deliverable.of(typed=typed)
    replaced = None
    if task.replaces is not None and newest < task.number:
        replaced = position.markdown(position.step(task.replaces))
    return Situation(
        thread=state.thread,
        task=position.task_text(),
        call=position.call(),
        input=position.given,
        form=position.definition.text(form),
        last_line=last_line,
        cwd=task.cwd,
        instruction=task.instruction,
        step_number=task.number,
        visits=state.role(task.role).visits,
        steps=steps,
        earlier=earlier,
        summary=summary,
        own_session=known is not None and known.knows_role,
        called_again=state.caller is not None and newest <= state.caller.steps,
        replaced=replaced,
        said=_said_before(position, task),
        last_failure=task.last_failure,
        guidance=guidance,
        known_guidance=known_guidance,
    )


def known_guidance(store: "Store", position: "Position", task: "Task") -> "list[Guidance]":
    """What the role got at its last step."""
    last = position.state.role(task.role).step
    return (
        [] if last is None else guidance_at(store, position.step(last).payload["attempt"]["skills"])
    )


def _delivers_object(agent: "OpenAgent") -> bool:
    """Whether the agent delivers a typed object; its option `structured`, if any, decides."""
    return "structured" in agent.capabilities and getattr(agent.options, "structured", True)


def _said_before(position: "Position", task: "Task") -> list["Saying"]:
    """What persons said at the failed attempts at this step, unless the instruction repeats it."""
    found = dict.fromkeys(said for step in position.tries() for said in position.sayings(step))
    repeated = {task.said, *task.instruction.split("\n\n")}
    return [said for said in found if said.text not in repeated]


def _history(position: "Position", task: "Task", known: int) -> tuple[dict[str, str], int]:
    """The texts of the steps after step number `known`, oldest first, and how many older ones were
    not read.

    Reads only as many as the prompt can show, so that a long thread costs no more.
    """
    steps, size, earlier = dict[str, str](), 0, 0
    for step in position.steps_before(task):
        number = step.payload["number"]
        if number <= known:
            break
        if size > HISTORY_CHARACTERS:
            earlier = number - known
            break
        steps[step.ref] = position.markdown(step)
        size += len(steps[step.ref])
    return dict(reversed(steps.items())), earlier


def _limits(run: "Run", role: "Role", agent: "OpenAgent") -> RunLimits:
    """The role's timeout > the agent's option `timeout` > the configuration's."""
    option = getattr(agent.options, "timeout", None)
    own = option if isinstance(option, int | float) and not isinstance(option, bool) else None
    return run_limits(run.engine, role.timeout or own)


def notice_lost_session(run: "Run", attempt: "Attempt", machine: str) -> None:
    """Report that a role begins a new session, because its session is on another machine."""
    run.watch.notice(
        f"session_lost: the session of role {attempt.task.role} is on {machine}; a new one gets "
        "the whole history"
    )


def notice_tools(run: "Run", role: "Role", agent: "OpenAgent") -> None:
    """Report an agent that cannot enforce the role's list of tools."""
    if "tools" not in agent.capabilities:
        run.watch.notice(
            f"role {role.name} is narrowed to {', '.join(role.tools or ()) or 'no tools'}, which "
            f"{agent.name} cannot enforce"
        )


def notice_tool_list(run: "Run", attempt: "Attempt", now: str) -> None:
    """Report that the tools of servers differ from those at the last step of the role."""
    last = attempt.head.state.role(attempt.task.role).step
    if last is None:
        return
    from uwf_core.engine.guidance import tools_changed  # not for every step

    step = read_step(run.engine.store, Ref(last))
    before = text_at(run.engine.store, step.payload["toolList"])
    changed = tools_changed(before, run.engine.redactor.text(now))
    if changed:
        run.watch.notice(
            f"the tools of servers have changed since step {step.payload['number']} of role "
            f"{attempt.task.role}: {changed}"
        )
