"""A published workflow in the shape of its file, for people and as a diagram."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

from uwf_core.fields.records import write_record
from uwf_core.ids import Ref
from uwf_core.workflow.definition import ANY, END, START, SUSPEND, Definition, Edge, Role, Workflow
from uwf_core.workflow.fan_out import branches_of, fan_out_name


def shown_workflow(workflow: Mapping[str, Any]) -> dict[str, Any]:
    """The document of a completed mapping, of a file or of a node.

    An edge has only the keys that are set; one to branches also has the type of their joint result,
    `frontmatter`. A called workflow that is not published is shown by its name, and the workflows
    that uwf generates for branches, the texts of skills and the forms of replies are left out.
    """
    roles = {name: _role(role) for name, role in workflow["roles"].items()}
    graph = {
        source: {status: _edge(edge) for status, edge in edges.items()}
        for source, edges in workflow["graph"].items()
    }
    shown = {**workflow, "roles": roles, "graph": graph}
    return {key: value for key, value in shown.items() if key != "branch" or value}


def _role(role: Mapping[str, Any]) -> dict[str, Any]:
    called = role["workflow"]
    shown = {**role, "workflow": called["name"] if isinstance(called, Mapping) else called}
    return {key: value for key, value in shown.items() if key not in ("skillTexts", "deliverable")}


def _edge(edge: Mapping[str, Any]) -> dict[str, Any]:
    shown = _set(edge)
    if edge["parallel"] is not None:
        branches = sorted(edge["parallel"].items(), key=lambda each: each[1]["place"])
        shown["parallel"] = {name: _set(branch) for name, branch in branches}
    if edge["then"] is not None:
        shown["then"] = {status: _set(each) for status, each in edge["then"].items()}
        shown["frontmatter"] = shown.pop("frontmatter")  # it is long
    return shown


def _set(part: Mapping[str, Any]) -> dict[str, Any]:
    shown = {
        key: value
        for key, value in part.items()
        if key not in ("workflow", "place") and value not in (None, False, "")
    }
    if "limits" in shown:
        shown["limits"] = {key: each for key, each in shown["limits"].items() if each is not None}
    return shown


def as_in_file(definition: Definition) -> Workflow:
    """A published workflow in the shape of its file, where each role contains its schema."""
    roles, written = definition.roles, definition.written

    def edge_of(source: str, status: str, edge: Edge) -> Edge:
        if edge.then is None:
            return edge
        return edge._replace(frontmatter=dict(roles[fan_out_name(source, status)].schema))

    return written._replace(
        roles={
            name: written.roles[name]._replace(frontmatter=dict(role.schema))
            for name, role in roles.items()
            if role.fan_out is None
        },
        graph={
            source: {
                status: edge_of(source, status, edge)
                for status, edge in written.graph[source].items()
            }
            for source in (*definition.graph, ANY)
            if source in written.graph
        },
        input=None if definition.input is None else dict(definition.input),
    )


def mapping_of(definition: Definition) -> dict[str, Any]:
    """A published workflow as the completed mapping of its file, the short keys first."""
    text: dict[str, Any] = write_record(as_in_file(definition))
    first = {key: text[key] for key in ("version", "name", "description", "input")}
    return {**first, **{key: value for key, value in text.items() if key not in first}}


_PSEUDO = {START: "([START])", END: "([END])", SUSPEND: "[/SUSPEND/]"}


class _Arrow(NamedTuple):
    source: str
    status: str
    target: str
    branch: bool = False


def graph(workflow: Definition, definition_of: Callable[[Ref], Definition]) -> str:
    """The flow chart of a workflow.

    A role has the shape of who plays it: a box for an agent, a box with double sides for another
    workflow (with its name), a hexagon for a program, a trapezium for a person. An edge to branches
    leads to a rounded box, dotted arrows from there to the roles of the branches, and further
    arrows to where the joint result leads.

    Args:
        workflow: the workflow. definition_of: reads a called one.
    """
    arrows = [*_arrows(workflow)]
    used = [arrow.source for arrow in arrows] + [arrow.target for arrow in arrows]
    nodes = [START, *workflow.roles, *(name for name in (END, SUSPEND) if name in used)]
    ids = {name: f"n{number}" for number, name in enumerate(nodes)}
    lines = ["flowchart TD"]
    for name in nodes:
        shape = _PSEUDO.get(name) or _shape(workflow.roles[name], definition_of)
        lines.append(f"    {ids[name]}{shape}")
    lines += [_line(arrow, ids) for arrow in arrows]
    return "\n".join(lines) + "\n"


def _arrows(workflow: Definition) -> Iterator[_Arrow]:
    for source, edges in workflow.graph.items():
        fan_out = workflow.roles[source].fan_out if source in workflow.roles else None
        for each in branches_of(fan_out) if fan_out is not None else ():
            yield _Arrow(source, each.name or "", each.branch.role, branch=True)
        for status, edge in edges.items():
            if edge.as_ is None:  # else the edge of that status leads there
                yield _Arrow(source, status, edge.role)


def _line(arrow: _Arrow, ids: Mapping[str, str]) -> str:
    label = f'|"{_escaped(arrow.status)}"|' if arrow.status else ""
    kind = "-.->" if arrow.branch else "-->"
    return f"    {ids[arrow.source]} {kind}{label} {ids[arrow.target]}"


def _shape(role: Role, definition_of: Callable[[Ref], Definition]) -> str:
    """The shape of a role; its text is the name, and that of the workflow that plays it."""
    shown = _escaped(role.name)
    if role.fan_out is not None:
        listed = role.fan_out.for_each
        words = "parallel" if listed is None else f"for each of {listed}"
        return f'("{shown} ({_escaped(words)})")'
    if role.workflow is not None:
        is_ref = Ref.matches(role.workflow)
        callee = definition_of(Ref(role.workflow)).name if is_ref else role.workflow
        return f'[["{shown} (workflow {_escaped(callee)})"]]'
    if role.program is not None:
        return f'{{{{"{shown}"}}}}'
    return f'[/"{shown}"\\]' if role.human else f'["{shown}"]'


def _escaped(text: str) -> str:
    """Escape text for Mermaid's quotes."""
    return "".join(
        character if character.isalnum() or character in " ._-$/" else f"#{ord(character)};"
        for character in text
    )
