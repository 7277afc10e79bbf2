"""What is installed: the rows of `agent list` and `plugin list`. Loads no plugin."""

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from uwf_core import __version__
from uwf_core.errors import UsageError, UwfError
from uwf_core.plugins.scan import AGENTS, CORE, STORES, Distribution, EntryPoint
from uwf_core.plugins.status import Plugin, Status

if TYPE_CHECKING:
    from uwf_core.agents.choose import Choice
    from uwf_core.config.keys import AgentSetting
    from uwf_core.engine.engine import Engine
    from uwf_core.plugins.status import PluginRow

NOT_INSTALLED = "not installed"
"""The status of an agent whose program is not there."""
NOT_CONFIGURED = "not configured"
"""The status of an agent that would refuse to run with these settings."""


class AgentRow(NamedTuple):
    """An agent that can be named. `capabilities` of a plugin are null until it is loaded."""

    name: str
    kind: str
    status: str
    reason: str | None
    default: bool
    use: str | None = None
    distribution: str | None = None
    version: str | None = None
    capabilities: list[str] | None = None


def list_agents(engine: "Engine") -> Iterator[AgentRow]:
    """The agents that can be named, as `uwf agent list` prints them; loads none."""
    from uwf_core.agents.choose import PREFIX, resolve_agent

    default, installed = engine.settings.default_agent, {}
    for plugin in engine.plugins.list((AGENTS,)):
        found = plugin.found
        is_shadowed = plugin.status in (Status.SHADOWED, Status.UNTRUSTED)
        if not is_shadowed:
            installed[found.name] = plugin
        status, reason = _plugin_state(engine, plugin, {})
        yield AgentRow(
            *(found.name, "plugin", status, reason, found.name == default and not is_shadowed),
            distribution=found.distribution,
            version=found.version or None,
        )
    catalog = engine.agent_catalog(engine.cwd)
    for name in sorted(engine.settings.agents):
        try:
            choice = resolve_agent(name, catalog, source="agents")
        except UsageError as error:  # an invalid alias must not hide the other agents
            yield _wrong_row(name, engine.settings.agents[name], error, name == default)
        else:
            row = _row(engine, name, choice, installed.get(choice.plugin or ""))
            if engine.settings.agents[name].any_of:
                use = ", ".join((choice.word, *choice.others))
                row = row._replace(use=use, reason="; ".join(choice.absent) or row.reason)
            yield row
    taken = {*installed, *engine.settings.agents}
    for name in sorted(catalog.on_path()):
        short = name.removeprefix(PREFIX)
        if not {name, short} & taken:  # an installed agent may have its own command
            choice = resolve_agent(name, catalog)
            row = _row(engine, name, choice, None)
            yield row._replace(use=choice.command[0], default=default in (name, short))


def _wrong_row(name: str, alias: "AgentSetting", error: UsageError, default: bool) -> AgentRow:
    kind = "plugin" if alias.command is None else "command"
    use = alias.use or alias.command or ", ".join(alias.any_of)
    return AgentRow(name, kind, "broken", error.message, default, use)


def _row(engine: "Engine", name: str, choice: "Choice", plugin: Any) -> AgentRow:
    is_default = name == engine.settings.default_agent
    if choice.plugin is None:
        problem = command_problem(engine, choice)
        is_there = _program_problem(choice.command[0]) is None
        status = "ready" if problem is None else NOT_CONFIGURED if is_there else NOT_INSTALLED
        row = AgentRow(name, "command", status, problem, is_default, choice.name)
        return row._replace(capabilities=sorted(choice.capabilities))
    row = AgentRow(name, "plugin", *_plugin_state(engine, plugin, choice.options), is_default)
    found = plugin.found
    return row._replace(
        use=choice.name, distribution=found.distribution, version=found.version or None
    )


def _plugin_state(
    engine: "Engine", plugin: "Plugin", options: Mapping[str, Any]
) -> tuple[str, str | None]:
    """The status of an agent's plugin and the reason: it is not installed where its program is not,
    and not configured where it would refuse to run. `options` may name another program, as the
    options of the adapters do.
    """
    from uwf_core.plugins.family import program_of, requirement_of

    if plugin.status is not Status.READY:
        return plugin.status.value, plugin.reason or None
    try:
        _check_requirement(engine, requirement_of(plugin.found), options)
    except UwfError as error:
        return NOT_CONFIGURED, "; ".join(filter(None, (error.message, error.hint)))
    program, install = program_of(plugin.found) or (None, None)
    named = options.get("command") or program
    problem = None if named is None else _program_problem(str(named))
    if problem is None:
        return plugin.status.value, None
    return NOT_INSTALLED, f"{problem}; {install}" if named == program else problem


def _check_requirement(
    engine: "Engine", requirement: str | None, options: Mapping[str, Any]
) -> None:
    """Raises:
    UwfError: the agent would refuse to run with these options and the default model.
    """
    from uwf_core.api.requirements import require_command, require_model
    from uwf_core.config.models import resolve_model

    settings = engine.settings
    match requirement:
        case "command":
            require_command(options.get("command"))
        case "model":  # its protocol may be a plugin, which is not loaded here
            name = settings.default_model
            require_model(None if name is None else resolve_model(settings, name))


def command_problem(engine: "Engine", choice: "Choice") -> str | None:
    """Why a command cannot run, None if its program is there. Of uwf's own programs the
    requirements are known, also where they are of another installation.
    """
    from uwf_core.plugins.family import needs_of_program

    program = choice.command[0]
    requirement, runs = needs_of_program(program)
    problem = _program_problem(program)
    if problem is None and runs is not None:
        problem = _program_problem(str(choice.options.get("command") or runs))
    if problem is None and (requirement or runs) and choice.command[1:]:
        return f"{program!r} takes no arguments; remove them, or use `options`"
    if problem is not None or requirement != "model":
        return problem
    if "model" not in choice.capabilities:
        return f"{program!r} gets no model; declare `capabilities: [model]` in its alias"
    try:
        _check_requirement(engine, "model", {})
    except UwfError as error:
        return "; ".join(filter(None, (error.message, error.hint)))
    return None


def _program_problem(program: str) -> str | None:
    """Why a program cannot be started; it is looked for on the PATH and never started."""
    from shutil import which

    return None if which(program) else f"program {program!r} not found"


def list_plugins(engine: "Engine", *, all: bool = False) -> "list[PluginRow]":
    """The documents of all plugins, as `plugin list` prints them; loads none."""
    plugins = engine.plugins
    documents = [each.document() for each in (*plugins.list(), *plugins.misplaced())]
    if all:
        from uwf_core.stores.open import HOUSE

        core = Distribution(CORE, __version__, ())
        own = (EntryPoint(STORES, spec.name, "", core) for spec in HOUSE)
        documents += [Plugin(found, Status.READY, "").document() for found in own]
        documents += [each.document() for each in plugins.unknown_groups()]
    return documents
