"""Check the edges of a workflow file that are taken after failures."""

from collections.abc import Callable, Iterator

from uwf_core.fields.mismatch import name_fault, short
from uwf_core.workflow.definition import ANY, END, FAILED, START
from uwf_core.workflow.parsed import ParsedEdge, ParsedWorkflow
from uwf_core.yaml.nodes import YamlScalar
from uwf_core.yaml.problem import Problem, error_at


def check_failures(
    parsed: ParsedWorkflow, statuses: Callable[[str], list[str]]
) -> Iterator[Problem]:
    """Every error in the edges of failures. `statuses`: those that a role delivers."""
    for edge in parsed.edges():
        if edge.source == ANY and edge.status != FAILED:
            message, hint = f"{ANY} has the edge {edge.status!r}", f"{ANY} has only `{FAILED}`"
            yield error_at(edge.key.place, "unknown-status", message, hint)
        if edge.status == FAILED and f"{edge.source}/{FAILED}" in parsed.fan_outs:
            message = f"{edge.place} leads to branches"
            yield error_at(edge.key.place, "edge-kind", message, "lead it to a role")
        is_failure = edge.is_expiry or (edge.status == FAILED and edge.source != START)
        ends = edge.role is not None and edge.role.text == END
        if edge.ends_as is None and is_failure and ends:
            message = f"missing key 'as' in {edge.place}: a failure is not a result"
            hint = "add `as: gave-up`, the $status that callers get"
            yield error_at(edge.key.place, "missing-key", message, hint)
        elif edge.ends_as is not None and not (is_failure and ends):
            message = f"{edge.place}.as has no effect"
            hint = f"`as` belongs on an edge `{FAILED}` or `expired` to {END}"
            yield error_at(edge.ends_as.place, "edge-kind", message, hint)
        elif edge.ends_as is not None:
            yield from _status(edge, edge.ends_as, parsed, statuses)


def _status(
    edge: ParsedEdge,
    ends_as: YamlScalar,
    parsed: ParsedWorkflow,
    statuses: Callable[[str], list[str]],
) -> Iterator[Problem]:
    """The errors in the status with which a failure ends the workflow."""
    fault = name_fault(ends_as.text)
    if fault is not None:
        message = f"the status {short(ends_as.text)!r} {fault[0]}"
        yield error_at(ends_as.place, "bad-name", message, fault[1])
    for source in parsed.roles if edge.source == ANY else [edge.source]:
        if ends_as.text in statuses(source):
            message = f"{source!r} delivers the status {ends_as.text!r} itself ({edge.place})"
            yield error_at(ends_as.place, "duplicate-status", message, "use another status")
