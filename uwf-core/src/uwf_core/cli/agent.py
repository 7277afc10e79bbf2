"""`uwf agent list` and `uwf agent check`."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, TypedDict

import click

from uwf_core.cli.frame import command
from uwf_core.cli.session import Session
from uwf_core.errors import ExitCode, UsageError

if TYPE_CHECKING:
    from uwf_core.agents.choose import Choice
    from uwf_core.config.settings import AgentSetting
    from uwf_core.engine.engine import Engine


class AgentRow(TypedDict):
    """An agent that can be named. `capabilities` of a plugin are null until it is loaded."""

    name: str
    kind: str
    use: str | None
    distribution: str | None
    version: str | None
    capabilities: list[str] | None
    status: str
    reason: str | None
    default: bool


@command("list", "uwf agent list")
def list_(session: Session) -> None:
    """List the available agents: installed ones and the aliases of the configuration."""
    from uwf_core.cli.render.agent import agents_text

    session.emit({"agents": list(_rows(session.engine))}, agents_text)


@command("check", "uwf agent check human", "uwf agent check ./my-agent")
@click.argument("agent", metavar="AGENT")
@click.option(
    "--trial", is_flag=True, help="Also send one small request to its model, where supported."
)
def check(session: Session, agent: str, trial: bool) -> int:
    """Check whether an agent is ready. Loads it in a separate process.

    AGENT is an alias, an installed agent's name, or a command line.
    """
    from uwf_core.agents.choose import resolve_agent
    from uwf_core.cli.readiness import agent_readiness
    from uwf_core.cli.render.agent import readiness_text

    engine = session.engine
    choice = resolve_agent(agent, engine.agent_catalog(engine.cwd))
    document = agent_readiness(engine, choice, trial=trial)
    session.emit(document, readiness_text)
    return ExitCode.DONE if document["ready"] else ExitCode.AGENT


def _rows(engine: "Engine") -> Iterator[AgentRow]:
    from uwf_core.agents.choose import resolve_agent
    from uwf_core.plugins.scan import AGENTS

    default, installed = engine.settings.default_agent, {}
    for plugin in engine.plugins.list((AGENTS,)):
        found = plugin.found
        installed[found.name] = plugin
        yield {
            "name": found.name,
            "kind": "plugin",
            "use": None,
            "distribution": found.distribution,
            "version": found.version,
            "capabilities": None,
            "status": plugin.status.value,
            "reason": plugin.reason or None,
            "default": found.name == default,
        }
    known = engine.agent_catalog(engine.cwd)
    for name in sorted(engine.settings.agents):
        try:
            choice = resolve_agent(name, known, source="agents")
        except UsageError as error:  # an invalid alias must not hide the other agents
            yield _wrong_row(name, engine.settings.agents[name], error, name == default)
        else:
            yield _alias_row(name, choice, installed.get(choice.plugin or ""), name == default)


def _wrong_row(name: str, alias: "AgentSetting", error: UsageError, default: bool) -> AgentRow:
    return {
        "name": name,
        "kind": "plugin" if alias.command is None else "command",
        "use": alias.use or alias.command,
        "distribution": None,
        "version": None,
        "capabilities": None,
        "status": "broken",
        "reason": error.message,
        "default": default,
    }


def _alias_row(name: str, choice: "Choice", plugin: Any, default: bool) -> AgentRow:
    from uwf_core.cli.readiness import command_problem

    is_command = choice.plugin is None
    problem = command_problem(choice) if is_command else plugin.reason or None
    status = ("ready" if problem is None else "missing") if is_command else plugin.status.value
    return {
        "name": name,
        "kind": "command" if is_command else "plugin",
        "use": choice.name,
        "distribution": None if is_command else plugin.found.distribution,
        "version": None if is_command else plugin.found.version,
        "capabilities": sorted(choice.capabilities) if is_command else None,
        "status": status,
        "reason": problem,
        "default": default,
    }
