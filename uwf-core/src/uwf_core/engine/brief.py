"""Stage 6: what the agent is told: its prompt, its session, its limits."""

from typing import TYPE_CHECKING

from uwf_core.api.agent import AgentRequest, PromptParts, RunLimits
from uwf_core.engine.attempt import Given
from uwf_core.engine.converse import Briefing
from uwf_core.engine.extraction import open_extractors
from uwf_core.ids import Ref
from uwf_core.named_tuple import NamedTuple
from uwf_core.prompt.assemble import HISTORY_CHARACTERS, Assembled, PromptInput
from uwf_core.prompt.assemble import assemble as assemble_prompt
from uwf_core.prompt.record import StepRecord, step_markdown
from uwf_core.thread.chain import Step, body_of, newest_first, read_start, read_step
from uwf_core.thread.state import RoleState

if TYPE_CHECKING:
    from uwf_core.agents.open import OpenAgent
    from uwf_core.cas.store import Store
    from uwf_core.engine.plan import Task
    from uwf_core.engine.running import Ending
    from uwf_core.workflow.definition import Role


class SessionPlan(NamedTuple):
    """Which session a task is to run in: one to continue, one to fork first, or a new one; and
    the newest step that it knows.
    """

    continues: str | None = None
    forks: str | None = None
    knows: int = 0

    @property
    def is_own(self) -> bool:
        """Whether the agent will know what its role has seen before."""
        return self.continues is not None or self.forks is not None


def plan_session(state: RoleState, agent: "OpenAgent") -> SessionPlan:
    """The role's session with this agent: its own is continued, an inherited one is forked, if the
    agent can.
    """
    own = state.sessions.get(agent.name)
    if own is None or "continue" not in agent.capabilities:
        return SessionPlan()
    if not own.inherited:
        return SessionPlan(continues=own.id, knows=own.number)
    can_fork = "fork" in agent.capabilities
    return SessionPlan(forks=own.id, knows=own.number) if can_fork else SessionPlan()


def assemble(ending: "Ending", agent: "OpenAgent") -> Briefing:
    """What `agent` is told for the task; stored before it starts."""
    task = ending.task
    run, head = ending.run, ending.head
    engine, role = run.engine, run.definition.roles[task.role]
    plan = plan_session(head.state.role(task.role), agent)
    prompt = _prompt(ending, task, role, plan)
    attempt = ending.begin(Given(prompt.text, plan.continues, plan.is_own))
    _notice_tools(ending, role, agent)
    request = AgentRequest(
        thread=head.thread,
        role=task.role,
        step_number=task.number,
        cwd=task.cwd,
        session=plan.continues,
        model=engine.model_of(agent.capabilities),
        options=agent.options,
        limits=_limits(ending, role, agent),
        env={**engine.agent_env(agent.env), "UWF_ATTEMPT": attempt.payload["marker"]},
        trusted=engine.trusts(task.cwd),
        cancel=run.cancel,
        on_process=ending.progress.process,
        purpose=task.purpose,  # type: ignore[arg-type]
        prompt=prompt.text,
        parts=prompt.parts,
        schema=role.schema,
        answer=task.answer,
        tools=role.tools if "tools" in agent.capabilities else None,
    )

    def fresh() -> AgentRequest:
        whole = _prompt(ending, task, role, SessionPlan()) if plan.is_own else prompt
        return request.with_(prompt=whole.text, parts=whole.parts, session=None)

    return Briefing(request, fresh, plan.forks, open_extractors(engine))


def _prompt(ending: "Ending", task: "Task", role: "Role", plan: SessionPlan) -> Assembled:
    engine, head = ending.run.engine, ending.head
    state = head.state.role(task.role)
    steps, earlier = _history(engine.store, task, plan.knows)
    start = read_start(engine.store, Ref(head.state.start))
    source = PromptInput(
        role=role,
        task=engine.store.text(Ref(start["prompt"])),
        step_number=task.number,
        visits=state.visits,
        steps=steps,
        own_session=plan.is_own,
        interrupted=task.is_repeat,
        instruction=task.instruction,
        earlier=earlier,
        replaced=_replaced(engine.store, task) if not plan.is_own else None,
    )
    assembled = assemble_prompt(source)
    text = engine.redactor.text(assembled.text)
    if text == assembled.text:
        return assembled
    parts = {
        name: engine.redactor.text(getattr(assembled.parts, name))
        for name in PromptParts.__dataclass_fields__
    }
    return Assembled(PromptParts(**parts), text)


def _history(store: "Store", task: "Task", seen: int) -> tuple[list[StepRecord], int]:
    """The steps after step number `seen`, oldest first, and how many older ones were not read.

    Reads no further back than the prompt can show, so that a long thread costs no more.
    """
    if task.prev is None:
        return [], 0
    steps, size = list[StepRecord](), 0
    for step in newest_first(store, Ref(task.prev), Ref("")):
        number = step.payload["number"]
        if number <= seen:
            break
        if size > HISTORY_CHARACTERS:
            return steps[::-1], number - seen
        record = _record(store, step)
        size += len(step_markdown(record))
        steps.append(record)
    return steps[::-1], 0


def _replaced(store: "Store", task: "Task") -> StepRecord | None:
    return None if task.replaces is None else _record(store, read_step(store, Ref(task.replaces)))


def _record(store: "Store", step: Step) -> StepRecord:
    output = store.get(Ref(step.payload["output"])).payload
    return StepRecord(step.payload["number"], step.payload["role"], output, body_of(store, step))


def _limits(ending: "Ending", role: "Role", agent: "OpenAgent") -> RunLimits:
    """The role's timeout > the agent's option `timeout` > the configuration's."""
    limits = ending.run.engine.settings.limits
    option = getattr(agent.options, "timeout", None)
    own = option if isinstance(option, int | float) and not isinstance(option, bool) else None
    return RunLimits(
        seconds=float(role.timeout or own or limits.run_seconds),
        idle_seconds=limits.idle_seconds,
        grace_seconds=limits.grace_seconds,
        reply_bytes=limits.reply_bytes,
    )


def _notice_tools(ending: "Ending", role: "Role", agent: "OpenAgent") -> None:
    if role.tools is not None and "tools" not in agent.capabilities:
        ending.run.watch.notice(
            f"role {role.name} is narrowed to {', '.join(role.tools) or 'no tools'}, which "
            f"{agent.name} cannot enforce"
        )
