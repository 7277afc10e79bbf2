"""A workflow of the original as a workflow of uwf."""

from collections.abc import Mapping
from typing import Any

from uwf_import_original.fields import NotImported, mapping, text, texts
from uwf_import_original.nodes import NodeCopy

_SCHEMAS = ("frontmatter", "meta", "outputSchema")
"""The fields that held the schema of a role, the newest first."""
_START, _OTHERS = "$START", {"$END", "$SUSPEND"}


def read_workflow(copy: NodeCopy, ref: str) -> dict[str, Any]:
    """The workflow at `ref` of a home in the form of uwf; its prompts stay as they are.

    Raises:
        NotImported: it has no form here. MissingNodeError: a part of it is missing.
    """
    payload = mapping(copy.node(ref).payload, "the workflow")
    given = mapping(payload.get("roles"), "`roles` of the workflow")
    roles = {name: _role(copy, name, role) for name, role in given.items()}
    graph = mapping(payload.get("graph"), "`graph` of the workflow")
    return {
        "name": text(payload, "name") or "workflow",
        "description": text(payload, "description"),
        "roles": roles,
        "graph": _graph(graph, {*roles, *_OTHERS}),
    }


def _role(copy: NodeCopy, name: str, given: Any) -> dict[str, Any]:
    role = mapping(given, f"the role {name!r}")
    schema = copy.node(text(role, *_SCHEMAS)).payload
    return {
        "goal": text(role, "goal", "identity") or name,
        "frontmatter": dict(mapping(schema, f"the schema of the role {name!r}")),
        "description": text(role, "description"),
        "capabilities": [each for each in texts(role.get("capabilities")) if each.strip()],
        "procedure": text(role, "procedure", "execute"),
        "output": text(role, "output", "report"),
    }


def _graph(given: Mapping[str, Any], known: set[str]) -> dict[str, Any]:
    graph = {name: _edges(name, edges, known) for name, edges in given.items()}
    start = graph.get(_START, {})
    if "_" in start:  # one edge for both, in early versions
        start = graph[_START] = {"new": start["_"], "resume": start["_"]}
    if "new" not in start:
        raise NotImported("its workflow has no edge $START.new")
    return graph


def _edges(name: str, given: Any, known: set[str]) -> dict[str, Any]:
    edges = {
        status: mapping(target, f"`graph.{name}.{status}` of the workflow")
        for status, target in mapping(given, f"`graph.{name}` of the workflow").items()
    }
    for status, target in edges.items():
        if text(target, "role") not in known:
            raise NotImported(f"the edge {name}.{status} leads to no role of its workflow")
    return {
        status: {
            "role": text(target, "role"),
            "prompt": text(target, "prompt"),
            "location": text(target, "location") or None,
        }
        for status, target in edges.items()
    }
