"""`uwf cas get`, `has`, `refs` and `walk`."""

from collections.abc import Mapping, Sequence
from typing import Any

import click

from uwf_core.cli.cas.node import find_node
from uwf_core.cli.frame import command
from uwf_core.cli.render.style import Screen
from uwf_core.cli.session import Session
from uwf_core.errors import ExitCode
from uwf_core.ids import Ref


@command("get", "uwf cas get 3FQ8K1M2N4P5Q")
@click.argument("ref", metavar="REF")
def get(session: Session, ref: str) -> None:
    """Print a node: type, payload, time stored. Verifies its reference and digest.

    REF is a reference or a unique prefix of one.
    """
    node = session.engine.store.get(find_node(session, ref))
    document = {
        "ref": node.ref,
        "type": node.type,
        "createdAtMs": node.created_ms,
        "payload": node.payload,
    }
    session.emit(document, _node_text)


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
    from uwf_core.cas.closure import walk as walk_from

    node = find_node(session, ref)
    found = list(walk_from(session.engine.store, [node]))
    session.emit({"ref": node, "refs": found}, _refs_text)


def _node_text(document: Mapping[str, Any], screen: Screen) -> str:
    from uwf_core.cli.render.yaml_text import as_yaml

    head = f"{document['ref']} of type {document['type']}"
    return f"{screen.paint(head, 'dim')}\n{as_yaml(document['payload'])}"


def _refs_text(document: Mapping[str, Any], _screen: Screen) -> str:
    refs: Sequence[str] = document["refs"]
    return "\n".join(refs)
