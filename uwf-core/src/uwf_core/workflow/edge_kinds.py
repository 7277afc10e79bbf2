"""Check which keys an edge has: those of an edge to a role, or of one to branches."""

from collections.abc import Iterator
from typing import Any

from uwf_core.workflow.parsed import (
    EDGE_KEYS,
    FAN_OUT_KEYS,
    ParsedWorkflow,
    is_fan_out,
    meant_value,
)
from uwf_core.workflow.problem import Place, Problem, error_at
from uwf_core.workflow.role_kinds import is_null
from uwf_core.workflow.yaml_nodes import YamlMapping, YamlScalar

_PLAIN = ("role", "prompt", "location", "limits")
_ITEMS = (*_PLAIN, "forEach", "then", "maxParallel", "shared", "workspace")
_NAMED = ("parallel", "then", "maxParallel", "shared", "workspace")
_REQUIRED: dict[tuple[str, ...], tuple[str, ...]] = {
    _PLAIN: ("role", "prompt"),
    _ITEMS: ("forEach", "role", "prompt", "then"),
    _NAMED: ("parallel", "then"),
}
DERIVED = ("frontmatter", "workflow")
"""The keys that uwf sets in an edge to branches."""
DERIVED_IN_BRANCH = ("workflow", "place")
DERIVED_AT_TOP = ("branch",)
DERIVED_IN_ROLE = ("skillTexts", "deliverable")


def check_edges(parsed: ParsedWorkflow) -> Iterator[Problem]:
    """Every edge with a key that its kind does not have, or without one that it needs; and the
    keys that only uwf sets.
    """
    for key in DERIVED_AT_TOP:
        if key in parsed.root.values:
            place, message = parsed.root.keys[key].place, f"`{key}` is set by uwf"
            yield error_at(place, "set-by-uwf", message, f"remove `{key}`")
    for name, role in parsed.roles.items():
        if role.node is not None:
            yield from _derived(f"roles.{name}", role.node, DERIVED_IN_ROLE)
    for joint, _ in _nested(parsed):
        message = f"the edge {joint.text!r} of `then` leads to branches"
        hint = "lead it to a role; the edges of that role can lead to branches"
        yield error_at(joint.place, "edge-kind", message, hint)
    graph = parsed.root.values.get("graph")
    for source, edges in graph.values.items() if isinstance(graph, YamlMapping) else ():
        for status, edge in edges.values.items() if isinstance(edges, YamlMapping) else ():
            if isinstance(edges, YamlMapping) and isinstance(edge, YamlMapping):
                yield from _edge(f"graph.{source}.{status}", edges.keys[status], edge)


def nested_places(parsed: ParsedWorkflow) -> set[Place]:
    """The places in the edges of `then` that lead to branches: each such edge is one error."""
    return {each.place for key, edge in _nested(parsed) for each in (key, *edge.keys.values())}


def _nested(parsed: ParsedWorkflow) -> Iterator[tuple[YamlScalar, YamlMapping]]:
    for fan_out in parsed.fan_outs.values():
        then = fan_out.then
        for status, edge in then.values.items() if then is not None else ():
            if then is not None and isinstance(edge, YamlMapping) and is_fan_out(edge):
                yield then.keys[status], edge


def edges_schema() -> dict[str, Any]:
    """The same rules as keywords of the JSON Schema of an edge."""
    schema = _kind_schema(_PLAIN)
    for key, kind in (("forEach", _ITEMS), ("parallel", _NAMED)):
        schema = {"if": {"required": [key]}, "then": _kind_schema(kind), "else": schema}
    return schema


def _kind_schema(kind: tuple[str, ...]) -> dict[str, Any]:
    return {
        "required": list(_REQUIRED[kind]),
        "properties": {key: False for key in EDGE_KEYS if key not in kind},
    }


def _edge(place: str, edge_key: YamlScalar, edge: YamlMapping) -> Iterator[Problem]:
    yield from _derived(place, edge, DERIVED)
    parallel = meant_value(edge, "parallel")
    for name, branch in parallel.values.items() if isinstance(parallel, YamlMapping) else ():
        if isinstance(branch, YamlMapping):
            yield from _derived(f"{place}.parallel.{name}", branch, DERIVED_IN_BRANCH)
    if "parallel" in edge.values and "forEach" in edge.values:
        message = f"{place} has both `forEach` and `parallel`"
        yield error_at(edge.keys["forEach"].place, "edge-kind", message, "remove one of them")
        return
    allowed: tuple[str, ...] = _PLAIN
    if is_fan_out(edge):
        allowed = _ITEMS if parallel is None else _NAMED
    for key in _REQUIRED[allowed]:
        value = meant_value(edge, key)
        if value is None or (key in FAN_OUT_KEYS and is_null(value)):
            message = f"missing key {key!r} in {place}"
            yield error_at(edge_key.place, "missing-key", message, f"add `{key}:`")
    for key in edge.values:
        if key in EDGE_KEYS and key not in allowed:
            message = f"{place}.{key} has no effect on this kind of edge"
            hint = "an edge leads to a role, or to branches with `forEach` or `parallel`"
            yield error_at(edge.keys[key].place, "edge-kind", message, hint)


def _derived(place: str, node: YamlMapping, keys: tuple[str, ...]) -> Iterator[Problem]:
    for key in keys:
        if key in node.values:
            message = f"{place}.{key} is set by uwf"
            yield error_at(node.keys[key].place, "set-by-uwf", message, f"remove `{key}`")
