"""A workflow's graph as Mermaid text."""

from collections.abc import Callable, Mapping
from typing import Any

from uwf_core.ids import Ref
from uwf_core.named_tuple import NamedTuple
from uwf_core.workflow.definition import END, START, SUSPEND, Definition

_PSEUDO = {START: "([START])", END: "([END])", SUSPEND: "[/SUSPEND/]"}


class _Arrow(NamedTuple):
    source: str
    status: str
    target: str


def graph(
    workflow: Definition | Mapping[str, Any],
    definition_of: Callable[[Ref], Definition] | None = None,
) -> str:
    """The flow chart of a published workflow, or of a checked one (`Checked.workflow`).

    A role has the shape of who plays it: a box for an agent, a box with double sides for another
    workflow (with its name), a hexagon for a program, a trapezium for a person.

    Args:
        workflow: the workflow.
        definition_of: reads a called workflow; without it, its reference is shown.
    """
    arrows = _arrows(workflow)
    roles = workflow.roles if isinstance(workflow, Definition) else workflow["roles"]
    used = [arrow.source for arrow in arrows] + [arrow.target for arrow in arrows]
    nodes = [START, *roles, *(name for name in (END, SUSPEND) if name in used)]
    ids = {name: f"n{number}" for number, name in enumerate(nodes)}
    lines = ["flowchart TD"]
    lines += [
        f"    {ids[name]}{_PSEUDO.get(name) or _shape(name, roles[name], definition_of)}"
        for name in nodes
    ]
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


def _shape(name: str, role: Any, definition_of: Callable[[Ref], Definition] | None) -> str:
    """The shape of a role; its text is the name, and that of the workflow that plays it."""
    fields = role if isinstance(role, Mapping) else role._asdict()
    called, shown = fields.get("workflow"), _escaped(name)
    if called is not None:
        callee = called["name"] if isinstance(called, Mapping) else called
        if definition_of is not None and Ref.matches(callee):
            callee = definition_of(Ref(callee)).name
        return f'[["{shown} (workflow {_escaped(callee)})"]]'
    if fields.get("program") is not None:
        return f'{{{{"{shown}"}}}}'
    return f'[/"{shown}"\\]' if fields.get("human") else f'["{shown}"]'


def _escaped(text: str) -> str:
    """Escape text for Mermaid's quotes."""
    return "".join(
        character if character.isalnum() or character in " ._-$" else f"#{ord(character)};"
        for character in text
    )
