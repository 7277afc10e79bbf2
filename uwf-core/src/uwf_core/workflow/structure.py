"""Check the structure of a workflow file: keys, types, names."""

from collections.abc import Iterator
from itertools import islice
from typing import Any

from pydantic import ValidationError

from uwf_core.cas.bounds import MAX_PROBLEMS
from uwf_core.workflow.file_name import expected_name
from uwf_core.workflow.model import VERSION, Loc, WorkflowShape, known_keys, optional_keys
from uwf_core.workflow.parsed import ParsedWorkflow, key_hint, node_at, place_at
from uwf_core.workflow.problem import Problem, error_at, warning_at
from uwf_core.workflow.variants import NAME
from uwf_core.workflow.yaml_nodes import (
    YamlMapping,
    YamlNode,
    YamlScalar,
    YamlSequence,
    is_bad_number,
    to_value,
)

_NAME_HINT = "use letters, digits, `.`, `_` and `-`, with a letter or digit first"
_WANTED = {
    "string_type": "text",
    "int_type": "a whole number",
    "int_from_float": "a whole number",
    "float_type": "a number",
    "list_type": "a list",
    "dict_type": "a mapping",
    "model_type": "a mapping",
    "model_attributes_type": "a mapping",
}


def check_structure(
    parsed: ParsedWorkflow, file: str
) -> tuple[dict[str, Any] | None, list[Problem]]:
    """The completed workflow (None if its structure is invalid) and the errors."""
    problems = [*_version(parsed.root), *_names(parsed, file), *_numbers(parsed.root)]
    problems += _blank_texts(parsed)
    if not parsed.roles and isinstance(parsed.root.values.get("roles"), YamlMapping):
        place = parsed.root.keys["roles"].place
        problems.append(error_at(place, "no-roles", "the workflow has no role", "add one"))
    try:
        shape = WorkflowShape.model_validate(_given(parsed.root))
    except ValidationError as error:
        faults = error.errors(include_url=False, include_context=False)
        found = (_problem(parsed.root, fault) for fault in faults)
        told = (problem for problem in found if problem)
        return None, [*problems, *islice(told, MAX_PROBLEMS + 1)]
    return shape.model_dump(by_alias=True), problems


def _given(root: YamlMapping) -> dict[str, Any]:
    """The value of the file without `x-*` and without empty optional keys."""
    value: dict[str, Any] = to_value(root)
    value = {key: each for key, each in value.items() if not key.startswith("x-")}
    if not _is_integer(value.get("version", VERSION)):
        value["version"] = VERSION  # reported by `_version`
    _drop_empty(value, ())
    _drop_empty(value.get("limits"), ("limits",))
    for name, role in _items(value.get("roles")):
        _drop_empty(role, ("roles", name))
    for name, edges in _items(value.get("graph")):
        for status, edge in _items(edges):
            _drop_empty(edge, ("graph", name, status))
    return value


def _items(value: Any) -> list[tuple[str, Any]]:
    return list(value.items()) if isinstance(value, dict) else []


def _drop_empty(value: Any, loc: Loc) -> None:
    for key in optional_keys(loc):
        if isinstance(value, dict) and key in value and value[key] is None:
            del value[key]


