"""Changes in the graph: targets, prompts, limits, locations."""

from collections.abc import Callable, Iterator, Mapping

from uwf_core.workflow.definition import END, START, Edge
from uwf_core.workflow.diff.amounts import amount_changes
from uwf_core.workflow.diff.change import WorkflowChange
from uwf_core.workflow.fields import Fields, Presence
from uwf_core.workflow.template import TemplateName, parse
from uwf_core.workflow.variants import Variant

Callers = Callable[[str, str | None], str | None]


def edge_changes(
    role: str,
    a: Mapping[str, Edge],
    b: Mapping[str, Edge],
    outputs: Mapping[str, Variant],
    callers: Callers,
    place: str = "",
) -> Iterator[WorkflowChange]:
    """Every change of the edges that both versions have. It skips those to branches.

    Args:
        role: their source.
        a: the old edges by status.
        b: the new edges.
        outputs: the old variants of the role: what a thread that continues has delivered.
        callers: why a change of a status breaks callers.
        place: of the edges in the file, for those of a fan-out.
    """
    for status, edge in b.items():
        before = a.get(status)
        if before is None or "/" in before.role + edge.role:
            continue
        where = f"{place or f'graph.{role}'}.{status}"
        if before.role != edge.role:
            at_end = END in (before.role, edge.role)
            yield WorkflowChange(
                "edge-retargeted",
                where,
                before.role,
                edge.role,
                callers=callers(status, None) if at_end else None,
            )
        if before.prompt != edge.prompt:
            blank = _can_be_blank(edge, outputs.get(status)) if role != START else None
            yield WorkflowChange(
                "prompt-changed", f"{where}.prompt", before.prompt, edge.prompt, blank
            )
        yield from amount_changes("limit-changed", f"{where}.limits", before.limits, edge.limits)
        if before.location != edge.location:
            yield WorkflowChange(
                "location-changed", f"{where}.location", before.location, edge.location
            )


def _can_be_blank(edge: Edge, output: Variant | None) -> str | None:
    """Why the prompt of a role can be blank for an output of the old version. Such a thread cannot
    continue: a role without an instruction is not run.
    """
    template = parse(edge.prompt)
    if output is None or edge.role.startswith("$") or template.render({}).strip():
        return None
    names = template.names()
    if any(_is_shown(name, output) for name in names):
        return None
    words = ", ".join(dict.fromkeys(".".join(name.path) or "." for name in names))
    return f"the prompt can be blank for an old output: it consists of {words} alone"


def _is_shown(name: TemplateName, output: Variant) -> bool:
    """Whether a tag renders something for each such output: as in the check of a workflow, a text
    that is required counts as not empty.
    """
    if name.section_stack or Fields(output).presence(name) is not Presence.ALWAYS:
        return False
    if name.kind == "variable":
        return True
    schema = output.properties.get(name.path[0], {}) if len(name.path) == 1 else {}
    return name.kind == "section" and schema.get("type") == "string"
