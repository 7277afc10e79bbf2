"""`uwf usage`: what threads have used."""

from collections.abc import Mapping
from typing import Any

import click

from uwf_core.cli.command import command
from uwf_core.cli.params import Moment
from uwf_core.cli.render import amounts
from uwf_core.cli.render.colours import Screen
from uwf_core.cli.render.table import Column, table
from uwf_core.cli.session import Session
from uwf_core.errors import UsageError

_COLUMNS = (
    Column("steps", "STEPS", right=True),
    Column("attempts", "ATTEMPTS", right=True, rank=2),
    Column("time", "TIME", right=True, rank=1),
    Column("used", "USED"),
)


@command(
    "usage",
    "uwf usage",
    "uwf usage @last --by agent",
    "uwf usage --workflow fix-bug --since 7d --by model",
)
@click.argument("thread", metavar="[THREAD]", required=False)
@click.option("--workflow", metavar="W", help="Only threads of this workflow (name or reference).")
@click.option("--since", type=Moment(), metavar="WHEN", help="Started since a date, or 7d, 12h.")
@click.option(
    "--by",
    type=click.Choice(["role", "agent", "model", "workflow"]),
    default="role",
    show_default=True,
    help="The groups.",
)
def usage(
    session: Session, thread: str | None, workflow: str | None, since: int | None, by: str
) -> None:
    """Show what threads have used: steps, time, tokens and cost, with all that they called.

    Failed attempts and questions to past steps count. ≥ marks a sum of which a part is unknown.
    THREAD is an id, a unique prefix of one, or @last; without it all threads count.
    """
    from uwf_core.views.usage import UsageFilter, usage_of

    if thread is not None and (workflow is not None or since is not None):
        raise UsageError(
            "THREAD cannot be combined with --workflow or --since",
            hint="name one thread, or filter all threads",
        )
    chosen = UsageFilter(thread, workflow, since)
    session.emit(usage_of(session.engine, chosen, by), usage_text)


def usage_text(document: Mapping[str, Any], screen: Screen) -> str:
    """A row per group, and the total."""
    rows = [_cells(row, row["name"] or "(unknown)") for row in document["rows"]]
    rows.append(_cells(document["total"], "total"))
    columns = (Column("name", document["by"].upper(), least=8), *_COLUMNS)
    lines = [table(columns, rows, screen), f"{document['threads']} {_threads(document['threads'])}"]
    if document["unreadable"]:
        count = document["unreadable"]
        lines.append(f"{count} {_threads(count)} cannot be read; next: uwf cas verify")
    return "\n".join(lines)


def _threads(count: int) -> str:
    return "thread" if count == 1 else "threads"


def _cells(row: Mapping[str, Any], name: str) -> dict[str, str]:
    return {
        "name": name,
        "steps": str(row["steps"]),
        "attempts": str(row["attempts"]),
        "time": amounts.duration(row["durationMs"]),
        "used": amounts.usage(row["usage"]) + (f", {row['asks']} asked" if row["asks"] else ""),
    }
