"""The agent of a step: chosen by the usual order, opened, and closed again."""

# Loaded by every step: pathlib is not imported for that.
# ruff: noqa: PTH118

import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, nullcontext, suppress
from typing import TYPE_CHECKING

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
)
from uwf_core.agents.open import OpenAgent, check_options, open_agent
from uwf_core.agents.supervise import close_call
from uwf_core.api.agent import AgentContext
from uwf_core.engine.extraction import OpenExtractor
from uwf_core.engine.names import lacking_agent
from uwf_core.errors import AgentFailure, InternalFailure, UsageError, UwfError
from uwf_core.plugins.guards import interruptible
from uwf_core.plugins.scan import AGENTS, EXTRACTORS, TOOLS
from uwf_core.process.folders import make_folder
from uwf_core.thread.names import imported_name

if TYPE_CHECKING:
    from uwf_core.api.tool import LoadedTool
    from uwf_core.cas.store import Store
    from uwf_core.engine.engine import Engine
    from uwf_core.engine.plan import Task
    from uwf_core.engine.run import Run


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
            thread=run.head.state.agent,
            bound=(engine.start(run.head.state.start)["bindings"] or {}).get(task.role),
            flag=run.options.agent,
        )
        is_free = player.kind == "agent" and run.options.agent is None
        if is_free and task.agent not in (None, choice.name):
            choice = recorded_agent(task.agent, catalog)
    engine.check_plugin(choice.plugin)
    if choice.kind == "program":  # whatever has been checked before, nothing else runs one
        from uwf_core.engine.allowance import check_programs

        check_programs(engine, run.definition.ref)
    if engine.worker_labels is not None:
        from uwf_core.engine.dispatching import check_worker  # for workers

        check_worker(engine, run.definition.ref, choice)
    return check_choice(engine.store, run.head.state.start, choice)


def usual_agent(
    engine: "Engine",
    catalog: AgentCatalog,
    workflow: str,
    player: RolePlayer,
    *,
    thread: str | None,
    bound: str | None = None,
    flag: str | None = None,
) -> Choice:
    """The agent of a role by the usual order: flag, binding of the role, thread, overrides,
    suggestion, default.

    A suggestion that the user cannot use does not count; `check_run` has reported it.
    """
    suggested = player.suggested
    if suggested is not None and lacking_agent(engine, suggested) is not None:
        suggested = None
    preferences = AgentPreferences(
        flag=flag,
        bound=bound,
        thread=thread,
        overrides=engine.settings.agent_overrides,
        suggested=suggested,
        default=engine.settings.default_agent,
    )
    return recordable(engine, choose_agent(preferences, catalog, workflow=workflow, player=player))


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


# -- opening ---------------------------------------------------------------------------------------


@contextmanager
def opened_agent(engine: "Engine", choice: Choice, seconds: float | None) -> Iterator[OpenAgent]:
    """Open the agent within `seconds` (None: the limit of the configuration), and close it at the
    end.

    Raises:
        UsageError: it is blocked, incompatible or claimed twice.
        PluginBroken, AgentFailure: it cannot be created, or not in time.
    """
    plugins = engine.plugins
    found = None if choice.plugin is None else plugins.found(AGENTS, choice.plugin)
    folder = _made_folder(folder_of_agent(engine.home, choice.word), engine.home)
    if found is not None and engine.agent_options:
        choice = choice._replace(options={**choice.options, **engine.agent_options})
    limit = float(seconds or engine.settings.limits.run_seconds)
    with nullcontext() if found is None else interruptible(found, limit):
        agent = open_agent(
            choice,
            lambda name: plugins.record(AGENTS, name),
            AgentContext(name=choice.word, state_dir=folder, tools=lambda: plugin_tools(engine)),
            distribution=None if found is None else str(found),
            load_attribute=lambda name, path: plugins.attribute(AGENTS, name, path),
            guard=plugins.guard,
        )
    try:
        yield agent
    finally:
        failure = close_call(agent)
        if failure is not None:
            engine.report_fault(failure)


