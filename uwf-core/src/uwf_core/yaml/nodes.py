"""The nodes of a YAML document with their places, and the YAML 1.2 core schema. A JSON Schema can
decide the type of a value.
"""

import math
import re
from collections.abc import Mapping
from typing import Any

from uwf_core.fields.records import LONGEST_INTEGER, integer
from uwf_core.yaml.problem import Place

_MAX_EXACT = 2**53 - 1
# Patterns, compiled when a first scalar needs them: most files that every command reads have none.
_BASED = r"0(?:x[0-9a-fA-F]+|o[0-7]+)\Z"
_FLOAT = r"[-+]?(?:\.[0-9]+|(?:0|[1-9][0-9]*)(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?\Z"
_WORDS: dict[str, Any] = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL")),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
    **dict.fromkeys((".inf", ".Inf", ".INF", "+.inf", "+.Inf", "+.INF"), float("inf")),
    **dict.fromkeys(("-.inf", "-.Inf", "-.INF"), float("-inf")),
    **dict.fromkeys((".nan", ".NaN", ".NAN"), float("nan")),
}


class YamlNode:
    """A value with its place: `YamlScalar`, `YamlSequence` or `YamlMapping`.

    `size` counts the nodes in it and `height` the levels below it, aliases expanded.
    """

    __slots__ = ("height", "place", "size")

    def __init__(self, place: Place) -> None:
        self.place = place
        self.size = 1
        self.height = 0


class YamlScalar(YamlNode):
    """A scalar: `text` is its source text (escapes and folding done), `value` the typed value.

    `style` is "" for a plain scalar, else `'`, `"`, `|` or `>`; `tag` is None or `!include`.
    `whole` is `text`, with the comments that may belong to a plain scalar.
    """

    __slots__ = ("style", "tag", "text", "value", "whole")

    def __init__(
        self,
        place: Place,
        text: str,
        style: str = "'",
        tag: str | None = None,
        whole: str | None = None,
    ) -> None:
        super().__init__(place)
        self.text = text
        self.whole = text if whole is None else whole
        self.style = style
        self.tag = tag
        self.value: Any = text if style or tag else plain_value(text)

    @property
    def plain(self) -> bool:
        """Whether it was unquoted, so that its text was read as a type."""
        return self.style == ""


class YamlSequence(YamlNode):
    """A list of nodes."""

    __slots__ = ("items",)

    def __init__(self, place: Place, items: list[YamlNode]) -> None:
        super().__init__(place)
        self.items = items
        self.size += sum(item.size for item in items)
        self.height = 1 + max((item.height for item in items), default=0)


class YamlMapping(YamlNode):
    """A mapping with text keys: `keys[name]` is the key's node, `values[name]` the value's.

    Merge keys are already merged; a merged value keeps its original place.
    """

    __slots__ = ("keys", "values")

    def __init__(
        self, place: Place, keys: dict[str, YamlScalar], values: dict[str, YamlNode]
    ) -> None:
        super().__init__(place)
        self.keys = keys
        self.values = values
        self.size += sum(1 + value.size for value in values.values())
        self.height = 1 + max((value.height for value in values.values()), default=0)


def plain_value(text: str) -> Any:
    """The value of an unquoted scalar in the YAML 1.2 core schema: null, bool, number or text.

    Numbers with leading zeros (`010`, `007.5`) stay text, since they are names more often.
    """
    if text in _WORDS:
        return _WORDS[text]
    if text[0] not in "0123456789+-.":
        return text
    digits = text[1:] if text[0] in "+-" else text
    if digits.isascii() and digits.isdigit() and (digits[0] != "0" or digits == "0"):
        return integer(text)
    if re.match(_BASED, text):
        return int(text, 0) if len(text) <= LONGEST_INTEGER else float("inf")
    return float(text) if re.match(_FLOAT, text) else text


def to_value(node: YamlNode) -> Any:
    """The node as plain JSON-like data (dict, list, str, int, float, bool, None), all of it new."""
    if isinstance(node, YamlMapping):
        return {key: to_value(value) for key, value in node.values.items()}
    if isinstance(node, YamlSequence):
        return [to_value(item) for item in node.items]
    assert isinstance(node, YamlScalar)
    return node.value


