"""A workflow's graph as Mermaid text."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

from uwf_core.ids import Ref
from uwf_core.workflow.as_written import mapping_of
from uwf_core.workflow.definition import END, START, SUSPEND, Definition
from uwf_core.workflow.result_type import mapped_fan_outs

_PSEUDO = {START: "([START])", END: "([END])", SUSPEND: "[/SUSPEND/]"}


class _Arrow(NamedTuple):
    source: str
    status: str
    target: str
    branch: bool = False


def graph(
    workflow: Definition | Mapping[str, Any],
    definition_of: Callable[[Ref], Definition] | None = None,
) -> str:
    """The flow chart of a published workflow, or of a checked one (`Checked.workflow`).

    A role has the shape of who plays it: a box for an agent, a box with double sides for another
    workflow (with its name), a hexagon for a program, a trapezium for a person. An edge to branches
    leads to a rounded box, dotted arrows from there to the roles of the branches, and further
    arrows to where the joint result leads.

    Args:
        workflow: the workflow.
        definition_of: reads a called workflow; without it, its reference is shown.
    """
    if isinstance(workflow, Definition):
        workflow = mapping_of(workflow)
    roles, fan_outs = workflow["roles"], dict(mapped_fan_outs(workflow["graph"]))
    arrows = [*_arrows(workflow["graph"])]
    used = [arrow.source for arrow in arrows] + [arrow.target for arrow in arrows]
    nodes = [START, *roles, *fan_outs, *(name for name in (END, SUSPEND) if name in used)]
    ids = {name: f"n{number}" for number, name in enumerate(nodes)}
    lines = ["flowchart TD"]
    for name in nodes:
        shape = _PSEUDO.get(name)
        if shape is None and name in fan_outs:
            shape = _fan_out_shape(name, fan_outs[name])
        lines.append(f"    {ids[name]}{shape or _shape(name, roles[name], definition_of)}")
    lines += [_line(arrow, ids) for arrow in arrows]
    return "\n".join(lines) + "\n"


def _arrows(graph: Mapping[str, Mapping[str, Any]]) -> Iterator[_Arrow]:
    for source, edges in graph.items():
        for status, edge in edges.items():
            if edge.get("then") is None:
                yield _Arrow(source, status, edge["role"])
            else:
                yield from _fan_out_arrows(source, status, edge)


def _fan_out_arrows(source: str, status: str, edge: Mapping[str, Any]) -> Iterator[_Arrow]:
    name = f"{source}/{status}"
    yield _Arrow(source, status, name)
    parallel = edge["parallel"] or {"": {"role": edge["role"], "place": 0}}
    for branch, each in sorted(parallel.items(), key=lambda item: int(item[1]["place"])):
        yield _Arrow(name, branch, each["role"], branch=True)
    for joint, each in edge["then"].items():
        yield _Arrow(name, joint, each["role"])


def _line(arrow: _Arrow, ids: Mapping[str, str]) -> str:
    label = f'|"{_escaped(arrow.status)}"|' if arrow.status else ""
    kind = "-.->" if arrow.branch else "-->"
    return f"    {ids[arrow.source]} {kind}{label} {ids[arrow.target]}"


def _fan_out_shape(name: str, edge: Mapping[str, Any]) -> str:
    listed = edge["forEach"]
    words = "parallel" if listed is None else f"for each of {listed}"
    return f'("{_escaped(name)} ({_escaped(words)})")'


def _shape(name: str, role: Any, definition_of: Callable[[Ref], Definition] | None) -> str:
    """The shape of a role; its text is the name, and that of the workflow that plays it."""
    called, shown = role.get("workflow"), _escaped(name)
    if called is not None:
        callee = called["name"] if isinstance(called, Mapping) else called
        if definition_of is not None and Ref.matches(callee):
            callee = definition_of(Ref(callee)).name
        return f'[["{shown} (workflow {_escaped(callee)})"]]'
    if role.get("program") is not None:
        return f'{{{{"{shown}"}}}}'
    return f'[/"{shown}"\\]' if role.get("human") else f'["{shown}"]'


def _escaped(text: str) -> str:
    """Escape text for Mermaid's quotes."""
    return "".join(
        character if character.isalnum() or character in " ._-$/" else f"#{ord(character)};"
        for character in text
    )
