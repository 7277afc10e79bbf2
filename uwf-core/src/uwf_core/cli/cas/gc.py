"""`uwf cas gc`."""

from collections.abc import Mapping
from typing import Any

import click

from uwf_core.cli.frame import command
from uwf_core.cli.render.style import Screen
from uwf_core.cli.session import Session
from uwf_core.cli.words import Span


@command("gc", "uwf cas gc --dry-run", "uwf cas gc --grace 7d", logged=True)
@click.option("--dry-run", is_flag=True, help="Say what would be freed; change nothing.")
@click.option(
    "--grace",
    type=Span(),
    default="1d",
    show_default=True,
    metavar="D",
    help="Keep what was stored within this time: 7d, 12h, 30m, 0s.",
)
def gc(session: Session, dry_run: bool, grace: float) -> None:
    """Free the nodes that nothing leads to any more, and say what was kept and why.

    Threads, registered workflows, attempts under way, their turns, events and all other names
    keep what they lead to. What a removed thread alone had goes, and so do cached sessions of
    questions about its steps. Runs may go on meanwhile. The file keeps its size: what is free in
    it is used again.
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
    verb = "would be freed" if document["dryRun"] else "freed"
    lines = [table(columns, document["kept"], screen)] if document["kept"] else []
    lines.append(f"{document['freed']} of {document['nodes']} nodes {verb}")
    if document["dropped"]:
        lines.append(f"{len(document['dropped'])} cached sessions of questions {verb}")
    return "\n".join(lines)