class OpenPlugins:
    """The agents and extractors of one call, each opened at its first use, for all of its steps."""

    def __init__(self, engine: "Engine") -> None:
        self._engine = engine
        self._agents: dict[tuple[str, str], OpenAgent] = {}
        self._extractors: list[OpenExtractor] | None = None
        self._stack = ExitStack()

    def agent(self, choice: Choice, seconds: float | None) -> OpenAgent:
        """The chosen agent; the extractors are opened first, so that its work is not in vain.
        `seconds` is as in `opened_agent`.

        Raises:
            UsageError: a plugin is unknown, blocked, incompatible or claimed twice.
            PluginBroken, AgentFailure: it cannot be loaded or created.
        """
        _ = self.extractors
        key = choice.word, choice.name
        if key not in self._agents:
            self._agents[key] = self._stack.enter_context(
                opened_agent(self._engine, choice, seconds)
            )
        return self._agents[key]

    @property
    def extractors(self) -> "list[OpenExtractor]":
        """The extractors of the configuration, in their order."""
        if self._extractors is None:
            names = self._engine.settings.extractors
            self._extractors = [_opened_extractor(self._engine, name) for name in names]
        return self._extractors

    def close(self) -> None:
        """Close the agents."""
        self._stack.close()


def _opened_extractor(engine: "Engine", name: str) -> OpenExtractor:
    found = engine.plugins.found(EXTRACTORS, name)
    with interruptible(found, engine.settings.limits.run_seconds):
        return OpenExtractor(engine, name)


def check_agent(engine: "Engine", choice: Choice) -> None:
    """Reject an agent with invalid options. That it cannot be loaded is reported by the step.

    Raises:
        ConfigError: the options are invalid.
    """
    plugins, seconds = engine.plugins, engine.settings.limits.run_seconds
    if choice.plugin is None:
        return
    with (
        suppress(AgentFailure),
        interruptible(plugins.found(AGENTS, choice.plugin), seconds),
        plugins.guard,
    ):
        check_options(
            choice,
            lambda name: plugins.record(AGENTS, name),
            lambda name, path: plugins.attribute(AGENTS, name, path),
        )


def folder_of_agent(home: str, word: str) -> str:
    """The folder for the state of an agent, by the word that chose it."""
    return os.path.join(home, "agents", _file_name(word))


def _made_folder(folder: str, home: str) -> str:
    """Create the folder here, so that only its owner can read it."""
    try:
        make_folder(folder)
    except OSError as error:
        raise InternalFailure(
            f"cannot create the agent's folder: {error.strerror}",
            hint=f"free some space, or make {home} writable",
        ) from error
    return folder


def _file_name(word: str) -> str:
    """The word as the name of a folder; a hash replaces a word with special characters."""
    if word.replace("-", "").replace("_", "").replace(".", "").isalnum() and word[0] != ".":
        return word
    from uwf_core.cas.codec import encode
    from uwf_core.cas.hashing import PRIMITIVES, ref_of

    return f"command-{ref_of(PRIMITIVES['string'], encode(word))}"


def plugin_tools(engine: "Engine") -> "tuple[LoadedTool, ...]":
    """Every tool of a plugin, in the order of the plugins' names, for agents with their own loop.

    A tool that cannot be loaded is reported and left out: the step does not depend on it.
    """
    from uwf_core.api.tool import LoadedTool
    from uwf_core.plugins.status import Status

    plugins, loaded = engine.plugins, list[LoadedTool]()
    for plugin in plugins.list((TOOLS,)):
        name = plugin.found.name
        if plugin.status is Status.BLOCKED:
            continue
        try:
            for spec in plugins.load(TOOLS, name):
                factory = plugins.attribute(TOOLS, name, spec.factory)
                loaded.append(LoadedTool(spec=spec, tool=factory()))
        except UwfError as fault:
            engine.report_fault(fault)
        except Exception as fault:  # of the plugin's factory
            engine.report_fault(f"cannot create the tool {name!r}: {type(fault).__name__}: {fault}")
    return tuple(loaded)
