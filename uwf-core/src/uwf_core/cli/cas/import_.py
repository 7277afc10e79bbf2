"""`uwf cas import`."""

from collections.abc import Mapping
from typing import Any

import click

from uwf_core.cli.frame import command
from uwf_core.cli.render.style import Screen
from uwf_core.cli.session import Session


@command("import", "uwf cas import thread.tar --dry-run", logged=True)
@click.argument("file", metavar="FILE")
@click.option("--dry-run", is_flag=True, help="Validate only; change nothing.")
@click.option("--as-new", is_flag=True, help="Import under a new id if the thread exists already.")
def import_(session: Session, file: str, dry_run: bool, as_new: bool) -> None:
    """Import a thread from a bundle that `uwf thread export` wrote.

    Recomputes every reference and SHA-256, and checks every node against its type and the index
    of the thread against its steps. Any error rejects the whole bundle. A thread that exists with
    the same head stays unchanged; with another head it is rejected, unless --as-new imports it as
    a fork under a new id. Registered workflow names never change.
    """
    from uwf_core.upkeep.import_bundle import ImportOptions, import_bundle

    document = import_bundle(session.engine, file, ImportOptions(dry_run, as_new))
    session.thread = document["thread"]
    session.emit(document, _text)


def _text(document: Mapping[str, Any], screen: Screen) -> str:
    if document["dryRun"]:
        done = f"would add {document['added']} of {document['nodes']} nodes"
    elif document["imported"]:
        done = f"imported; {document['added']} of {document['nodes']} nodes are new"
    else:
        done = "exists already"
    root = screen.paint(f"root {document['root']}", "dim")
    return f"{document['thread']} {done}\n{root}"
