"""`python -m uwf_testing.operations MODULE…`: the data file of the table of operations that a
module has as `TABLE`, beside it; of uwf's own table also the methods of the client
and the schemas of the nodes.

Help, completion and the commands read the data file, and import no table.
"""

import ast
import inspect
import json
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any, Final, Literal, get_args, get_origin, get_type_hints

from uwf_core.fields.records import payload_schema
from uwf_core.operations.declare import Bounds, Kind, Operation, Table, Tool
from uwf_core.thread.types import NODES
from uwf_core.workflow.definition import Workflow

OWN: Final = "uwf_core.operations.all"
_EMPTY: Final = inspect.Parameter.empty


class _Argument:
    """An argument of an operation: its type without marks, and what marks it."""

    def __init__(self, name: str, annotation: Any, default: Any, *, named: bool) -> None:
        self.name, self.default, self.named = name, default, named
        self.type, marks = _unwrapped(annotation)
        self.help = next((each for each in reversed(marks) if isinstance(each, str)), "")
        self.bounds = next((each for each in marks if isinstance(each, Bounds)), Bounds())
        self.kind = Kind()
        for mark in marks:
            if isinstance(mark, Kind):
                given = {key: value for key, value in mark._asdict().items() if value}
                self.kind = self.kind._replace(**given)

    @property
    def members(self) -> Sequence[Any]:
        """The types that its value may have, without None."""
        origin = get_origin(self.type)
        parts = get_args(self.type) if origin not in (Literal, None) and _is_union(origin) else ()
        return [each for each in parts or (self.type,) if each is not type(None)]

    def row(self) -> dict[str, Any]:
        """What the command line knows about it; nothing that is false or empty."""
        kind, first = self.kind, self.members[0]
        many = get_origin(first) in _SEQUENCES
        item = get_args(first)[0] if many else first
        options = list(kind.options)
        if not options and self.named:
            no = "no-" if self.default is True else ""
            options = [f"--{no}{self.name.replace('_', '-')}"]
        choices = [*get_args(item)] if get_origin(item) is Literal else []
        is_flag = item is bool
        metavar = kind.metavar or (self.name.upper() if options and not is_flag else "")
        row = {
            "name": self.name,
            "options": options,
            "help": self.help,
            "metavar": "" if is_flag or (choices and not kind.metavar) else metavar,
            "kind": kind.name,
            "words": "" if is_flag else kind.words or _WORDS.get(metavar.strip("[]…"), ""),
            "into": kind.into,
            "hidden": kind.hidden,
            "flag": is_flag,
            "off": is_flag and self.default is True,
            "choices": choices,
            "type": item.__name__ if item in (int, float) else "",
            "least": self.bounds.least,
            "most": self.bounds.most,
            "open": self.bounds.open,
            "many": many or kind.name in _REPEATED,
            "required": self.default is _EMPTY,
        }
        found = _filled(row)
        if self.default != () and not any(self.default is each for each in _NO_DEFAULT):
            found["default"] = self.default
        return found


_NO_DEFAULT: Final = (_EMPTY, None, False, True)
_SEQUENCES: Final = (Sequence, list, tuple)
_REPEATED: Final = ("tags", "fields", "answer", "texts", "bindings")
_WORDS: Final = {
    **{name: name.lower() for name in ("THREAD", "STEP", "WORKFLOW", "AGENT", "FILE", "DIR")},
    "TYPE": "type",
    "KEY": "setting",
    "PLUGIN": "plugin",
}
"""What completes a value, by its name in the help."""


def _is_union(origin: Any) -> bool:
    return str(getattr(origin, "__name__", origin)) in ("Union", "UnionType")


def _unwrapped(annotation: Any) -> tuple[Any, list[Any]]:
    """A type without marks, at any depth of unions, and the marks from the inside out."""
    if get_origin(annotation) is Annotated:
        inner, *marks = get_args(annotation)
        found, below = _unwrapped(inner)
        return found, [*below, *marks]
    if _is_union(get_origin(annotation)):
        parts = [_unwrapped(each) for each in get_args(annotation)]
        union: Any = parts[0][0]
        for part, _ in parts[1:]:
            union = union | part
        return union, [mark for _, marks in parts for mark in marks]
    return annotation, []


def arguments_of(operation: Operation) -> Iterator[_Argument]:
    """The arguments of an operation in order; those of a shared set stand at the end."""
    assert operation.arguments is not None
    for name, each in inspect.signature(operation.arguments).parameters.items():
        annotation = each.annotation
        if isinstance(annotation, str):
            scope = vars(import_module(operation.arguments.__module__))
            annotation = eval(annotation, scope)
        if each.kind is inspect.Parameter.VAR_KEYWORD:
            shared = get_type_hints(get_args(annotation)[0], include_extras=True)
            for key, value in shared.items():
                optional = False if _unwrapped(value)[0] is bool else None
                yield _Argument(key, value, optional, named=True)
        else:
            named = each.kind is inspect.Parameter.KEYWORD_ONLY
            yield _Argument(name, annotation, each.default, named=named)


