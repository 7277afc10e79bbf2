"""`uwf cas hash` and `uwf cas put`."""

import click

from uwf_core.cli.cas.node import find_type, read_payload
from uwf_core.cli.frame import command
from uwf_core.cli.session import Session


@command("hash", "echo '\"some text\"' | uwf cas hash string", "uwf cas hash object payload.json")
@click.argument("type_", metavar="TYPE")
@click.argument("file", metavar="[FILE|-]", default="-")
def hash_(session: Session, type_: str, file: str) -> None:
    """Print the reference that a JSON payload has; stores nothing.

    TYPE is a type's reference or a primitive's name: string, number, integer, boolean, object,
    array, null.
    """
    from uwf_core.cas.codec import encode
    from uwf_core.cas.hashing import ref_of

    ref = ref_of(find_type(session, type_), encode(read_payload(file)))
    session.emit({"ref": ref}, lambda document, _: document["ref"])


@command("put", "echo '\"some text\"' | uwf cas put string", logged=True)
@click.argument("type_", metavar="TYPE")
@click.argument("file", metavar="[FILE|-]", default="-")
def put(session: Session, type_: str, file: str) -> None:
    """Store a JSON payload as a node of a type and print its reference.

    TYPE is a type's reference or a primitive's name: string, number, integer, boolean, object,
    array, null.
    """
    payload = read_payload(file)
    ref = session.engine.store.put(find_type(session, type_), payload)
    session.emit({"ref": ref}, lambda document, _: document["ref"])