def _is_integer(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _version(root: YamlMapping) -> Iterator[Problem]:
    node = root.values.get("version")
    if node is None:
        yield warning_at(
            root.place, "version-missing", "the version is missing", "add `version: 1`"
        )
    elif not isinstance(node, YamlScalar) or not _is_integer(node.value):
        message = f"version must be a whole number, not {_kind(node)}"
        yield error_at(node.place, "wrong-type", message, "write `version: 1`")
    elif node.value != VERSION:
        yield error_at(
            node.place,
            "version-unsupported",
            f"unsupported version {_short(node.text)}; this uwf supports {VERSION}",
            "write `version: 1`, or use a newer uwf",
        )


def _names(parsed: ParsedWorkflow, file: str) -> Iterator[Problem]:
    name = parsed.root.values.get("name")
    if isinstance(name, YamlScalar) and isinstance(name.value, str) and name.tag is None:
        if not NAME.match(name.text):
            message = f"{_short(name.text)!r} is not a valid workflow name"
            yield error_at(name.place, "bad-name", message, _NAME_HINT)
        elif name.text != expected_name(file):
            yield error_at(
                name.place,
                "name-mismatch",
                f"the name {_short(name.text)!r} is not the file name {expected_name(file)!r}",
                f"write `name: {expected_name(file)}`, or rename the file",
            )
    for role, (key, _) in parsed.roles.items():
        if not NAME.match(role):
            message = f"{_short(role)!r} is not a valid role name"
            yield error_at(key.place, "bad-name", message, _NAME_HINT)


def _numbers(root: YamlNode) -> Iterator[Problem]:
    """Numbers that no payload can hold, anywhere in the file (`x-*` is not stored)."""
    stack: list[YamlNode] = [root]
    while stack:
        node = stack.pop()
        if isinstance(node, YamlMapping):
            is_root = node is root
            stack.extend(
                value
                for key, value in node.values.items()
                if not (is_root and key.startswith("x-"))
            )
        elif isinstance(node, YamlSequence):
            stack.extend(node.items)
        elif isinstance(node, YamlScalar) and is_bad_number(node.value):
            yield error_at(
                node.place,
                "bad-number",
                f"the number {_short(node.text)} cannot be stored exactly",
                "if it is a name, put it in quotes",
            )


def _problem(root: YamlMapping, fault: Any) -> Problem | None:
    """Convert an error of pydantic to a problem with its place; None if already reported."""
    loc: Loc = fault["loc"]
    kind: str = fault["type"]
    node, _ = node_at(root, loc)
    if isinstance(node, YamlScalar) and (node.tag is not None or is_bad_number(node.value)):
        return None
    if kind == "extra_forbidden":
        return _unknown_key(root, loc)
    if kind == "missing":
        return _missing_key(root, loc)
    if kind in _WANTED:
        return error_at(
            node.place,
            "wrong-type",
            f"{_dotted(loc)} must be {_WANTED[kind]}, not {_kind(node)}",
            _type_hint(loc, kind, node),
        )
    message = "must be above 0" if kind == "greater_than" else f"is invalid: {fault['msg']}"
    return error_at(node.place, "bad-value", f"{_dotted(loc)} {message}")


def _type_hint(loc: Loc, kind: str, node: YamlNode) -> str:
    if kind == "string_type" and isinstance(node, YamlScalar) and node.value is not None:
        return "put it in quotes"
    return "give it in seconds" if loc[-1:] == ("timeout",) else ""


def _unknown_key(root: YamlMapping, loc: Loc) -> Problem:
    key = str(loc[-1])
    hint = key_hint(root, loc, known_keys(loc[:-1]))
    message = f"unknown key {_short(key)!r}{_within(loc[:-1])}"
    return error_at(place_at(root, loc), "unknown-key", message, hint)


def _missing_key(root: YamlMapping, loc: Loc) -> Problem:
    message = f"missing key {str(loc[-1])!r}{_within(loc[:-1])}"
    return error_at(place_at(root, loc[:-1]), "missing-key", message, f"add `{loc[-1]}:`")


def _blank_texts(parsed: ParsedWorkflow) -> Iterator[Problem]:
    """Goals, and names of tools and capabilities, that are blank."""
    for role in parsed.roles:
        for key in ("goal", "tools", "capabilities"):
            path = ("roles", role, key)
            node, _ = node_at(parsed.root, path)
            texts = node.items if isinstance(node, YamlSequence) else [node]
            for text in texts:
                if _is_blank(text):
                    yield error_at(
                        place_at(parsed.root, path) if text is node else text.place,
                        "blank-text",
                        f"{_dotted(path)} is blank"
                        if text is node
                        else f"blank in {_dotted(path)}",
                        "describe the goal of the role" if key == "goal" else "name it",
                    )


def _is_blank(node: YamlNode) -> bool:
    if not isinstance(node, YamlScalar) or node.tag is not None:
        return False
    return isinstance(node.value, str) and not node.value.strip()


def _within(loc: Loc) -> str:
    return f" in {_dotted(loc)}" if loc else ""


def _dotted(loc: Loc) -> str:
    return ".".join(_short(str(step)) for step in loc)


def _kind(node: YamlNode) -> str:
    if isinstance(node, YamlMapping):
        return "a mapping"
    if isinstance(node, YamlSequence):
        return "a list"
    assert isinstance(node, YamlScalar)
    value = node.value
    if value is None:
        return "empty"
    if isinstance(value, bool):
        return f"the truth value {str(value).lower()}"
    return "text" if isinstance(value, str) else f"the number {_short(node.text)}"


def _short(text: str) -> str:
    return text if len(text) <= 60 else f"{text[:57]}…"
