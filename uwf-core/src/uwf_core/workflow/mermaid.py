"""A workflow's graph as Mermaid text."""

from collections.abc import Mapping
from typing import Any

from uwf_core.named_tuple import NamedTuple
from uwf_core.workflow.definition import END, START, SUSPEND, Definition

_PSEUDO = {START: "([START])", END: "([END])", SUSPEND: "[/SUSPEND/]"}


class _Arrow(NamedTuple):
    source: str
    status: str
    target: str


def graph(workflow: Definition | Mapping[str, Any]) -> str:
    """The flow chart of a published workflow, or of a checked one (`Checked.workflow`)."""
    arrows = _arrows(workflow)
    roles = workflow.roles if isinstance(workflow, Definition) else workflow["roles"]
    used = [arrow.source for arrow in arrows] + [arrow.target for arrow in arrows]
    nodes = [START, *roles, *(name for name in (END, SUSPEND) if name in used)]
    ids = {name: f"n{number}" for number, name in enumerate(nodes)}
    lines = ["flowchart TD"]
    lines += [f"    {ids[name]}{_PSEUDO.get(name) or _box(name)}" for name in nodes]
    lines += [
        f'    {ids[arrow.source]} -->|"{_escaped(arrow.status)}"| {ids[arrow.target]}'
        for arrow in arrows
    ]
    return "\n".join(lines) + "\n"


def _arrows(workflow: Definition | Mapping[str, Any]) -> list[_Arrow]:
    if isinstance(workflow, Definition):
        return [
            _Arrow(source, status, edge.role)
            for source, edges in workflow.graph.items()
            for status, edge in edges.items()
        ]
    return [
        _Arrow(source, status, edge["role"])
        for source, edges in workflow["graph"].items()
        for status, edge in edges.items()
    ]


def _box(name: str) -> str:
    return f'["{_escaped(name)}"]'


def _escaped(text: str) -> str:
    """Escape text for Mermaid's quotes."""
    return "".join(
        character if character.isalnum() or character in " ._-$" else f"#{ord(character)};"
        for character in text
    )
