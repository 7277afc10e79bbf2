"""Check what a role of a person, or an edge, says of the time for an answer."""

from collections.abc import Iterator

from uwf_core.workflow.definition import SUSPEND
from uwf_core.workflow.parsed import ParsedWorkflow, meant_value
from uwf_core.yaml.nodes import YamlMapping, YamlScalar
from uwf_core.yaml.problem import Problem, error_at


def check_deadlines(parsed: ParsedWorkflow) -> Iterator[Problem]:
    """`within` without `expired`, or the reverse, and a deadline where nobody is asked."""
    for name, role in parsed.roles.items():
        if role.node is not None:
            yield from _problems(f"roles.{name}", role.node)
    graph = parsed.root.values.get("graph")
    for source, edges in graph.values.items() if isinstance(graph, YamlMapping) else ():
        for status, edge in edges.values.items() if isinstance(edges, YamlMapping) else ():
            if isinstance(edge, YamlMapping):
                yield from _problems(f"graph.{source}.{status}", edge)


def _problems(place: str, node: YamlMapping) -> Iterator[Problem]:
    if node.values.keys().isdisjoint(("within", "expired")):
        return
    for key, other in (("within", "expired"), ("expired", "within")):
        if key in node.values and other not in node.values:
            message = f"missing key {other!r} in {place}, which has `{key}`"
            yield error_at(node.keys[key].place, "missing-key", message, f"add `{other}:`")
    target = meant_value(node, "role")
    if "within" in node.values and isinstance(target, YamlScalar) and target.text != SUSPEND:
        message = f"{place}.within has no effect: the edge does not lead to {SUSPEND}"
        hint = "write it in the role of the person, or remove it"
        yield error_at(node.keys["within"].place, "edge-kind", message, hint)
