"""What may stand in a task file: each key with its kind. Every fault is told, with its place.

Our own reader and not a library of models: those take longer to import than a trial takes.
"""

from collections.abc import Callable, Mapping
from typing import Any, Final

from uwf_core.definitions import (
    Problem,
    YamlMapping,
    YamlNode,
    YamlScalar,
    YamlSequence,
    error_at,
    is_bad_number,
    suggestion,
    to_value,
)

ABSENT: Final = object()
"""What a kind gives for a value that does not fit: the fault is told."""

Problems = list[Problem]
Kind = Callable[[YamlNode, str, Problems], Any]
"""Reads a node: (node, its dotted path for messages, where faults go) -> value or `ABSENT`."""


class Key:
    """A key of a mapping: its kind, and whether it must be there."""

    __slots__ = ("kind", "required")

    def __init__(self, kind: Kind, *, required: bool = False) -> None:
        self.kind = kind
        self.required = required


def text(node: YamlNode, path: str, problems: Problems) -> Any:
    """A text that is not blank."""
    if not isinstance(node, YamlScalar) or not isinstance(node.value, str):
        return _wrong(node, path, "text", problems)
    if not node.value.strip():
        return _fault(node, "blank-text", f"{path} is blank", "write a text", problems)
    return node.value


def any_text(node: YamlNode, path: str, problems: Problems) -> Any:
    """A text, which may be blank; nothing at all is blank."""
    if isinstance(node, YamlScalar) and node.value is None:
        return ""
    if not isinstance(node, YamlScalar) or not isinstance(node.value, str):
        return _wrong(node, path, "text", problems)
    return node.value


def number(least: float, most: float = 1e12, *, above: bool = False, whole: bool = False) -> Kind:
    """A number from `least` (with `above`: beyond it) to `most`."""

    def read(node: YamlNode, path: str, problems: Problems) -> Any:
        value = node.value if isinstance(node, YamlScalar) else None
        wanted = int if whole else (int, float)
        if not isinstance(value, wanted) or isinstance(value, bool):
            return _wrong(node, path, "a whole number" if whole else "a number", problems)
        if not (value > least if above else value >= least) or not value <= most:
            low = f"above {least:g}" if above else f"at least {least:g}"
            high = "" if most == 1e12 else f" and at most {most:g}"
            return _fault(node, "bad-value", f"{path} must be {low}{high}", "", problems)
        return value if whole else float(value)

    return read


def listed(kind: Kind) -> Kind:
    """A list of values of one kind."""

    def read(node: YamlNode, path: str, problems: Problems) -> Any:
        if isinstance(node, YamlScalar) and node.value is None:
            return []
        if not isinstance(node, YamlSequence):
            return _wrong(node, path, "a list", problems)
        items = [kind(each, f"{path}.{place}", problems) for place, each in enumerate(node.items)]
        return [each for each in items if each is not ABSENT]

    return read


def named(kind: Kind) -> Kind:
    """A mapping from free names to values of one kind."""

    def read(node: YamlNode, path: str, problems: Problems) -> Any:
        if not isinstance(node, YamlMapping):
            return _wrong(node, path, "a mapping", problems)
        values = {key: kind(each, f"{path}.{key}", problems) for key, each in node.values.items()}
        return {key: value for key, value in values.items() if value is not ABSENT}

    return read


def data(node: YamlNode, path: str, problems: Problems) -> Any:
    """A mapping that is not ours to check; all its numbers can be stored."""
    if not isinstance(node, YamlMapping):
        return _wrong(node, path, "a mapping", problems)
    stack: list[YamlNode] = [node]
    while stack:
        each = stack.pop()
        if isinstance(each, YamlMapping):
            stack.extend(each.values.values())
        elif isinstance(each, YamlSequence):
            stack.extend(each.items)
        elif isinstance(each, YamlScalar) and is_bad_number(each.value):
            message = f"the number {each.text} cannot be stored exactly"
            _fault(each, "bad-number", message, "put it in quotes", problems)
    return to_value(node)


def keyed(keys: Mapping[str, Key], *, extensions: bool = False) -> Kind:
    """A mapping of known keys; with `extensions`, keys `x-…` are passed over."""

    def read(node: YamlNode, path: str, problems: Problems) -> Any:
        if not isinstance(node, YamlMapping):
            return _wrong(node, path or "the file", "a mapping", problems)
        values: dict[str, Any] = {}
        for key, each in node.values.items():
            if key in keys:
                value = keys[key].kind(each, f"{path}.{key}".lstrip("."), problems)
                if value is not ABSENT:
                    values[key] = value
            elif not (extensions and key.startswith("x-")):
                within = f" in {path}" if path else ""
                problems.append(
                    error_at(node.keys[key].place, "unknown-key",
                             f"unknown key {key!r}{within}", suggestion(key, keys))
                )  # fmt: skip
        for key, known in keys.items():
            if known.required and key not in node.values:
                within = f" in {path}" if path else ""
                message = f"the key {key!r} is missing{within}"
                _fault(node, "missing-key", message, f"add `{key}:`", problems)
        return values

    return read


def _wrong(node: YamlNode, path: str, wanted: str, problems: Problems) -> Any:
    if isinstance(node, YamlScalar) and node.tag is not None:
        return ABSENT  # an include that failed: told already
    message = f"{path} must be {wanted}, not {_kind_of(node)}"
    quoted = wanted == "text" and isinstance(node, YamlScalar) and node.value is not None
    return _fault(node, "wrong-type", message, "put it in quotes" if quoted else "", problems)


def _fault(node: YamlNode, code: str, message: str, hint: str, problems: Problems) -> Any:
    problems.append(error_at(node.place, code, message, hint))
    return ABSENT


def _kind_of(node: YamlNode) -> str:
    if isinstance(node, YamlMapping):
        return "a mapping"
    if isinstance(node, YamlSequence):
        return "a list"
    value = node.value if isinstance(node, YamlScalar) else None
    if value is None:
        return "empty"
    if isinstance(value, bool):
        return f"the truth value {str(value).lower()}"
    return "text" if isinstance(value, str) else f"the number {value}"
