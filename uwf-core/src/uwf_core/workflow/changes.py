"""The changes between two versions of a workflow: edges, outputs, inputs, amounts; and the type of
its result, by which a change breaks callers.
"""

import json
from collections.abc import Callable, Iterator, Mapping, Set
from typing import Any, Final, Literal, NamedTuple

from uwf_core.api.retry import Retry
from uwf_core.fields.records import camel, write_record
from uwf_core.workflow.definition import (
    END,
    START,
    Branch,
    Edge,
    JoinEdge,
    Limits,
    Reserve,
    RoleLimits,
    Workflow,
)
from uwf_core.workflow.failed import ends_as, failed_variant
from uwf_core.workflow.fan_out import flat_graph
from uwf_core.workflow.fields import Fields, Presence
from uwf_core.workflow.template import TemplateName, parse
from uwf_core.workflow.variants import STATUS, Variant, variants

EDGE_KINDS: Final = {
    name: f"{name}-changed"
    for name in JoinEdge._fields
    if name not in ("role", "prompt", "limits", "within", "expired", "as_")  # see `key_changes`
}
"""The kind of a change of each plain key of an edge and of a branch."""

KINDS: Final = (
    "name-changed", "description-changed", "limit-changed", "input-changed", "role-added",
    "role-removed", "role-renamed", "text-changed", "player-changed", "tools-changed",
    "timeout-changed", "retry-changed", "deadline-changed", "reserve-changed", "status-added",
    "status-removed", "field-added", "field-removed", "field-retyped", "field-required",
    "field-optional", "field-described", "schema-changed", "edge-retargeted", "prompt-changed",
    *EDGE_KINDS.values(), "branches-added", "branches-removed", "branches-changed",
    "workspace-changed", "failure-changed",
)  # fmt: skip
"""Every kind of change. The guide on workflows has a row for each, a test an example."""

Callers = Callable[[str, str | None], str | None]
"""Why a change of a status (and field) breaks callers, if it does."""
Verdict = Literal["compatible", "breaking"]


class WorkflowChange(NamedTuple):
    """A change.

    Attributes:
        kind: one of `KINDS`.
        place: the place in the file, such as `roles.writer.goal`; a field has its status before it.
        a: what the old version has there, None if nothing.
        b: what the new version has there.
        forks: why it breaks forks onto the new version: threads that ran on the old one and
            continue on the new one. None if it does not.
        callers: why it breaks workflows that use the result of this one. None if it does not.
    """

    kind: str
    place: str
    a: Any
    b: Any
    forks: str | None = None
    callers: str | None = None


Amounts = Limits | RoleLimits | Reserve | Retry | None


def amount_changes(kind: str, place: str, a: Amounts, b: Amounts) -> Iterator[WorkflowChange]:
    """Every amount that differs; a missing group has none."""
    before = {} if a is None else a._asdict()
    now = {} if b is None else b._asdict()
    for field in dict.fromkeys((*before, *now)):
        if before.get(field) != now.get(field):
            where = f"{place}.{camel(field)}"
            yield WorkflowChange(kind, where, before.get(field), now.get(field))


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
        yield from key_changes(where, before, edge)


def key_changes(place: str, a: Edge | Branch, b: Edge | Branch) -> Iterator[WorkflowChange]:
    """Every change of what else an edge and a branch say of their role."""
    yield from amount_changes("limit-changed", f"{place}.limits", a.limits, b.limits)
    yield from deadline_changes(place, a, b)
    for name, kind in EDGE_KINDS.items():
        before, now = getattr(a, name, None), getattr(b, name, None)
        if before != now:
            yield WorkflowChange(kind, f"{place}.{camel(name)}", before, now)


def deadline_changes(place: str, a: Any, b: Any) -> Iterator[WorkflowChange]:
    """Every change of the time that a person has to answer, in two edges or two roles."""
    for name in ("within", "expired"):
        before, now = (write_record(getattr(each, name, None)) for each in (a, b))
        if before != now:
            yield WorkflowChange("deadline-changed", f"{place}.{name}", before, now)


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


Schema = Mapping[str, Any]


def input_changes(a: Schema | None, b: Schema | None) -> Iterator[WorkflowChange]:
    """Every change of the input. One that can reject an old input breaks forks, whose thread keeps
    its input, and callers, which give what the old version asked for.
    """
    old, new = a or {}, b or {}
    before, now = old.get("properties", {}), new.get("properties", {})
    for name in dict.fromkeys((*before, *now)):
        values = _field(old, name), _field(new, name)
        if values[0] != values[1]:
            yield _change(f"input.{name}", *values, _wrong(name, old, new))
    if _beside_input_fields(old) != _beside_input_fields(new):
        yield _change("input", a, b, "an input of the old schema can be rejected")


def _change(place: str, a: Any, b: Any, wrong: str | None) -> WorkflowChange:
    return WorkflowChange("input-changed", place, a, b, forks=wrong, callers=wrong)


