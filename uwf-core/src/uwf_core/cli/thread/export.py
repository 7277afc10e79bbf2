"""`uwf thread export`."""

import click

from uwf_core.cli.frame import command
from uwf_core.cli.session import Session
from uwf_core.cli.words import thread_argument


@command("export", "uwf thread export @last -o thread.tar", logged=True)
@thread_argument()
@click.option("-o", "--output", required=True, metavar="FILE", help="File to write or replace.")
def export(session: Session, thread: str, output: str) -> None:
    """Write a thread and everything reachable from it to one file.

    Contains the workflow, all types, prompts, raw texts and turns, a SHA-256 of each node and a
    root over all nodes that is the same in every store. `uwf bundle verify` verifies it without
    a store, `uwf cas import` imports it.
    """
    from uwf_core.cli.render.bundle import bundle_text
    from uwf_core.upkeep.export import export_thread

    session.thread = thread
    session.emit(export_thread(session.engine, thread, output), bundle_text)
