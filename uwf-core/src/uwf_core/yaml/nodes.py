"""The nodes of a YAML document with their places, and the YAML 1.2 core schema."""

import math
import re
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
