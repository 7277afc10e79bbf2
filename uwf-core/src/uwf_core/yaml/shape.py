"""Read the document of a file into its shape: every error with its place and a hint."""

from collections.abc import Iterable, Iterator
from typing import Any

from uwf_core.fields.mismatch import (
    ABSENT,
    Mismatch,
    Path,
    Reading,
    dotted,
    nearest,
    short,
    suggestion,
)
from uwf_core.fields.records import shape_of
from uwf_core.yaml.nodes import (
    YamlMapping,
    YamlNode,
    YamlScalar,
    YamlSequence,
    is_bad_number,
    to_value,
)
from uwf_core.yaml.problem import Place, Problem, error_at


def read_shape(
    cls: Any, root: YamlNode, *, name: str = "the file", extensions: bool = False
) -> tuple[Any, list[Problem]]:
    """The object of class `cls` that a document describes, as far as possible, and its errors.

    Args:
        cls: the shape. root: the document.
        name: names the whole document in messages.
        extensions: whether keys `x-…` at the top are ignored.
    """
    if extensions and isinstance(root, YamlMapping):
        own = {key: each for key, each in root.values.items() if not key.startswith("x-")}
        root = YamlMapping(root.place, root.keys, own)
    reading = Reading(null_unset=True)
    found = shape_of(cls).read(to_value(root), (), reading)
    problems: dict[Problem, None] = {}
    for each in reading.mismatches:
        problem = _problem(root, each, name)
        if problem is not None:
            problems[problem] = None
    reported = {each.place for each in problems}
    rest = (each for each in _bad_numbers(root) if each.place not in reported)
    return found, sorted([*problems, *rest], key=lambda problem: problem.place)


def _problem(root: YamlNode, each: Mismatch, name: str) -> Problem | None:
    """A mismatch with its place; None if the value is an include that was reported already."""
    path, code = each.path, each.code
    node, key = node_at(root, path)
    if isinstance(node, YamlScalar) and node.tag is not None:
        return None
    within = f" in {dotted(path[:-1])}" if path[:-1] else ""
    if code == "unknown-key":
        message = f"unknown key {short(str(path[-1]))!r}{within}"
        hint = key_hint(root, path, each.known)
        meant = nearest(str(path[-1]), each.known)
        problem = error_at(place_at(root, path), "unknown-key", message, hint)
        return problem._replace(replacement=meant if meant and meant in hint else "")
    if code == "missing-key":
        return error_at(
            place_at(root, path[:-1]),
            "missing-key",
            f"missing key {path[-1]!r}{within}",
            f"add `{path[-1]}:`",
        )
    subject = dotted(path) or name
    if code == "entry":
        return error_at(node.place, code, f"{subject}: {each.message}", each.hint)
    if isinstance(node, YamlScalar) and is_bad_number(node.value):
        message = f"{subject} {each.message}, not the number {short(node.text)}"
        return error_at(node.place, "bad-number", message, _EXACT)
    if each.value is ABSENT:
        place = key.place if key and code in _OF_KEYS else node.place
        return error_at(place, code, f"{subject} {each.message}", each.hint)
    return error_at(
        node.place,
        "wrong-type",
        f"{subject} {each.message}, not {_kind(node)}",
        _type_hint(each, node),
    )


def _type_hint(each: Mismatch, node: YamlNode) -> str:
    if not isinstance(node, YamlScalar) or node.value is None:
        return ""
    if each.known:
        return suggestion(node.text, each.known)
    return f'{each.hint}: "{short(node.text)}"' if each.hint else ""


_OF_KEYS = ("blank-text", "name", "set-by-uwf")
"""Mismatches that are shown at the key."""
_EXACT = "if it is a name, put it in quotes"


def _bad_numbers(root: YamlNode) -> Iterator[Problem]:
    """Numbers that no payload can hold, anywhere in the document."""
    stack: list[YamlNode] = [root]
    while stack:
        node = stack.pop()
        if isinstance(node, YamlMapping):
            stack.extend(node.values.values())
        elif isinstance(node, YamlSequence):
            stack.extend(node.items)
        elif isinstance(node, YamlScalar) and is_bad_number(node.value):
            yield error_at(
                node.place,
                "bad-number",
                f"the number {short(node.text)} cannot be stored exactly",
                _EXACT,
            )


def _kind(node: YamlNode) -> str:
    if isinstance(node, YamlMapping):
        return "a mapping"
    if isinstance(node, YamlSequence):
        return "a list"
    value = node.value if isinstance(node, YamlScalar) else None
    if value is None:
        return "empty"
    if isinstance(value, bool):
        return f"the truth value {str(value).lower()}"
    return "text" if isinstance(value, str) else f"the number {short(str(value))}"


def node_at(root: YamlNode, path: Iterable[str | int]) -> tuple[YamlNode, YamlScalar | None]:
    """The node at `path`, or the last existing one on the path, and its key.

    The key is None for the root and for items of a list.
    """
    node: YamlNode = root
    key: YamlScalar | None = None
    for step in path:
        if isinstance(node, YamlMapping) and step in node.values:
            key = node.keys[str(step)]
            node = node.values[str(step)]
        elif isinstance(node, YamlSequence) and isinstance(step, int) and step < len(node.items):
            key = None
            node = node.items[step]
        else:
            break
    return node, key


def place_at(root: YamlNode, path: Path) -> Place:
    """The place of `path`: of its key if it has one, else of the value."""
    node, key = node_at(root, path)
    return key.place if key is not None else node.place


def key_hint(root: YamlNode, path: Path, known: Iterable[str]) -> str:
    """A hint for an unknown key: the nearest known one, or the comma that made it a key."""
    node, key = node_at(root, path)
    is_empty = isinstance(node, YamlScalar) and node.plain and node.text == ""
    if key is not None and key.plain and is_empty and " " in key.text:
        return "put text with a comma within {…} in quotes"
    return suggestion(str(path[-1]), known) if path else ""
