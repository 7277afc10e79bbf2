"""Changes in the statuses and fields of a role."""

from collections.abc import Callable, Iterator, Mapping

from uwf_core.workflow.diff.change import WorkflowChange
from uwf_core.workflow.diff.results import type_text
from uwf_core.workflow.variants import STATUS, Variant

Callers = Callable[[str, str | None], str | None]
"""Why a change of a status (and field) breaks callers, if it does."""


def output_changes(
    place: str,
    a: Mapping[str, Variant],
    b: Mapping[str, Variant],
    callers: Callers,
    stopped_at: str | None,
) -> Iterator[WorkflowChange]:
    """Every change in the outputs of a role that both versions have.

    Args:
        place: of the outputs in the file. a: the old variants by status. b: the new ones.
        callers: why a change breaks callers.
        stopped_at: the role, None if no thread of the workflow stops there: branches play it.
    """
    for status in a:
        if status not in b:
            why = stopped_at and f"a thread that stopped at {stopped_at} with {status} has no edge"
            yield WorkflowChange(
                "status-removed", f"{place}.{status}", status, None, why, callers(status, None)
            )
    for status, variant in b.items():
        if status not in a:
            where = f"{place}.{status}"
            yield WorkflowChange("status-added", where, None, status, callers=callers(status, None))
            continue
        yield from _fields(f"{place}.{status}", a[status], variant, callers)
        if _beside_fields(a[status]) != _beside_fields(variant):
            where, before = f"{place}.{status}", a[status].schema
            breaks = callers(status, "*")
            yield WorkflowChange("schema-changed", where, before, variant.schema, callers=breaks)


def _beside_fields(variant: Variant) -> str:
    """What restricts an output and is not a field, such as `additionalProperties` or `if`."""
    return type_text(
        {key: each for key, each in variant.schema.items() if key not in ("properties", "required")}
    )


def _fields(place: str, a: Variant, b: Variant, callers: Callers) -> Iterator[WorkflowChange]:
    names = dict.fromkeys((*a.properties, *b.properties))
    for name in names:
        if name == STATUS:
            continue
        before, now, where = a.properties.get(name), b.properties.get(name), f"{place}.{name}"
        breaks = callers(a.status, name)
        if now is None:
            yield WorkflowChange("field-removed", where, before, None, callers=breaks)
        elif before is None:
            yield WorkflowChange("field-added", where, None, now, callers=breaks)
        else:
            if type_text(before) != type_text(now):
                yield WorkflowChange("field-retyped", where, before, now, callers=breaks)
            elif before != now:
                yield WorkflowChange("field-described", where, before, now)
            if (name in a.required) != (name in b.required):
                kind = "field-required" if name in b.required else "field-optional"
                yield WorkflowChange(kind, where, _word(name, a), _word(name, b), callers=breaks)


def _word(name: str, variant: Variant) -> str:
    return "required" if name in variant.required else "optional"
