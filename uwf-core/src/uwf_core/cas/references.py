"""References inside payloads: the values at the places that a schema marks `format: ocas_ref`."""

from collections.abc import Iterator, Mapping
from typing import Any

from uwf_core.ids import Ref

FORMAT = "ocas_ref"
"""`{"type": "string", "format": "ocas_ref"}` marks a reference (ocas 0.4)."""

_SAME_VALUE = ("anyOf", "oneOf", "allOf")
_CONDITIONS = ("if", "then", "else")


def references_in(schema: Mapping[str, Any], payload: Any) -> set[str]:
    """The references in `payload` by `schema`, its type not included.

    All branches of `anyOf`, `oneOf` and `if` count, whether the value takes them or not: keeping
    a node too many is harmless, losing one is not. Text that has not the form of a reference is
    none (another branch allows it).
    """
    return set(_found(schema, payload))


def _found(schema: Any, value: Any) -> Iterator[str]:
    if not isinstance(schema, Mapping):
        return
    if schema.get("format") == FORMAT and isinstance(value, str) and Ref.matches(value):
        yield str(value)
    for word in _SAME_VALUE:
        for each in schema.get(word, ()):
            yield from _found(each, value)
    for word in _CONDITIONS:
        yield from _found(schema.get(word), value)
    if isinstance(value, Mapping):
        yield from _in_mapping(schema, value)
    elif isinstance(value, list | tuple):
        yield from _in_list(schema, value)


def _in_mapping(schema: Mapping[str, Any], value: Mapping[str, Any]) -> Iterator[str]:
    named = schema.get("properties", {})
    patterns = schema.get("patternProperties", {})
    others = schema.get("additionalProperties")
    for key, item in value.items():
        known = key in named
        if known:
            yield from _found(named[key], item)
        if patterns:
            for pattern in _matching(patterns, key):
                known = True
                yield from _found(patterns[pattern], item)
        if not known:
            yield from _found(others, item)


def _matching(patterns: Mapping[str, Any], key: str) -> Iterator[str]:
    # The engine that validates is the one that decides, so that the two never differ.
    from uwf_core.cas.schemas import CompiledSchema

    for pattern in patterns:
        if not CompiledSchema({"pattern": pattern}).violations(key):
            yield pattern


def _in_list(schema: Mapping[str, Any], value: list[Any] | tuple[Any, ...]) -> Iterator[str]:
    first = schema.get("prefixItems", ())
    rest = schema.get("items")
    for index, item in enumerate(value):
        yield from _found(first[index] if index < len(first) else rest, item)
