"""The agent of a step: chosen by the usual order, and the limits of its run."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from uwf_core.agents.choose import (
    STEP_AGENT,
    THREAD_AGENT,
    AgentCatalog,
    AgentPreferences,
    Choice,
    RolePlayer,
    choose_agent,
    player_of,
    recorded_agent,
    resolve_agent,
    turned,
)
from uwf_core.api.agent import RunLimits
from uwf_core.engine.names import lacking_agent
from uwf_core.errors import UsageError
from uwf_core.thread.names import imported_name

if TYPE_CHECKING:
    from uwf_core.cas.store import Store
    from uwf_core.engine.context import Run, Task
    from uwf_core.engine.engine import Engine
    from uwf_core.thread.state import ThreadState


def run_limits(engine: "Engine", seconds: float | None = None) -> RunLimits:
    """The limits of one run of an agent; `seconds`: those of its role."""
    limits = engine.settings.limits
    return RunLimits(
        seconds=float(seconds or limits.run_seconds),
        idle_seconds=limits.idle_seconds,
        grace_seconds=limits.grace_seconds,
        reply_bytes=limits.reply_bytes,
    )


def agent_for(run: "Run", task: "Task") -> Choice:
    """The agent for a task, by the usual order. A poked step keeps its agent, and an answer goes to
    the agent that asked.

    Raises:
        UsageError: the agent is unknown, or its plugin may not be used.
    """
    engine = run.engine
    catalog, player_word = engine.agent_catalog(run.folder), run.options.player
    if player_word is not None:
        choice = recordable(engine, resolve_agent(player_word, catalog))
    elif task.agent is not None and task.answer is not None:
        choice = _asker(engine, task.agent, task.alias, catalog)
    else:
        definition = run.definition
        player = player_of(task.role, definition.roles[task.role])
        choice = usual_agent(
            engine,
            catalog,
            definition.name,
            player,
            engine.start(run.head.state.start),
            flag=run.options.agent,
            state=run.head.state,
        )
        for reason in choice.absent:
            run.watch.notice(f"{task.role}: an agent of `anyOf` is left out: {reason}")
        is_free = player.kind == "agent" and run.options.agent is None
        if is_free and task.agent not in (None, choice.name):
            choice = recorded_agent(task.agent, catalog)
    engine.check_plugin(choice.plugin)
    if choice.kind == "program":  # whatever has been checked before, nothing else runs one
        from uwf_core.engine.program_permission import check_programs

        check_programs(engine, run.definition.ref)
    if engine.worker_labels is not None:
        check_worker(engine, run.definition.ref, choice)
    return check_choice(engine.store, run.head.state.start, choice)


def usual_agent(
    engine: "Engine",
    catalog: AgentCatalog,
    workflow: str,
    player: RolePlayer,
    start: Mapping[str, Any],
    *,
    flag: str | None = None,
    state: "ThreadState | None" = None,
) -> Choice:
    """The agent of a role by the usual order: flag, binding of the role, thread (both in its
    `start`), overrides, suggestion, default. Of an alias with `anyOf` it is the one whose turn it
    is in the `state` of the thread.

    A suggestion that the user cannot use does not count; `check_run` has reported it.
    """
    suggested = player.suggested
    if suggested is not None and lacking_agent(engine, suggested) is not None:
        suggested = None
    preferences = AgentPreferences(
        flag=flag,
        bound=(start["bindings"] or {}).get(player.role),
        thread=start["agent"],
        overrides=engine.settings.agent_overrides,
        suggested=suggested,
        default=engine.settings.default_agent,
    )
    choice = choose_agent(preferences, catalog, workflow=workflow, player=player)
    first = None if state is None or not choice.others else state.substitutes.get(player.role)
    if first is not None:
        from uwf_core.thread.retry import words_in_turn  # where an agent has failed

        words = words_in_turn((choice.word, *choice.others), first)
        choice = turned(choice, words, catalog)
    return recordable(engine, choice)


def _asker(engine: "Engine", agent: str, alias: str | None, catalog: AgentCatalog) -> Choice:
    """The agent that asked, with the options of its alias if that still refers to it."""
    if alias is not None and alias in catalog.aliases:
        choice = recordable(engine, resolve_agent(alias, catalog))
        if choice.name == agent:
            return choice
    return recorded_agent(agent, catalog)


def recordable(engine: "Engine", choice: Choice) -> Choice:
    """The choice with a name that may be stored: a command line can contain a secret."""
    name = engine.redactor.text(choice.name)
    return choice if name == choice.name else choice._replace(name=name)


def check_worker(engine: "Engine", workflow: str, choice: Choice) -> None:
    """Check that a worker may run an agent: nodes of a store that many write to can name any
    command, as that of an earlier attempt.

    Raises:
        UsageError: its owner has not configured it.
    """
    is_program = choice.kind == "program"
    label = f"program:{workflow}" if is_program else f"agent:{choice.alias or choice.name}"
    if label not in (engine.worker_labels or ()):
        raise UsageError(
            f"this worker does not run {label}",
            where=choice.source,
            hint="configure it in `agents`, or in `worker.allowPrograms`",
        )


# -- threads that came with a bundle ---------------------------------------------------------------
# Their nodes can name command lines of another machine. A variable at the start node, which all
# threads that continue from it share, marks them.


def mark_imported(store: "Store", start: str) -> None:
    """Mark the start node as imported. Within a transaction."""
    if not is_imported(store, start):
        store.set_variable(imported_name(start), start, {}, None)


def is_imported(store: "Store", start: str) -> bool:
    """Whether the start node came with a bundle."""
    return store.variable(imported_name(start)) is not None


def check_choice(store: "Store", start: str, choice: Choice) -> Choice:
    """Reject a command that only the nodes of an imported thread name; return any other choice.

    Raises:
        UsageError: the command is not configured here.
    """
    is_of_nodes = choice.source in (THREAD_AGENT, STEP_AGENT)
    if choice.kind != "command" or choice.alias is not None or not is_of_nodes:
        return choice
    if is_imported(store, start):
        raise UsageError(
            f"the bundle of this thread names the command {choice.name!r}; commands of a bundle "
            "are not run",
            where=choice.source,
            hint="choose an agent with --agent NAME, or configure this command as an alias "
            "below `agents`",
        )
    return choice
