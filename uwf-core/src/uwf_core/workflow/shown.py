"""A published workflow in the shape of its file, for people and as a diagram."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

from uwf_core.fields.records import write_record
from uwf_core.ids import Ref
from uwf_core.workflow.definition import END, START, SUSPEND, Definition, RoleText, Workflow
from uwf_core.workflow.structure import DERIVED_IN_ROLE
from uwf_core.workflow.variants import mapped_fan_outs


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
    return {key: value for key, value in shown.items() if key not in DERIVED_IN_ROLE}


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
    texts = [field for field in RoleText._fields if field != "frontmatter"]
    graph = definition.graph
    if any(role.fan_out for role in definition.roles.values()):
        from uwf_core.workflow.fan_out import graph_as_written  # not for every workflow

        graph = graph_as_written(definition)
    return Workflow(
        name=definition.name,
        roles={
            name: RoleText(
                frontmatter=dict(role.schema), **{field: getattr(role, field) for field in texts}
            )
            for name, role in definition.roles.items()
            if role.fan_out is None
        },
        graph=graph,
        description=definition.description,
        limits=definition.limits,
        input=None if definition.input is None else dict(definition.input),
        workspace=definition.workspace,
        record=definition.record,
        branch=definition.branch,
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
