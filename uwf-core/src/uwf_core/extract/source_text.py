"""YAML nodes -> values, with the source text if a schema allows text but not the typed value.

`version: 1.0` is text if the schema requires text, and a commit id may have only digits.
"""

from collections.abc import Mapping
from typing import Any

from uwf_core.workflow.yaml_nodes import YamlMapping, YamlNode, YamlScalar, YamlSequence

_ALL = frozenset(("string", "integer", "number", "boolean", "null", "array", "object"))
_ALTERNATIVES = ("anyOf", "oneOf")


def value_of(node: YamlNode, schema: Any) -> Any:
    """The value of `node`, typed by `schema`; it is not validated yet."""
    if isinstance(node, YamlMapping):
        return {name: value_of(each, at(schema, name)) for name, each in node.values.items()}
    if isinstance(node, YamlSequence):
        return [value_of(each, at(schema, index)) for index, each in enumerate(node.items)]
    assert isinstance(node, YamlScalar)
    allowed = types_of(schema)
    is_other = node.plain and not isinstance(node.value, str) and type_of(node.value) not in allowed
    return node.text if is_other and "string" in allowed else node.value


def at(schema: Any, key: str | int) -> Any:
    """The schema of the value at a key of a mapping or a position of a list."""
    if not isinstance(schema, Mapping):
        return True
    parts = [_own(schema, key)]
    parts += [at(each, key) for each in schema.get("allOf", ())]
    parts += [
        {"anyOf": [at(each, key) for each in schema[word]]}
        for word in _ALTERNATIVES
        if schema.get(word)
    ]
    said = [part for part in parts if part is not True]
    return {"allOf": said} if said else True


def types_of(schema: Any) -> frozenset[str]:
    """The JSON types that `schema` allows; whole numbers are only `integer`."""
    if schema is False:
        return frozenset()
    if not isinstance(schema, Mapping):
        return _ALL
    allowed = _named_types(schema)
    if "const" in schema:
        allowed &= {type_of(schema["const"])}
    if "enum" in schema:
        allowed &= {type_of(each) for each in schema["enum"]}
    for each in schema.get("allOf", ()):
        allowed &= types_of(each)
    for word in _ALTERNATIVES:
        if schema.get(word):
            allowed &= frozenset().union(*(types_of(each) for each in schema[word]))
    return allowed


def _own(schema: Mapping[str, Any], key: str | int) -> Any:
    if isinstance(key, int):
        fixed = schema.get("prefixItems", ())
        return fixed[key] if key < len(fixed) else schema.get("items", True)
    properties = schema.get("properties", {})
    named = [properties[key]] if key in properties else []
    named += [
        inner
        for pattern, inner in schema.get("patternProperties", {}).items()
        if _matches(pattern, key)
    ]
    return {"allOf": named} if named else schema.get("additionalProperties", True)


def _matches(pattern: str, key: str) -> bool:
    """Whether the pattern matches `key`, in linear time, as in the validation."""
    from uwf_core.cas.schemas import pattern_schema

    return not pattern_schema(pattern).violations(key)


def _named_types(schema: Mapping[str, Any]) -> frozenset[str]:
    if "type" not in schema:
        return _ALL
    named = schema["type"]
    types = frozenset((named,) if isinstance(named, str) else named)
    return types | {"integer"} if "number" in types else types


def type_of(value: Any) -> str:
    """The JSON type of a value; a whole number is `integer`, however it is written."""
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, (int, float)):
        return "integer" if value == value // 1 else "number"
    if value is None:
        return "null"
    if isinstance(value, str):
        return "string"
    return "object" if isinstance(value, Mapping) else "array"
