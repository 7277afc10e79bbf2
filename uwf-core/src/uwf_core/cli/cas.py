"""Nodes and types in the store: `uwf cas get`, `has`, `refs`, `walk`, `hash`, `put`, `schema`."""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NoReturn

import click

from uwf_core.cli.command import command
from uwf_core.cli.params import file_or_stdin
from uwf_core.cli.render.colours import Screen
from uwf_core.cli.session import Session, as_json
from uwf_core.errors import AmbiguousIdError, ExitCode, PayloadError, UnknownIdError
from uwf_core.ids import Ref


@command("get", "uwf cas get 3FQ8K1M2N4P5Q")
@click.argument("ref", metavar="REF")
def get(session: Session, ref: str) -> None:
    """Print a node: type, payload, time stored. Verifies its reference and digest.

    REF is a reference or a unique prefix of one.
    """
    from uwf_core.views.node import show_node

    session.emit(show_node(session.engine, find_node(session, ref)), _node_text)


@command("has", "uwf cas has 3FQ8K1M2N4P5Q && echo found")
@click.argument("ref", metavar="REF")
def has(session: Session, ref: str) -> int:
    """Check whether a node exists: exit code 0, or 1 if not. REF is a full reference."""
    there = session.engine.store.has(Ref.parse(ref.upper()))
    document = {"ref": ref.upper(), "has": there}
    session.emit(document, lambda each, _: "yes" if each["has"] else "no")
    return ExitCode.DONE if there else ExitCode.FAILED


@command("refs", "uwf cas refs 3FQ8K1M2N4P5Q")
@click.argument("ref", metavar="REF")
def refs(session: Session, ref: str) -> None:
    """List the nodes that a node's payload refers to, without its type."""
    node = find_node(session, ref)
    session.emit({"ref": node, "refs": session.engine.store.refs(node)}, _refs_text)


@command("walk", "uwf cas walk 3FQ8K1M2N4P5Q")
@click.argument("ref", metavar="REF")
def walk(session: Session, ref: str) -> None:
    """List a node and all nodes reachable from it, types included, each once."""
    from uwf_core.cas.walk import reachable

    node = find_node(session, ref)
    found = list(reachable(session.engine.store, [node]))
    session.emit({"ref": node, "refs": found}, _refs_text)


def _node_text(document: Mapping[str, Any], screen: Screen) -> str:
    from uwf_core.workflow.yaml_text import yaml_text

    head = f"{document['ref']} of type {document['type']}"
    return f"{screen.paint(head, 'dim')}\n{yaml_text(document['payload']).rstrip()}"


def _refs_text(document: Mapping[str, Any], _screen: Screen) -> str:
    refs: Sequence[str] = document["refs"]
    return "\n".join(refs)


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


@command("list", "uwf cas schema list")
def list_types(session: Session) -> None:
    """List the types in the store, with their titles."""
    session.emit({"schemas": list(_schemas(session))}, _schemas_text)


@command("show", "uwf cas schema show string", "uwf cas schema show CTS5P6RD8HMCS")
@click.argument("type_", metavar="TYPE")
def show_type(session: Session, type_: str) -> None:
    """Show a type's JSON Schema. TYPE is a reference, a prefix of one, or a primitive's name."""
    ref = find_type(session, type_)
    document = {"type": ref, "schema": session.engine.store.schema(ref)}
    session.emit(document, _schema_text)


@command("add", "uwf cas schema add person.schema.json", logged=True)
@click.argument("file", metavar="FILE")
def add_type(session: Session, file: str) -> None:
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
    return as_json(document["schema"])


SHORTEST_PREFIX = 4


def find_node(session: Session, word: str) -> Ref:
    """Find the node by its reference, or by a unique prefix of at least four characters.

    Raises:
        UnknownIdError: none matches. AmbiguousIdError: several match.
    """
    store, text = session.engine.store, word.upper()
    found = [Ref(text)] if Ref.matches(text) and store.has(text) else []
    if not found and SHORTEST_PREFIX <= len(text) < Ref.LENGTH:
        found = store.find(text, 3)
    if not found:
        raise UnknownIdError(
            f"unknown node {word!r} in {store.location()}",
            hint=f"give its reference, or at least {SHORTEST_PREFIX} of its first characters",
        )
    if len(found) > 1:
        raise AmbiguousIdError(
            f"{word!r} matches several nodes: {', '.join(found)}", hint="give more characters"
        )
    return found[0]


def find_type(session: Session, word: str) -> Ref:
    """Find the type by the name of a primitive, a reference or a prefix of one.

    Raises:
        UnknownIdError: none matches. AmbiguousIdError: several match.
    """
    from uwf_core.cas.hashing import META, PRIMITIVES

    if word in PRIMITIVES:
        return PRIMITIVES[word]
    builtin = (META, *PRIMITIVES.values())  # known without being stored
    return Ref(word.upper()) if word.upper() in builtin else find_node(session, word)


def read_payload(path: str) -> Any:
    """The JSON value in a file, or on stdin for `-`.

    Raises:
        UsageError: the file cannot be read. PayloadError: it is not valid JSON.
    """
    text = file_or_stdin(path, "FILE")
    try:
        return json.loads(text, parse_constant=_no_json)
    except RecursionError as error:
        raise PayloadError("nested too deeply", where=path) from error
    except ValueError as error:
        raise PayloadError(f"invalid JSON: {error}", where=path) from error


def _no_json(word: str) -> NoReturn:
    raise ValueError(f"{word} is not a JSON value")
