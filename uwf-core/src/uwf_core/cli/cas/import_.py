"""`uwf cas import`."""

from collections.abc import Mapping
from typing import Any

import click

from uwf_core.cli.frame import command
from uwf_core.cli.render.style import Screen
from uwf_core.cli.session import Session


@command("import", "uwf cas import thread.tar --dry-run", logged=True)
@click.argument("file", metavar="FILE")
@click.option("--dry-run", is_flag=True, help="Check everything; change nothing.")
@click.option("--as-new", is_flag=True, help="Where the thread is here already: under a new id.")
def import_(session: Session, file: str, dry_run: bool, as_new: bool) -> None:
    """Take over a thread from a bundle that `uwf thread export` wrote.

    Every reference and SHA-256 is computed again, every node is checked against its type, and the
    thread's index against its steps. Anything that does not fit refuses the whole bundle. A thread
    that is here with the same head is left as it is; with another head it is refused, unless it is
    to come as a new thread, a fork of what the bundle brings. Names of workflows never move.
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
        done = "is here already"
    root = screen.paint(f"root {document['root']}", "dim")
    return f"{document['thread']} {done}\n{root}"
