"""`uwf agent list` and `uwf agent check`."""

from collections.abc import Mapping
from typing import Any

import click

from uwf_core.cli.command import command
from uwf_core.cli.render.colours import Screen
from uwf_core.cli.render.findings import check_lines
from uwf_core.cli.render.table import Column, table
from uwf_core.cli.session import Session
from uwf_core.errors import ExitCode
from uwf_core.plugins.scan import origin_of


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
    from uwf_core.maintenance.agent_ready import agent_readiness

    document = agent_readiness(session.engine, agent, trial=trial)
    session.emit(document, readiness_text)
    return ExitCode.DONE if document["ready"] else ExitCode.AGENT


def agents_text(document: Mapping[str, Any], screen: Screen) -> str:
    """The rows of `agent list`."""
    columns = [
        Column("shown", "AGENT", least=8),
        Column("status", "STATUS", status=True),
        Column("from", "FROM", least=8, rank=1),
    ]
    if any(each["reason"] for each in document["agents"]):
        columns.append(Column("reason", "REASON", below=True))
    rows = [
        {
            **each,
            "shown": each["name"] + (" (default)" if each["default"] else ""),
            "from": each["use"] or origin_of(each["distribution"], each["version"]),
            "reason": each["reason"],
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
