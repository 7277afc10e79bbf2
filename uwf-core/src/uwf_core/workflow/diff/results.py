"""The result type of a workflow: what a caller can get from it."""

import json
from collections.abc import Mapping
from typing import Any, NamedTuple

from uwf_core.workflow.definition import END, Edge, Workflow
from uwf_core.workflow.fan_out import flat_graph
from uwf_core.workflow.variants import STATUS, Variant, variants

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
    is a node, and `fan_outs` has the edges to branches by that.
    """

    workflow: Workflow
    fan_outs: Mapping[str, Edge]
    variants: Mapping[str, Mapping[str, Variant]]
    type: ResultType

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
    return Result(
        workflow, fan_outs, found, {status: _union(each) for status, each in ending.items()}
    )


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
