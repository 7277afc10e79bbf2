"""`uwf bundle verify`."""

import click

from uwf_core.cli.frame import command
from uwf_core.cli.session import Session


@command("verify", "uwf bundle verify thread.tar")
@click.argument("file", metavar="FILE")
def verify(session: Session, file: str) -> None:
    """Prove that a bundle is whole and unaltered; needs no store and writes nothing.

    Checks every reference, every SHA-256, each node against its type, that all that the thread
    leads to is there and nothing else, and that its index says what its steps say. Compare the
    root with the one that the sender tells you. Exit code 4 if anything is wrong.
    """
    from uwf_core.cli.render.bundle import bundle_text
    from uwf_core.upkeep.import_bundle import verify_bundle

    session.emit(verify_bundle(file), bundle_text)
