"""Check a value by a simple schema without jsonschema-rs, which takes twenty milliseconds to load:
a process that runs one step checks a handful of values, and nearly all of them fit.

The answer is exact or there is none. What is wrong with a value, only the library tells.
"""

from collections.abc import Callable, Mapping
from typing import Any

from uwf_core.cas.hashing import CLAIMS, FILE_FORMAT

_OTHERS_CHECK = (*CLAIMS, FILE_FORMAT)
"""Formats that say nothing about the text: the engine looks for the node or file."""

_ANNOTATIONS = {"title", "description", "default", "examples"}
_ANNOTATIONS |= {"readOnly", "writeOnly", "deprecated", "$comment"}
_NAMES_OF_TYPES: Mapping[type, frozenset[str]] = {
    str: frozenset(("string",)),
    int: frozenset(("integer", "number")),
    float: frozenset(("number",)),
    bool: frozenset(("boolean",)),
    type(None): frozenset(("null",)),
    dict: frozenset(("object",)),
    list: frozenset(("array",)),
}
_COMPARABLE = (str, int, bool, type(None))


class _UnknownError(Exception):
    """A keyword or a comparison that is the library's to judge."""


def fits(schema: Any, value: Any) -> bool | None:
    """Whether a value that `decode` gave satisfies a valid schema; None: only the library knows."""
    try:
        return _fits(schema, value)
    except _UnknownError:
        return None


def _fits(schema: Any, value: Any) -> bool:
    if type(schema) is not dict and not isinstance(schema, Mapping):
        raise _UnknownError("a schema that is not a mapping")
    for word in schema:
        if word in _CHECKS:
            if not _CHECKS[word](schema[word], value, schema):
                return False
        elif word not in _ANNOTATIONS:
            raise _UnknownError(word)
    return True


def _type(asked: Any, value: Any, _schema: Any) -> bool:
    allowed = {asked} if isinstance(asked, str) else asked
    if type(value) is float and "integer" in allowed:
        raise _UnknownError("a float may be whole")
    return not _NAMES_OF_TYPES[type(value)].isdisjoint(allowed)


def _format(asked: Any, value: Any, _schema: Any) -> bool:
    if type(value) is str and asked not in _OTHERS_CHECK:
        raise _UnknownError("only the library knows formats")
    return True


def _const(asked: Any, value: Any, _schema: Any) -> bool:
    if type(asked) not in _COMPARABLE or type(value) not in _COMPARABLE:
        raise _UnknownError("only simple values are compared here")
    return type(asked) is type(value) and asked == value


def _enum(asked: Any, value: Any, schema: Any) -> bool:
    return any(_const(each, value, schema) for each in asked)


def _required(asked: Any, value: Any, _schema: Any) -> bool:
    return type(value) is not dict or value.keys() >= {*asked}


def _properties(asked: Any, value: Any, _schema: Any) -> bool:
    if type(value) is dict:
        for name in asked:
            if name in value and not _fits(asked[name], value[name]):
                return False
    return True


def _additional(asked: Any, value: Any, schema: Any) -> bool:
    if asked is True or type(value) is not dict:
        return True
    if "patternProperties" in schema:
        raise _UnknownError("patternProperties")
    others = value.keys() - schema.get("properties", {}).keys()
    return not others if asked is False else all(_fits(asked, value[name]) for name in others)


def _items(asked: Any, value: Any, schema: Any) -> bool:
    if "prefixItems" in schema:
        raise _UnknownError("prefixItems")
    return type(value) is not list or all(_fits(asked, each) for each in value)


def _all_of(asked: Any, value: Any, _schema: Any) -> bool:
    return all(_fits(each, value) for each in asked)


def _any_of(asked: Any, value: Any, _schema: Any) -> bool:
    return any(_fits(each, value) for each in asked)


def _one_of(asked: Any, value: Any, _schema: Any) -> bool:
    return [_fits(each, value) for each in asked].count(True) == 1


_CHECKS: Mapping[str, Callable[[Any, Any, Any], bool]] = {
    "type": _type,
    "format": _format,
    "const": _const,
    "enum": _enum,
    "required": _required,
    "properties": _properties,
    "additionalProperties": _additional,
    "items": _items,
    "allOf": _all_of,
    "anyOf": _any_of,
    "oneOf": _one_of,
}
