"""The page of the documents: the JSON Schema of what each operation prints with `--format json`."""

import inspect
import json
import re
import types
import typing
from collections.abc import Mapping, Sequence
from enum import Enum
from functools import cache
from importlib import import_module
from textwrap import dedent
from typing import (
    Annotated,
    Any,
    Final,
    ForwardRef,
    Literal,
    NotRequired,
    Required,
    get_args,
    get_origin,
)

from uwf_core.operations.plugin_rows import plugin_data
from uwf_core.operations.rows import function_of, own_rows

INTRODUCTION = """\
# Documents

The JSON Schema of the document that each command prints with `--format json`. New keys may be
added. [Commands](cli.md) has their help.
"""
_SIMPLE: Final = {
    str: "string",
    int: "integer",
    float: "number",
    bool: "boolean",
    type(None): "null",
}


def markdown() -> str:
    """The whole page."""
    parts = [INTRODUCTION]
    for path, schema in schemas().items():
        text = json.dumps(schema, indent=1, ensure_ascii=False)
        parts.append(f"## uwf {path.replace('.', ' ')}\n\n```json\n{text}\n```\n")
    return "\n".join(parts)


def schemas() -> dict[str, dict[str, Any]]:
    """The schema of the document of each operation by its path."""
    found = {}
    for data in (own_rows(), *plugin_data().values()):
        for path, row in data["operations"].items():
            if "target" in row:
                found[path] = _document(row)
    return found


def _document(row: Mapping[str, Any]) -> dict[str, Any]:
    """The schema of the document of an operation, from the type of what its target returns."""
    function = function_of(row["target"])
    schema = _schema(inspect.signature(function).return_annotation, function.__module__)
    if "key" in row and schema.get("type") != "object":
        schema = {"type": "object", "properties": {row["key"]: schema}, "required": [row["key"]]}
    return schema


def _schema(kind: Any, module: str) -> dict[str, Any]:
    """The schema of a type as a module names it."""
    if isinstance(kind, str | ForwardRef):
        text = kind if isinstance(kind, str) else kind.__forward_arg__
        module = getattr(kind, "__forward_module__", None) or module
        return _schema(eval(text.strip('"'), _names_of(module)), module)
    origin, arguments = get_origin(kind), get_args(kind)
    if kind in _SIMPLE:
        return {"type": _SIMPLE[kind]}
    if origin is Literal:
        return {"enum": list(arguments)}
    if origin in (NotRequired, Required, Annotated):
        return _schema(arguments[0], module)
    if origin in (types.UnionType, typing.Union):
        return _union([_schema(each, module) for each in arguments])
    if typing.is_typeddict(kind):
        return _record(kind)
    if isinstance(origin, type) and issubclass(origin, Mapping):
        value = _schema(arguments[1], module)
        return {"type": "object", **({"additionalProperties": value} if value else {})}
    if isinstance(origin, type):  # a list or an iterator
        return {"type": "array", "items": _schema(arguments[0], module)}
    if "document" in getattr(kind, "_fields", ()):  # an outcome
        return _schema(kind.__annotations__["document"], kind.__module__)
    kind = getattr(kind, "__supertype__", kind)
    is_text = isinstance(kind, type) and issubclass(kind, str | Enum)
    return {"type": "string"} if is_text else {}


def _record(kind: Any) -> dict[str, Any]:
    keys = kind.__annotations__.items()
    properties = {name: _schema(each, kind.__module__) for name, each in keys}
    required = [name for name in properties if name in kind.__required_keys__]
    return {"type": "object", "properties": properties, "required": required}


def _union(members: Sequence[dict[str, Any]]) -> dict[str, Any]:
    if {} in members:
        return {}
    if all(list(each) == ["type"] for each in members):
        return {"type": [each["type"] for each in members]}
    return {"anyOf": [*members]}


@cache
def _names_of(module: str) -> dict[str, Any]:
    """The names of a module, with those that it imports for type checkers alone."""
    found = import_module(module)
    names = {**vars(typing), **vars(found)}
    pattern = r"^if TYPE_CHECKING:\n((?:    .*\n|\n)+)"
    if block := re.search(pattern, inspect.getsource(found), re.MULTILINE):
        exec(dedent(block[1]), names)
    return names