def _filled(row: Mapping[str, Any]) -> dict[str, Any]:
    """A row without what is false or empty; a bound may be 0."""
    return {key: each for key, each in row.items() if each or (each == 0 and each is not False)}


def rows_of(table: Table) -> dict[str, Any]:
    """The data file of a table."""
    order = [name for names in table.sections.values() for name in names]

    def place(operation: Operation) -> tuple[int, str]:
        top = operation.path.partition(".")[0]
        return order.index(top) if top in order else len(order), operation.path

    return {
        "sections": dict(table.sections),
        "groups": dict(table.groups),
        "operations": {
            each.path: _row(each, table) for each in sorted(table.operations, key=place)
        },
    }


def _row(operation: Operation, table: Table) -> dict[str, Any]:
    """All that the command line needs to know without an import."""
    if operation.arguments is None:
        return _plain_row(operation, table.package)
    help, examples = help_of(operation)
    row: dict[str, Any] = {
        "summary": _summary(help),
        "help": help,
        "examples": examples,
        "target": table.target(operation) if operation.target else "",
        "run": f"{table.texts}.{operation.run}" if operation.run else "",
        "text": _text_target(operation.text, table.texts),
        "key": operation.key,
        "exit": list(operation.exit),
        "document": operation.document,
        "logged": operation.logged,
        "formats": list(operation.formats),
        "permission": operation.permission,
        "returns": _return_of(operation),
        "arguments": [each.row() for each in arguments_of(operation) if each.kind.only in _OF_CLI],
        "tools": [_tool(operation, each) for each in operation.mcp],
    }
    return {"arguments": [], **_filled(row)}


_OF_CLI: Final = ("", "cli")


def _tool(operation: Operation, tool: Tool) -> dict[str, Any]:
    """A tool for models, beside the arguments of its operation."""
    assert operation.arguments is not None
    told = re.findall(r"^ *> (.*)$", operation.arguments.__doc__ or "", re.MULTILINE)
    _learn_types(operation.arguments.__module__)
    names = re.findall(r"\w+", _return_of(operation))
    row = {
        "name": tool.name,
        "takes": tool.takes.split(),
        "text": tool.text or " ".join(told) or " ".join(help_of(operation)[0].split()),
        "permission": tool.permission or operation.permission,
        "pages": tool.pages or operation.key,
        "client": operation.client,
        "document": next(
            (f"{_DOCUMENTS[name]}:{name}" for name in names if name in _DOCUMENTS), ""
        ),
        "arguments": [each.row() for each in arguments_of(operation) if each.kind.only == "models"],
    }
    return _filled(row)


def help_of(operation: Operation) -> tuple[str, list[str]]:
    """The help of an operation, and its examples."""
    assert operation.arguments is not None
    lines = inspect.cleandoc(operation.arguments.__doc__ or "").split("\n")
    examples = [each.removeprefix("$ ") for each in lines if each.startswith("$ ")]
    help = "\n".join(each for each in lines if not each.startswith(("$ ", "> ")))
    return re.sub(r"\n{3,}", "\n\n", help).strip(), examples


def _summary(help: str) -> str:
    """The beginning of a help, up to the first stop, colon or semicolon: a line for lists."""
    return re.split(r"[.:;](?= |$)", " ".join(help.partition("\n\n")[0].split()))[0]


def _text_target(text: str, folder: str) -> str:
    return f"{folder}.{text}" if text and "{" not in text else text


def _return_of(operation: Operation) -> str:
    found = inspect.signature(operation.arguments).return_annotation  # type: ignore[arg-type]
    text = found if isinstance(found, str) else inspect.formatannotation(found)
    return text.replace("typing.", "").replace("collections.abc.", "")


def _plain_row(operation: Operation, package: str) -> dict[str, Any]:
    """The row of a plain command, from its own help and options."""
    target = f"{package}.{operation.target}"
    module, _, attribute = target.partition(":")
    command = getattr(import_module(module), attribute)
    row: dict[str, Any] = {
        "summary": _summary((command.help or "").strip()),
        "command": target,
        "hidden": operation.hidden,
        "arguments": [found for each in command.params if (found := _plain_argument(each))],
    }
    return {"arguments": [], **_filled(row)}


def _plain_argument(parameter: Any) -> dict[str, Any] | None:
    """An option or argument of a plain command; None for those of every command."""
    options = [each for each in parameter.opts if each.startswith("-")]
    if {"--color", "--debug", "--help"} & {*options} or options == ["--format"]:
        return None
    metavar = parameter.metavar or ""
    choices = list(getattr(parameter.type, "choices", ()))
    found = {
        "options": options,
        "flag": getattr(parameter, "is_flag", False),
        "hidden": getattr(parameter, "hidden", False),
        "choices": choices,
        "words": _WORDS.get(metavar.strip("[]…"), _PLAIN_WORDS.get("".join(options), "")),
        "many": parameter.nargs == -1,
    }
    return _filled(found)


