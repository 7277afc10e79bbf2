"""What follows the last failed attempt of a role: its output, and how it can end. Pure."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from uwf_core.workflow.definition import FAILED, Edge
from uwf_core.workflow.variants import STATUS, Variant

_TEXT: Final = {"type": "string"}
FAILED_SCHEMA: Final[Mapping[str, Any]] = {
    "title": "failed",
    "description": "The last attempt of a role has failed; no role delivers this.",
    "type": "object",
    "properties": {
        STATUS: _TEXT,
        "kind": _TEXT,
        "message": _TEXT,
        "attempts": {"type": "integer", "minimum": 0},
    },
    "required": [STATUS, "kind", "message", "attempts"],
    "additionalProperties": False,
}


def failed_variant(status: str) -> Variant:
    """The output after a failure, as a variant; `status` is that of `as`, or `$failed`."""
    properties = {**FAILED_SCHEMA["properties"], STATUS: {"const": status}}
    schema = {**FAILED_SCHEMA, "properties": properties}
    return Variant(status, schema, properties, frozenset(properties), False)


def failed_results(names: Iterable[str]) -> dict[str, list[Variant]]:
    """How a workflow can end after failures, by the name under which `result_schema` finds it."""
    return {FAILED: [failed_variant(each) for each in dict.fromkeys(names)]}


def ends_as(
    graph: Mapping[str, Mapping[str, Edge]], of_roles: Iterable[str | None]
) -> Iterator[str]:
    """The statuses with which a workflow ends after a failure: by the edges of its graph, and
    where the time of a role has passed (`of_roles`; None: that leads to a role).
    """
    for edges in graph.values():
        for edge in edges.values():
            yield from filter(None, (edge.as_, edge.expired and edge.expired.as_))
    yield from filter(None, of_roles)