def _field(schema: Schema, name: str) -> dict[str, Any] | None:
    """A field with whether it is required; None if the schema does not declare it."""
    if name not in schema.get("properties", {}):
        return None
    return {"schema": schema["properties"][name], "required": name in schema.get("required", ())}


def _wrong(name: str, old: Schema, new: Schema) -> str | None:
    """Why a field of an old input, or its absence, can be rejected now."""
    before, now = _field(old, name), _field(new, name)
    if now is None:
        return f"an input with {name} is rejected: it is not a field any more"
    if now["required"] and (before is None or not before["required"]):
        return f"an input without {name} is rejected"
    if before is not None and type_text(before["schema"]) != type_text(now["schema"]):
        return f"an input whose {name} has the old type can be rejected"
    return None


def _beside_input_fields(schema: Schema) -> str:
    """What restricts the input and is not a field."""
    ignored = ("properties", "required", "type")  # it is an object in any case
    return type_text({key: each for key, each in schema.items() if key not in ignored})


# -- what a caller can get -------------------------------------------------------------------------


_NOTES = ("title", "description", "examples", "default", "$comment", "deprecated")
"""Keywords that describe a value and do not restrict it."""


class ResultField(NamedTuple):
    """A field of one status of the result: its possible types, and whether it is always present."""

    types: frozenset[str]
    required: bool


ResultType = Mapping[str, Mapping[str, ResultField]]
"""`$status` -> field -> what a caller knows about it."""


class Result(NamedTuple):
    """A workflow with the variants of its roles, and its result type. Its graph is flat: a fan-out
    is a node, and `fan_outs` has the edges to branches by that. `failures`: how it ends after them.
    """

    workflow: Workflow
    fan_outs: Mapping[str, Edge]
    variants: Mapping[str, Mapping[str, Variant]]
    type: ResultType
    failures: Set[str]

    def ends(self, role: str, status: str) -> bool:
        """Whether this status of the role is a result of the workflow."""
        edge = self.workflow.graph.get(role, {}).get(status)
        return edge is not None and edge.role == END


def result_of(workflow: Workflow) -> Result:
    """Analyse a checked workflow."""
    graph, fan_outs = flat_graph(workflow.graph)
    workflow = workflow._replace(graph=graph)
    found = {
        name: {each.status: each for each in variants(role.frontmatter)}
        for name, role in workflow.roles.items()
    }
    for name, fan_out in fan_outs.items():
        found[name] = {each.status: each for each in variants(fan_out.frontmatter)}
    ending: dict[str, list[Variant]] = {}
    for role, edges in workflow.graph.items():
        for status, edge in edges.items():
            if edge.role == END and status in found.get(role, {}):
                ending.setdefault(status, []).append(found[role][status])
    expired = [role.expired.as_ for role in workflow.roles.values() if role.expired]
    failures = {*ends_as(graph, expired)}
    for status in failures:
        ending.setdefault(status, []).append(failed_variant(status))
    type_ = {status: _union(each) for status, each in ending.items()}
    return Result(workflow, fan_outs, found, type_, failures)


def type_text(schema: Any) -> str:
    """A schema without what only describes it, as text that is equal for equal types."""
    return json.dumps(_plain(schema), sort_keys=True, ensure_ascii=False)


def _plain(schema: Any) -> Any:
    if isinstance(schema, list):
        return [_plain(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    return {
        key: {name: _plain(each) for name, each in value.items()}  # names of fields, not keywords
        if key in ("properties", "patternProperties", "dependentSchemas")
        and isinstance(value, dict)
        else value
        if key in ("const", "enum", "required")
        else _plain(value)
        for key, value in schema.items()
        if key not in _NOTES
    }


def _union(found: list[Variant]) -> dict[str, ResultField]:
    """Several roles can end with the same status: a caller must expect each of their outputs."""
    names = dict.fromkeys(name for each in found for name in each.properties if name != STATUS)
    return {
        name: ResultField(
            frozenset(
                type_text(each.properties[name]) for each in found if name in each.properties
            ),
            all(name in each.required for each in found),
        )
        for name in names
    }


Broken = Mapping[tuple[str, str | None], str]
"""(status, field, or None for the whole status) -> why it breaks callers."""


def broken_results(old: ResultType, new: ResultType) -> Broken:
    """What a caller that was written for the old result type can no longer rely on."""
    found: dict[tuple[str, str | None], str] = {}
    for status in old.keys() - new.keys():
        found[status, None] = (
            f"callers have an edge for the $status {status}, which is never returned now"
        )
    for status, fields in new.items():
        if status not in old:
            found[status, None] = f"callers do not expect the $status {status}"
            continue
        for name, before in old[status].items():
            reason = _broken(before, fields.get(name))
            if reason:
                found[status, name] = f"callers use {name} of the $status {status}, which {reason}"
    return found


def _broken(before: ResultField, now: ResultField | None) -> str | None:
    if now is None:
        return "no longer exists"
    if before.required and not now.required:
        return "can be missing now"
    return None if now.types <= before.types else "can have another type now"
