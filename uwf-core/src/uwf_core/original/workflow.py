"""A workflow of the original as a workflow of uwf."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from uwf_core.errors import PayloadError
from uwf_core.fields.records import write_record
from uwf_core.ids import Ref
from uwf_core.original.fields import NotImported, mapping, text, texts
from uwf_core.workflow.definition import END, START, SUSPEND, Edge, RoleText, Workflow

if TYPE_CHECKING:
    from uwf_core.original.nodes import NodeCopy

_SCHEMAS = ("frontmatter", "meta", "outputSchema")
"""The fields that held the schema of a role, the newest first."""


def publish_original(copy: "NodeCopy", ref: str) -> Ref:
    """Store the workflow at `ref` of a home in the form of uwf; its prompts stay as they are.

    Raises:
        NotImported: it has no form here. Else as `NodeCopy.copy`.
    """
    from uwf_core.workflow.publish import publish

    try:
        found = _workflow(copy, mapping(copy.node(ref).payload, "the workflow"))
        return publish(copy.store, write_record(found))
    except PayloadError as error:
        raise NotImported(f"its workflow is invalid here: {error.message}") from error


def _workflow(copy: "NodeCopy", payload: Mapping[str, Any]) -> Workflow:
    given = mapping(payload.get("roles"), "`roles` of the workflow")
    roles = {name: _role(copy, name, role) for name, role in given.items()}
    return Workflow(
        name=text(payload, "name") or "workflow",
        description=text(payload, "description"),
        roles=roles,
        graph=_graph(
            mapping(payload.get("graph"), "`graph` of the workflow"), {*roles, END, SUSPEND}
        ),
    )


def _role(copy: "NodeCopy", name: str, given: Any) -> RoleText:
    role = mapping(given, f"the role {name!r}")
    schema = copy.node(text(role, *_SCHEMAS)).payload
    return RoleText(
        goal=text(role, "goal", "identity") or name,
        frontmatter=dict(mapping(schema, f"the schema of the role {name!r}")),
        description=text(role, "description"),
        capabilities=tuple(each for each in texts(role.get("capabilities")) if each.strip()),
        procedure=text(role, "procedure", "execute"),
        output=text(role, "output", "report"),
    )


def _graph(given: Mapping[str, Any], known: set[str]) -> dict[str, dict[str, Edge]]:
    graph = {name: _edges(name, edges, known) for name, edges in given.items()}
    start = graph.get(START, {})
    if "_" in start:  # one edge for both, in early versions
        start = graph[START] = {"new": start["_"], "resume": start["_"]}
    if "new" not in start:
        raise NotImported("its workflow has no edge $START.new")
    return graph


def _edges(name: str, given: Any, known: set[str]) -> dict[str, Edge]:
    edges = {
        status: mapping(target, f"`graph.{name}.{status}` of the workflow")
        for status, target in mapping(given, f"`graph.{name}` of the workflow").items()
    }
    for status, target in edges.items():
        if text(target, "role") not in known:
            raise NotImported(f"the edge {name}.{status} leads to no role of its workflow")
    return {
        status: Edge(text(target, "role"), text(target, "prompt"), text(target, "location") or None)
        for status, target in edges.items()
    }
