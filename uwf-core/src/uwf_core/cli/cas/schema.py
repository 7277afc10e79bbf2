"""`uwf cas schema list`, `show` and `add`."""

from collections.abc import Iterator, Mapping
from typing import Any

import click

from uwf_core.cli.cas.node import find_type, read_payload
from uwf_core.cli.frame import command
from uwf_core.cli.render.style import Screen
from uwf_core.cli.session import Session


@command("list", "uwf cas schema list")
def list_(session: Session) -> None:
    """List the types in the store, with their titles."""
    session.emit({"schemas": list(_schemas(session))}, _schemas_text)


@command("show", "uwf cas schema show string", "uwf cas schema show CTS5P6RD8HMCS")
@click.argument("type_", metavar="TYPE")
def show(session: Session, type_: str) -> None:
    """Show a type's JSON Schema. TYPE is a reference, a prefix of one, or a primitive's name."""
    ref = find_type(session, type_)
    document = {"type": ref, "schema": session.engine.store.schema(ref)}
    session.emit(document, _schema_text)


@command("add", "uwf cas schema add person.schema.json", logged=True)
@click.argument("file", metavar="FILE")
def add(session: Session, file: str) -> None:
    """Store a JSON Schema as a type and print its reference. FILE may be - for stdin."""
    ref = session.engine.store.put_schema(read_payload(file))
    session.emit({"type": ref}, lambda document, _: document["type"])


def _schemas(session: Session) -> Iterator[dict[str, Any]]:
    from uwf_core.cas.hashing import META, PRIMITIVES

    names: dict[str, str] = {ref: name for name, ref in PRIMITIVES.items()}
    store = session.engine.store
    for record in sorted(store.records(META)):
        schema = store.schema(record.ref)
        title = names.get(record.ref) or schema.get("title")
        yield {"type": record.ref, "title": title if isinstance(title, str) else None}


def _schemas_text(document: Mapping[str, Any], screen: Screen) -> str:
    from uwf_core.cli.render.table import Column, table

    columns = (Column("type", "TYPE"), Column("title", "TITLE", least=8))
    return table(columns, document["schemas"], screen)


def _schema_text(document: Mapping[str, Any], _screen: Screen) -> str:
    from uwf_core.cli.render.json_text import as_json

    return as_json(document["schema"])
