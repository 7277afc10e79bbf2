"""Workflows as people read them."""

from collections.abc import Mapping
from typing import Any

from uwf_core.cli.render.colours import Screen

_NO_WORKFLOWS = """\
no workflow can be started here by name
next: uwf workflow new .workflow/NAME.yaml
  or: uwf workflow add FILE"""


def workflows_text(document: Mapping[str, Any], screen: Screen) -> str:
    """`workflow list`."""
    from uwf_core.cli.render.table import Column, table

    columns = (
        Column("name", "NAME", least=8),
        Column("source", "SOURCE", rank=2),
        Column("workflow", "REFERENCE", rank=3),
        Column("description", "DESCRIPTION", least=10, rank=1),
    )
    rows = document["workflows"]
    return table(columns, rows, screen) if rows else _NO_WORKFLOWS


def definition_text(document: Mapping[str, Any], _screen: Screen) -> str:
    """`workflow show`: the definition, with its bound in words."""
    from uwf_core.workflow.bound import Bound
    from uwf_core.workflow.yaml_text import yaml_text

    bound = Bound(*document["bound"].values())
    return yaml_text({**document, "bound": bound.words()}).rstrip()


def new_text(document: Mapping[str, Any], screen: Screen) -> str:
    """`workflow new`."""
    if "examples" in document:
        return _examples_text(document, screen)
    from uwf_core.cli.render.commands import in_order

    schema = f"JSON Schema for your editor: {document['schema']}"
    return "\n".join([*document["files"], schema, *in_order(document["next"])])


def _examples_text(document: Mapping[str, Any], screen: Screen) -> str:
    from uwf_core.cli.render.table import Column, table

    columns = (Column("name", "EXAMPLE"), Column("description", "DESCRIPTION", least=10))
    return table(columns, document["examples"], screen)