def is_bad_number(value: Any) -> bool:
    """Whether it is a number that JSON cannot represent exactly: infinite, NaN, beyond 2^53."""
    if isinstance(value, float):
        return not math.isfinite(value)
    return isinstance(value, int) and abs(value) > _MAX_EXACT


# -- values by a schema ----------------------------------------------------------------------------
# A value is its source text if the schema allows text but not the typed value: `version: 1.0` is
# text if the schema requires text, and a commit id may have only digits.

_ALL = frozenset(("string", "integer", "number", "boolean", "null", "array", "object"))
_ALTERNATIVES = ("anyOf", "oneOf")


def value_of(node: YamlNode, schema: Any) -> Any:
    """The value of `node`, typed by `schema`; it is not validated yet."""
    if isinstance(node, YamlMapping):
        return {name: value_of(each, at(schema, name)) for name, each in node.values.items()}
    if isinstance(node, YamlSequence):
        items = [each for each in node.items if not _is_comment(each, at(schema, 0))]
        return [value_of(each, at(schema, index)) for index, each in enumerate(items)]
    assert isinstance(node, YamlScalar)
    if node.whole != node.text:
        texts = texts_of(schema)
        if texts is None or node.whole in texts:
            return node.whole
    allowed = types_of(schema)
    is_other = node.plain and not isinstance(node.value, str) and type_of(node.value) not in allowed
    return node.text if is_other and "string" in allowed else node.value


def _is_comment(node: YamlNode, schema: Any) -> bool:
    """Whether an item is a comment alone, because the schema allows only certain values."""
    is_bare = isinstance(node, YamlScalar) and node.plain and not node.text and node.whole
    return bool(is_bare) and texts_of(schema) is not None


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
    return _all_of(said) if said else True


def types_of(schema: Any) -> frozenset[str]:
    """The JSON types that `schema` allows; whole numbers are only `integer`."""
    if schema is False:
        return frozenset()
    if not isinstance(schema, Mapping):
        return _ALL
    allowed = _named_types(schema)
    if "const" in schema:
        allowed &= {type_of(schema["const"])}
    if "enum" in schema and isinstance(schema["enum"], list):
        allowed &= {type_of(each) for each in schema["enum"]}
    if "allOf" in schema and isinstance(schema["allOf"], list):
        for each in schema["allOf"]:
            allowed &= types_of(each)
    for word in _ALTERNATIVES:
        if word in schema and schema[word] and isinstance(schema[word], list):
            allowed &= frozenset().union(*(types_of(each) for each in schema[word]))
    return allowed


def texts_of(schema: Any) -> frozenset[str] | None:
    """The texts that `schema` names with `const` or `enum`; None if it allows others as well."""
    if not isinstance(schema, Mapping):
        return frozenset() if schema is False else None
    if "string" not in _named_types(schema):
        return frozenset()
    parts: list[frozenset[str] | None] = [
        frozenset(each for each in listed if isinstance(each, str))
        for listed in ([schema["const"]] if "const" in schema else None, schema.get("enum"))
        if isinstance(listed, list)
    ]
    parts += map(texts_of, schema.get("allOf", ()))
    for word in _ALTERNATIVES:
        if schema.get(word):
            choices = [texts_of(each) for each in schema[word]]
            known = [each for each in choices if each is not None]
            parts.append(frozenset().union(*known) if len(known) == len(choices) else None)
    named = [each for each in parts if each is not None]
    return frozenset.intersection(*named) if named else None


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
    return _all_of(named) if named else schema.get("additionalProperties", True)


def _all_of(schemas: list[Any]) -> Any:
    return schemas[0] if len(schemas) == 1 else {"allOf": schemas}


def _matches(pattern: str, key: str) -> bool:
    """Whether the pattern matches `key`, in linear time, as in the validation."""
    from uwf_core.cas.schemas import pattern_schema

    return not pattern_schema(pattern).violations(key)


def _named_types(schema: Mapping[str, Any]) -> frozenset[str]:
    if "type" not in schema:
        return _ALL
    named = schema["type"]
    if isinstance(named, str):
        return frozenset(("number", "integer")) if named == "number" else frozenset((named,))
    listed = named if isinstance(named, list) else []  # checks meet schemas that are not valid
    types = frozenset(each for each in listed if isinstance(each, str))
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
