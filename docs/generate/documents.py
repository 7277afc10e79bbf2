"""The page of the documents: the JSON Schema of what each operation prints with `--format json`."""

import dataclasses
import inspect
import json
import re
import types
import typing
from collections import ChainMap
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

import uwf_eval.operations
import uwf_explain.operations
import uwf_improve.operations
import uwf_worker.operations
from uwf_core.cli.setup import SetupDocument
from uwf_core.engine.documents import WatchedEnd, WatchedStatus, WatchedStep, WatchedTurn
from uwf_core.fields.records import camel
from uwf_core.operations import all as own
from uwf_core.operations.declare import Operation, Table
from uwf_core.operations.rows import function_of
from uwf_core.views.worktree import WorktreeDiff
from uwf_improve.distill.write import DraftDocument, DraftPrompt
from uwf_testing.new_plugin import NewPluginDocument
from uwf_web.command import WebDocument, WebStopped
from uwf_worker.cli.start import DrainedDocument

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


TABLES: Final = (
    ("", own),
    ("", uwf_explain.operations),
    ("", uwf_worker.operations),
    ("eval.", uwf_eval.operations),
    ("improve.", uwf_improve.operations),
)
"""The prefix of the paths of a table, and its module."""

COMMANDS: Final[Mapping[str, Any]] = {
    "distill": DraftDocument | DraftPrompt,
    "plugin.new": NewPluginDocument,
    "setup": SetupDocument,
    "watch": WatchedStep | WatchedTurn | WatchedStatus | WatchedEnd,
    "web": WebDocument | WebStopped,
    "worker.start": DrainedDocument,
}
"""The documents of plain commands; `watch` prints one in each line."""


def markdown() -> str:
    """The whole page."""
    parts = [INTRODUCTION]
    for path, schema in schemas().items():
        text = json.dumps(schema, indent=1, ensure_ascii=False)
        parts.append(f"## uwf {path.replace('.', ' ')}\n\n```json\n{text}\n```\n")
    return "\n".join(parts)


@cache
def schemas() -> dict[str, dict[str, Any]]:
    """The schema of the document of each operation by its path."""
    found = {
        f"{group}{each.path}": _document(each, module.TABLE)
        for group, module in TABLES
        for each in module.TABLE.operations
    }
    of_one_and_two = (WorktreeDiff.document, uwf_explain.diff)  # the core has that of one thread
    returned = [(inspect.signature(each).return_annotation, each) for each in of_one_and_two]
    found |= {path: _schema(kind, "typing") for path, kind in COMMANDS.items()}
    found["thread.diff"] = _union([_schema(kind, each.__module__) for kind, each in returned])
    return {path: schema for path, schema in sorted(found.items()) if schema}


def _document(operation: Operation, table: Table) -> dict[str, Any]:
    """The schema of the document of an operation, from the type of what its target returns, or, if
    the command line runs it, of its declaration; {} if it has none.
    """
    function: Any = operation.arguments
    if operation.target and function is not None:
        function = function_of(table.target(operation))
    if function is None:
        return {}
    schema = _schema(inspect.signature(function).return_annotation, function.__module__)
    if operation.key and schema.get("type") != "object":
        key = operation.key
        schema = {"type": "object", "properties": {key: schema}, "required": [key]}
    return schema


def _schema(kind: Any, module: str) -> dict[str, Any]:
    """The schema of a type as a module names it."""
    if isinstance(kind, str | ForwardRef):
        text = kind if isinstance(kind, str) else kind.__forward_arg__
        module = getattr(kind, "__forward_module__", None) or module
        return _schema(eval(text.strip('"'), _names_of(module)), module)
    kind = _as_list(kind)
    origin, arguments = get_origin(kind), get_args(kind)
    if kind in _SIMPLE:
        return {"type": _SIMPLE[kind]}
    if origin is Literal:
        return {"enum": list(arguments)}
    if origin in (NotRequired, Required, Annotated):
        return _marked(arguments[0], arguments[1:], module)
    if origin in (types.UnionType, typing.Union):
        return _union([_schema(each, module) for each in arguments])
    if "document" in getattr(kind, "_fields", ()):  # an outcome
        return _schema(kind.__annotations__["document"], kind.__module__)
    if _is_record(kind):
        return _record(kind)
    if isinstance(origin, type) and issubclass(origin, Mapping):
        value = _schema(arguments[1], module)
        return {"type": "object", **({"additionalProperties": value} if value else {})}
    if isinstance(origin, type):  # a list or an iterator
        return {"type": "array", "items": _schema(arguments[0], module)}
    kind = getattr(kind, "__supertype__", kind)
    is_text = isinstance(kind, type) and issubclass(kind, str | Enum)
    return {"type": "string"} if is_text else {}


def _as_list(kind: Any) -> Any:
    """`Sequence[X]` of a class that is one, else the type itself."""
    is_list = isinstance(kind, type) and issubclass(kind, Sequence) and not _is_record(kind)
    return getattr(kind, "__orig_bases__", (kind,))[0] if is_list else kind


def _is_record(kind: Any) -> bool:
    is_tuple = isinstance(kind, type) and hasattr(kind, "_fields")
    return is_tuple or typing.is_typeddict(kind) or dataclasses.is_dataclass(kind)


def _marked(kind: Any, marks: Sequence[Any], module: str) -> dict[str, Any]:
    """The schema of a type with marks: those that are records name the keys of a mapping."""
    named = [each for each in marks if _is_record(each)]
    if not named:
        return _schema(kind, module)
    found = [_schema(each, module)["properties"] for each in named]
    return {"type": "object", "properties": _some_keys(dict(ChainMap(*found)))}


def _some_keys(schema: Any) -> Any:
    """A schema in which no key of an object is required, at any depth."""
    if isinstance(schema, list):
        return [_some_keys(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    kept = (key for key, each in schema.items() if key != "required" or isinstance(each, dict))
    return {key: _some_keys(schema[key]) for key in kept}


def _record(kind: Any) -> dict[str, Any]:
    """The schema of a TypedDict, or of a record as `write_record` writes it."""
    name_of = str if typing.is_typeddict(kind) else camel
    kinds: dict[str, Any] = kind.__annotations__
    if dataclasses.is_dataclass(kind):  # with the fields of its bases
        kinds = {each.name: each.type for each in dataclasses.fields(kind) if each.init}
    properties = {name_of(name): _schema(each, kind.__module__) for name, each in kinds.items()}
    needed = getattr(kind, "__required_keys__", kinds)
    required = [name_of(each) for each in kinds if each in needed]
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
