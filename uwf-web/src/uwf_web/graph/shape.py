"""The shape of a workflow's graph, from the document of `workflow show`. Pure."""

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final, Literal, NamedTuple

START: Final = "$START"
_ENDS: Final = ("$END", "$SUSPEND")

NodeKind = Literal["start", "end", "suspend", "agent", "workflow", "program", "human", "branches"]


class GraphNode(NamedTuple):
    """A node: a role, an end, or the branches of an edge. `detail`: who plays it, in words."""

    name: str
    kind: NodeKind
    detail: str = ""


class GraphEdge(NamedTuple):
    """All edges from one node to another, with their statuses. `is_branch`: to a branch's role."""

    source: str
    target: str
    statuses: tuple[str, ...]
    is_branch: bool = False


def anchor(node: str) -> str:
    """The id of a node's row in the table, which pages link to."""
    return "node-" + re.sub(r"[^A-Za-z0-9._-]", lambda each: f"~{ord(each[0]):x}", node)


class Shape(NamedTuple):
    """Nodes, `$START` first, and edges."""

    nodes: tuple[GraphNode, ...]
    edges: tuple[GraphEdge, ...]


def shape_of(workflow: Mapping[str, Any], called: Mapping[str, str] | None = None) -> Shape:
    """The shape of a workflow document.

    Args:
        workflow: roles and graph.
        called: the name of each called workflow by its reference; without it, its reference.
    """
    statuses: dict[tuple[str, str, bool], list[str]] = {}
    fan_outs: dict[str, GraphNode] = {}
    for source, target, status, is_branch in _edges(workflow["graph"], fan_outs):
        statuses.setdefault((source, target, is_branch), []).append(status)
    edges = tuple(
        GraphEdge(source, target, tuple(each for each in words if each), is_branch)
        for (source, target, is_branch), words in statuses.items()
    )
    nodes = [GraphNode(START, "start")]
    nodes += [_role(name, role, called or {}) for name, role in workflow["roles"].items()]
    nodes += fan_outs.values()
    used = {edge.target for edge in edges}
    nodes += [GraphNode(name, _end(name)) for name in _ENDS if name in used]
    return Shape(tuple(nodes), edges)


def _end(name: str) -> NodeKind:
    return "end" if name == "$END" else "suspend"


def _edges(
    graph: Mapping[str, Mapping[str, Any]], fan_outs: dict[str, GraphNode]
) -> Iterator[tuple[str, str, str, bool]]:
    """Source, target, status, and whether it leads to a branch; adds the nodes of fan-outs."""
    anyone = graph.get("$any", {})
    for source, edges in graph.items():
        if source == "$any":
            continue
        more = anyone if source != "$START" else {}
        for status, edge in {**more, **edges}.items():
            then = edge.get("then")
            if then is None:
                yield source, edge["role"], status, False
                continue
            name = f"{source}/{status}"
            listed = edge.get("forEach")
            words = f"for each of {listed}" if listed else "parallel"
            fan_outs[name] = GraphNode(name, "branches", words)
            yield source, name, status, False
            named = edge.get("parallel") or {"": edge}
            for branch, each in named.items():
                yield name, each["role"], branch, True
            for joint, each in then.items():
                yield name, each["role"], joint, False


def _role(name: str, role: Mapping[str, Any], called: Mapping[str, str]) -> GraphNode:
    workflow = role.get("workflow")
    if workflow is not None:
        return GraphNode(name, "workflow", f"workflow {called.get(workflow, workflow)}")
    if role.get("program") is not None:
        return GraphNode(name, "program", "program")
    if role.get("human"):
        return GraphNode(name, "human", "person")
    suggested = role.get("agent")
    return GraphNode(name, "agent", f"agent {suggested}" if suggested else "agent")