_PLAIN_WORDS: Final = {"--provider": "provider", "--agent": "agent"}


def methods_of(table: Table) -> str:
    """The source of the client's methods."""
    typed = "\n\n".join(_method(each, table.package) for each in table.operations if each.client)
    names = sorted(set(_names_in(typed)))
    imports = "\n".join(f"    from {module} import {name}" for module, name in names)
    return _MODULE.format(imports=imports, methods=typed)


_MODULE: Final = '''\
"""Generated by `python -m uwf_testing.operations`: the methods of the client."""
# ruff: noqa
# mypy: disable-error-code="no-any-return"

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

from uwf_core.operations.caller import OperationCaller

if TYPE_CHECKING:
{imports}


class Operations(OperationCaller):
    """What a client can do: the operations of uwf."""

{methods}
'''
_DOCUMENTS: Final[dict[str, str]] = {}


def _names_in(source: str) -> Iterator[tuple[str, str]]:
    for name in set(re.findall(r"-> .*", source)) | {"Cancel" if "Cancel" in source else ""}:
        for word in re.findall(r"[A-Z]\w+", name):
            if word in _DOCUMENTS:
                yield _DOCUMENTS[word], word


def _method(operation: Operation, package: str) -> str:
    """A method: the arguments as the function declares them, and its call."""
    function, given = operation.arguments, list[str]()
    assert function is not None
    _learn_types(function.__module__)
    cancels = _cancels(f"{package}.{operation.target}")
    words, star = ["self"], False
    for each in arguments_of(operation):
        if each.kind.only in ("cli", "models") or each.kind.into:
            continue
        if each.named and not star:
            words, star = [*words, "*"], True
        default = "" if each.default is _EMPTY else f" = {each.default!r}"
        words.append(f"{each.name}: {_type_text(each)}{default}")
        given.append(each.name)
    if cancels:
        words += ([] if star else ["*"]) + ["cancel: Cancel | None = None"]
        given.append("cancel")
    passed = [repr(f"{package}.{operation.target}"), repr(operation.key)]
    passed += [f"{name}={name}" for name in given]
    help, examples = help_of(operation)
    doc = "\n".join([help, "", *(f"$ {each}" for each in examples)]).replace("\n", "\n        ")
    doc = doc.replace("\n        \n", "\n\n")
    end = "\n        " if "\n" in doc else ""
    return (
        f"    def {operation.client}({', '.join(words)}) -> {_return_of(operation)}:\n"
        f'        """{doc}{end}"""\n'
        f"        return self._call({', '.join(passed)})"
    )


def _type_text(argument: _Argument) -> str:
    text = inspect.formatannotation(argument.type)
    text = text.replace("typing.", "").replace("collections.abc.", "")
    if argument.default is None and "None" not in text:
        text += " | None"
    return text


def _cancels(target: str) -> bool:
    module, _, attribute = target.partition(":")
    names = inspect.signature(getattr(import_module(module), attribute)).parameters
    return "cancel" in names


def _learn_types(module: str) -> None:
    """Where the types come from that the functions of a module return."""
    _DOCUMENTS["Cancel"] = "uwf_core.process.cancel"
    tree = ast.parse(Path(str(import_module(module).__file__)).read_text(encoding="utf-8"))
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module and "operations" not in node.module:
            _DOCUMENTS.update({each.name: node.module for each in node.names})
    for known in ("Any", "Mapping", "Sequence", "Literal", "Annotated", "TYPE_CHECKING"):
        _DOCUMENTS.pop(known, None)


def as_text(table: Table) -> str:
    """The data file of a table as JSON."""
    return json.dumps(rows_of(table), ensure_ascii=False, indent=1) + "\n"


def files_of(module: str) -> Mapping[Path, str]:
    """The generated files of the table of a module, and what they must contain."""
    found = import_module(module)
    folder = Path(str(found.__file__)).parent
    files = {folder / "generated.json": as_text(found.TABLE)}
    if module == OWN:
        files[folder / "generated.py"] = methods_of(found.TABLE)
        files[folder.parent / "fields" / "generated.json"] = _node_schemas()
    return files


def _node_schemas() -> str:
    """The schemas of the nodes of uwf."""
    titled = ((f"uwf {kind}", cls) for kind, cls in {**NODES, "workflow": Workflow}.items())
    schemas = {title: payload_schema(cls, title) for title, cls in titled}
    return json.dumps(schemas, separators=(",", ":")) + "\n"


if __name__ == "__main__":
    for each in sys.argv[1:] or [OWN]:
        for path, content in files_of(each).items():
            path.write_text(content, encoding="utf-8")
