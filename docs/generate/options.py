"""Tables of options, read from a class and its docstring."""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import MISSING, Field, fields, is_dataclass
from typing import Any

from generate.tables import table
from uwf_core.fields.records import camel

_ATTRIBUTE = re.compile(r"^    (\w+(?:, \w+)*): ", re.MULTILINE)
_CODE = re.compile(r"`(\w+)`")


def options_table(cls: type) -> str:
    """The options of a plugin, each with its default and the meaning that `Attributes` gives."""
    return table(["option", "default", "meaning"], _rows(cls))


def opening(cls: type) -> str:
    """The docstring of a class before its `Attributes`, with the options as users write them."""
    text = (cls.__doc__ or "").partition("Attributes:")[0]
    return _CODE.sub(lambda match: f"`{camel(match[1])}`", " ".join(text.split()))


def _rows(cls: type) -> Iterator[tuple[str, str, str]]:
    meanings: dict[str, str] = {}
    for each in reversed(cls.__mro__[:-1]):
        meanings |= attributes(each.__doc__ or "")
    for field in fields(cls):
        yield f"`{camel(field.name)}`", default_of(field), meanings.get(field.name, "")


def attributes(docstring: str) -> dict[str, str]:
    """The meaning of each attribute in the docstring of a record."""
    indented = docstring.partition("Attributes:\n")[2].replace("\n    ", "\n")
    parts = _ATTRIBUTE.split(f"\n{indented.removeprefix('    ')}")[1:]
    pairs = zip(parts[::2], parts[1::2], strict=True)
    return {name: text for names, text in pairs for name in names.split(", ")}


def default_of(field: "Field[Any]") -> str:
    """The default of a field as Markdown."""
    value = field.default
    if field.default_factory is not MISSING:
        value = field.default_factory()
    match value:
        case value if value is MISSING:
            return "required"
        case None | () | "":
            return "–"
        case float():
            return f"`{value:g}`"
        case bool() | str() | int():
            return f"`{json.dumps(value)}`"
        case Mapping():
            return f"`{json.dumps(dict(value))}`"
        case tuple() | list() if all(isinstance(each, str) for each in value):
            return ", ".join(f"`{each}`" for each in value)
        case value if is_dataclass(value):
            return f"`{type(value).__name__}()`"
        case _:
            return "–"
