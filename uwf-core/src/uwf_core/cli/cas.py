"""Nodes and types in the store as people read them."""

from collections.abc import Mapping, Sequence
from typing import Any

from uwf_core.cli.render.colours import Screen
from uwf_core.cli.session import as_json


def has_text(document: Mapping[str, Any], _screen: Screen) -> str:
    """`cas has`."""
    return "yes" if document["has"] else "no"


def node_text(document: Mapping[str, Any], screen: Screen) -> str:
    """`cas get`."""
    from uwf_core.workflow.yaml_text import yaml_text

    head = f"{document['ref']} of type {document['type']}"
    return f"{screen.paint(head, 'dim')}\n{yaml_text(document['payload']).rstrip()}"


def refs_text(document: Mapping[str, Any], _screen: Screen) -> str:
    """`cas refs` and `cas walk`."""
    refs: Sequence[str] = document["refs"]
    return "\n".join(refs)


def types_text(document: Mapping[str, Any], screen: Screen) -> str:
    """`cas schema list`."""
    from uwf_core.cli.render.table import Column, table

    columns = (Column("type", "TYPE"), Column("title", "TITLE", least=8))
    return table(columns, document["schemas"], screen)


def schema_text(document: Mapping[str, Any], _screen: Screen) -> str:
    """`cas schema show`."""
    return as_json(document["schema"])
