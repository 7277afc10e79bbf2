"""The result type of a workflow: the union of the outputs that take its edges to `$END`."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from uwf_core.workflow.definition import END
from uwf_core.workflow.variants import Variant

Edges = Iterable[tuple[str, str, str]]
"""(role, status, target) of the edges of a graph."""


def result_schema(edges: Edges, variants: Mapping[str, Sequence[Variant]]) -> dict[str, Any] | None:
    """The JSON Schema of what a call of a workflow delivers; None if it can deliver nothing.

    Args:
        edges: of its graph.
        variants: the outputs of each role. A role that calls `$SELF` is left out: it delivers
            nothing that the others do not (the least fixpoint).
    """
    found: list[dict[str, Any]] = []
    for schema in _ending(edges, variants):
        if schema not in found:
            found.append(schema)
    if len(found) > 1:
        return {"anyOf": found}
    return found[0] if found else None


def _ending(edges: Edges, variants: Mapping[str, Sequence[Variant]]) -> Iterator[dict[str, Any]]:
    for role, status, target in edges:
        if target == END:
            for each in variants.get(role, ()):
                if each.status == status:
                    yield from each.schema.get("anyOf") or [each.schema]


def mapped_fan_outs(
    graph: Mapping[str, Mapping[str, Mapping[str, Any]]],
) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """The edges to branches in the graph of a completed mapping, each with the name of its role."""
    for source, edges in graph.items():
        for status, edge in edges.items():
            if edge.get("then") is not None:
                yield f"{source}/{status}", edge


def graph_edges(graph: Mapping[str, Mapping[str, Any]], role: Callable[[Any], str]) -> Edges:
    """The edges of a graph; `role` gives the target of an edge."""
    for source, targets in graph.items():
        for status, edge in targets.items():
            yield source, status, role(edge)
