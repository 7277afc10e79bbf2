"""A role's schema as the program takes it for `--json-schema`, and the way back. Pure.

The schema becomes the parameters of a tool, and the service refuses those with a choice at their
top or with `$` in the name of a property. So the object is wrapped, and `$status` is renamed.
"""

from collections.abc import Mapping
from typing import Any

_STATUS, _RENAMED = "$status", "_status"
_WRAPPED, _TEXT = "output", "text"
_BODY = "_body"
_SUSPEND: Mapping[str, Any] = {
    "type": "object",
    "description": "only if you cannot continue without a person",
    "properties": {_RENAMED: {"const": "$SUSPEND"}, "reason": {"type": "string"}},
    "required": [_RENAMED, "reason"],
}


def wrapped(schema: Mapping[str, Any]) -> dict[str, Any]:
    """The schema to send for a role's schema; a suspension is always allowed."""
    return {
        "type": "object",
        "properties": {
            _WRAPPED: {"anyOf": [_renamed(schema), _SUSPEND]},
            _TEXT: {"type": "string", "description": "`_body`: free text for the later roles"},
        },
        "required": [_WRAPPED],
    }


def unwrapped(found: Mapping[str, Any]) -> dict[str, Any] | None:
    """The role's object out of what came; None where there is none in it."""
    inside = found.get(_WRAPPED)
    if not isinstance(inside, Mapping):
        return None
    output = {_STATUS if name == _RENAMED else name: value for name, value in inside.items()}
    return {**output, _BODY: found[_TEXT]} if _TEXT in found else output


def _renamed(schema: Any) -> Any:
    if not isinstance(schema, Mapping):
        return schema
    changed = dict(schema)
    properties = schema.get("properties")
    if isinstance(properties, Mapping):
        changed["properties"] = {
            _RENAMED if name == _STATUS else name: each for name, each in properties.items()
        }
    if isinstance(schema.get("required"), list):
        changed["required"] = [_RENAMED if name == _STATUS else name for name in schema["required"]]
    for word in ("oneOf", "anyOf", "allOf"):
        if isinstance(schema.get(word), list):
            changed[word] = [_renamed(each) for each in schema[word]]
    return changed
