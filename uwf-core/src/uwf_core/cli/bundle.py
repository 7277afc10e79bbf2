"""`uwf bundle verify`."""

import click

from uwf_core.cli.frame import command
from uwf_core.cli.session import Session


@command("verify", "uwf bundle verify thread.tar")
@click.argument("file", metavar="FILE")
def verify(session: Session, file: str) -> None:
    """Verify that a bundle is complete and unchanged; needs no store and writes nothing.

    Checks every reference, every SHA-256, each node against its type, that all nodes of the thread
    are present and no others, and that the index agrees with the steps. Compare the root with the
    one that the sender gave you. Exit code 4 if the bundle has an error.
    """
    from uwf_core.cli.render.bundle import bundle_text
    from uwf_core.upkeep.import_bundle import verify_bundle

    session.emit(verify_bundle(file), bundle_text)
