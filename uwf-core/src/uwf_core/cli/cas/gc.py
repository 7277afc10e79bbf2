"""`uwf cas gc`."""

from collections.abc import Mapping
from typing import Any

import click

from uwf_core.cli.frame import command
from uwf_core.cli.render.style import Screen
from uwf_core.cli.session import Session
from uwf_core.cli.words import Span


@command("gc", "uwf cas gc --dry-run", "uwf cas gc --grace 7d", logged=True)
@click.option("--dry-run", is_flag=True, help="Print what would be deleted; change nothing.")
@click.option(
    "--grace",
    type=Span(),
    default="1d",
    show_default=True,
    metavar="D",
    help="Keep nodes stored within this time: 7d, 12h, 30m, 0s.",
)
def gc(session: Session, dry_run: bool, grace: float) -> None:
    """Delete unreachable nodes; print what was kept and why.

    Kept: all nodes reachable from threads, registered workflows, running attempts, their turns and
    events, and other names. Deleted: nodes that only a removed thread used, and cached sessions of
    questions about its steps. Threads may run meanwhile. The file does not shrink: SQLite reuses
    the free space.
    """
    from uwf_core.upkeep.collect import CollectOptions, collect_garbage

    options = CollectOptions(grace_seconds=grace, dry_run=dry_run)
    session.emit(collect_garbage(session.engine, options), _text)


def _text(document: Mapping[str, Any], screen: Screen) -> str:
    from uwf_core.cli.render.table import Column, table

    columns = (
        Column("reason", "KEPT FOR", least=8),
        Column("variables", "NAMES", right=True),
        Column("nodes", "NODES", right=True),
    )
    verb = "would be deleted" if document["dryRun"] else "freed"
    lines = [table(columns, document["kept"], screen)] if document["kept"] else []
    lines.append(f"{document['freed']} of {document['nodes']} nodes {verb}")
    if document["dropped"]:
        lines.append(f"{len(document['dropped'])} cached sessions of questions {verb}")
    return "\n".join(lines)
