"""A checked workflow as nodes: a schema node per role and the workflow node itself.

The same workflow always gets the same reference.
"""

from typing import TYPE_CHECKING, Any, Final

from uwf_core.ids import Ref
from uwf_core.workflow.definition import WORKFLOW_TYPE

if TYPE_CHECKING:
    from uwf_core.cas.store import Store

_TEXT: Final = {"type": "string"}
_TEXTS: Final = {"type": "array", "items": _TEXT}
_REF: Final = {"type": "string", "format": "ocas_ref"}
_INTEGER_OR_NULL: Final = {"type": ["integer", "null"]}
_NUMBER_OR_NULL: Final = {"type": ["number", "null"]}


def _object(**properties: Any) -> dict[str, Any]:
    """A closed object schema in which every property is required."""
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def _map(values: Any) -> dict[str, Any]:
    return {"type": "object", "additionalProperties": values}


WORKFLOW_SCHEMA: Final = {"title": "uwf workflow"} | _object(
    version={"type": "integer"},
    name=_TEXT,
    description=_TEXT,
    roles=_map(
        _object(
            description=_TEXT,
            goal=_TEXT,
            capabilities=_TEXTS,
            procedure=_TEXT,
            output=_TEXT,
            frontmatter=_REF,
            timeout=_NUMBER_OR_NULL,
            tools={"anyOf": [_TEXTS, {"type": "null"}]},
        )
    ),
    graph=_map(
        _map(_object(role=_TEXT, prompt=_TEXT, location={"type": ["string", "null"]})),
    ),
    limits=_object(
        maxSteps=_INTEGER_OR_NULL,
        maxTokens=_INTEGER_OR_NULL,
        maxCostUsd=_NUMBER_OR_NULL,
        maxMinutes=_NUMBER_OR_NULL,
    ),
)
"""The type of workflow nodes. A change here is a new type: the old one stays readable."""


def publish(store: "Store", workflow: dict[str, Any]) -> Ref:
    """Store a checked workflow (`Checked.workflow`); return the reference of its node.

    Writes all of it or nothing. Raises the errors of the store.
    """
    with store.transaction():
        type_ = store.put_schema(WORKFLOW_SCHEMA, trusted=True)
        assert type_ == WORKFLOW_TYPE
        roles = {
            name: {**role, "frontmatter": store.put_schema(role["frontmatter"])}
            for name, role in workflow["roles"].items()
        }
        return store.put(type_, {**workflow, "roles": roles})
