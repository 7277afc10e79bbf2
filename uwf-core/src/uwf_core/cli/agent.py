"""`uwf agent list` and `uwf agent check`."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypedDict

import click

from uwf_core.cli.command import command
from uwf_core.cli.probe import SECONDS, CheckDocument, Probe, failed, probe
from uwf_core.cli.render.colours import Screen
from uwf_core.cli.render.findings import check_lines
from uwf_core.cli.render.table import Column, table
from uwf_core.cli.session import Session
from uwf_core.errors import ExitCode, UwfError
from uwf_core.plugins.scan import origin_of

if TYPE_CHECKING:
    from uwf_core.agents.choose import Choice
    from uwf_core.engine.engine import Engine


@command("list", "uwf agent list")
def list_(session: Session) -> None:
    """List the available agents: installed ones, aliases, and programs uwf-NAME on the PATH."""
    from uwf_core.views.installed import agent_rows

    session.emit({"agents": list(agent_rows(session.engine))}, agents_text)


@command("check", "uwf agent check human", "uwf agent check ./my-agent")
@click.argument("agent", metavar="AGENT")
@click.option(
    "--trial", is_flag=True, help="Also send one small request to its model, where supported."
)
def check(session: Session, agent: str, trial: bool) -> int:
    """Check whether an agent is ready. Loads it in a separate process.

    AGENT is an alias, an installed agent's name, a program uwf-NAME on the PATH, or a command line.
    """
    from uwf_core.agents.choose import resolve_agent

    engine = session.engine
    choice = resolve_agent(agent, engine.agent_catalog(engine.cwd))
    words = [choice.word, *(["trial"] if trial else [])]
    answer = None if choice.plugin is None else _probed(engine, choice.plugin, words)
    document = readiness(engine, choice, answer)
    session.emit(document, readiness_text)
    return ExitCode.DONE if document["ready"] else ExitCode.AGENT


_TRIAL_SECONDS = 150.0


class Readiness(TypedDict):
    """The state of an agent: `agent` is the word, `resolved` its agent."""

    agent: str
    resolved: str
    kind: str
    distribution: str | None
    capabilities: list[str]
    ready: bool
    reason: str | None
    hint: str | None
    checks: list[CheckDocument]


def readiness(engine: "Engine", choice: "Choice", found: Probe | None) -> Readiness:
    """The state of an agent: of a plugin by its probe, of a command (None) by its program."""
    if choice.plugin is None or found is None:
        from uwf_core.views.installed import command_problem

        problem = command_problem(choice)
        return {
            "agent": choice.word,
            "resolved": choice.name,
            "kind": "command",
            "distribution": None,
            "capabilities": sorted(choice.capabilities),
            "ready": problem is None,
            "reason": problem,
            "hint": problem and "correct its `command` in the configuration, or install it",
            "checks": [],
        }
    faults = [each for each in found["checks"] if each["state"] == "error"]
    return {
        "agent": choice.word,
        "resolved": choice.name,
        "kind": "plugin",
        "distribution": _distribution(engine, choice.plugin),
        "capabilities": found["capabilities"] or [],
        "ready": found["problem"] is None and not faults,
        "reason": found["problem"] or (faults[0]["message"] if faults else None),
        "hint": found["hint"] or (faults[0]["hint"] if faults else None),
        "checks": found["checks"],
    }


def _probed(engine: "Engine", name: str, agent: Sequence[str]) -> Probe:
    from uwf_core.plugins.scan import AGENTS

    seconds = _TRIAL_SECONDS if "trial" in agent[1:] else SECONDS
    try:
        return probe(engine, engine.plugins.found(AGENTS, name), seconds, agent)
    except UwfError as error:
        return failed(error.message, error.hint)


def _distribution(engine: "Engine", name: str) -> str | None:
    from uwf_core.plugins.scan import AGENTS

    try:
        found = engine.plugins.found(AGENTS, name)
    except UwfError:
        return None  # the probe has the reason
    return found.origin


def agents_text(document: Mapping[str, Any], screen: Screen) -> str:
    """The rows of `agent list`."""
    columns = [
        Column("shown", "AGENT", least=8),
        Column("status", "STATUS", status=True),
        Column("from", "FROM", least=8, rank=1),
    ]
    if any(each["reason"] for each in document["agents"]):
        columns.append(Column("reason", "REASON", least=8, rank=2))
    rows = [
        {
            **each,
            "shown": each["name"] + (" (default)" if each["default"] else ""),
            "from": each["use"] or origin_of(each["distribution"], each["version"]),
            "reason": each["reason"] or "",
        }
        for each in document["agents"]
    ]
    return table(columns, rows, screen)


def readiness_text(document: Mapping[str, Any], screen: Screen) -> str:
    """`agent check`."""
    word = "ready" if document["ready"] else "not ready"
    lines = [f"{document['agent']}: {screen.paint(word, 'ok' if document['ready'] else 'error')}"]
    if document["capabilities"]:
        lines.append(f"  can: {', '.join(document['capabilities'])}")
    if document["reason"]:
        lines.append(f"  {document['reason']}")
    if document["hint"]:
        lines.append(f"  hint: {document['hint']}")
    return "\n".join([*lines, *check_lines(document["checks"], screen)])
