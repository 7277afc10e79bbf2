"""Check which keys a role has: those of an agent, a workflow, a program or a person."""

from collections.abc import Callable, Iterator
from typing import Any

from uwf_core.workflow.parsed import ParsedRole, ParsedWorkflow
from uwf_core.workflow.problem import Problem, error_at, warning_at
from uwf_core.workflow.variants import NAME
from uwf_core.workflow.yaml_nodes import YamlNode, YamlScalar

_ABOUT = ("description", "limits")
_WORK = (*_ABOUT, "goal", "frontmatter", "capabilities", "procedure", "output")
_ALLOWED = {
    "workflow": (*_ABOUT, "workflow"),
    "program": (*_ABOUT, "program", "frontmatter"),
    "human": (*_WORK, "human"),
    "agent": (
        *(*_WORK, "timeout", "tools", "skills", "memory"),
        *("agent", "model", "reserve", "human"),
    ),
}
_REQUIRED = {
    "workflow": (),
    "program": ("frontmatter",),
    "human": ("goal", "frontmatter"),
    "agent": ("goal", "frontmatter"),
}
_PLAYERS = {
    "workflow": "a workflow plays",
    "program": "a program plays",
    "human": "a person plays",
    "agent": "an agent plays",
}

_NAMES = {
    "agent": "write the name of an alias or of an installed agent",
    "model": "write the name of a model of the configuration",
}


def check_kinds(parsed: ParsedWorkflow) -> Iterator[Problem]:
    """Every role with a key that its kind does not have, or without one that it needs."""
    for name, role in parsed.roles.items():
        if role.node is not None:
            kind = kind_of(role)
            yield from _missing(name, role, kind)
            yield from _excess(name, role, kind)


def kinds_schema() -> dict[str, Any]:
    """The same rules as keywords of the JSON Schema of a role: an editor then completes and accepts
    only the keys of its kind.
    """
    schema = _kind_schema("agent")
    for kind in ("human", "program", "workflow"):
        decides = {"const": True} if kind == "human" else {"not": {"type": "null"}}
        condition = {"properties": {kind: decides}, "required": [kind]}
        schema = {"if": condition, "then": _kind_schema(kind), "else": schema}
    return schema


def _kind_schema(kind: str) -> dict[str, Any]:
    every = dict.fromkeys(key for keys in _ALLOWED.values() for key in keys)
    return {
        "title": f"A role: {_PLAYERS[kind]} it",
        "required": list(_REQUIRED[kind]),
        "properties": {key: False for key in every if key not in _ALLOWED[kind]},
    }


def kind_of(role: ParsedRole) -> str:
    """`workflow`, `program`, `human` or `agent`: by the first key that decides it."""
    values = {} if role.node is None else role.node.values
    if not is_null(values.get("workflow")):
        return "workflow"
    if not is_null(values.get("program")):
        return "program"
    human = values.get("human")
    return "human" if isinstance(human, YamlScalar) and human.value is True else "agent"


def is_null(node: YamlNode | None) -> bool:
    """Whether a value is missing, null or an empty text."""
    return node is None or (
        isinstance(node, YamlScalar) and node.tag is None and node.value in (None, "")
    )


def _missing(name: str, role: ParsedRole, kind: str) -> Iterator[Problem]:
    assert role.node is not None
    for key in _REQUIRED[kind]:
        if key not in role.node.values and not role.misspells(key):
            yield error_at(
                role.key.place,
                "missing-key",
                f"missing key {key!r} in roles.{name}",
                f"add `{key}:`",
            )
        elif key == "frontmatter" and is_null(role.node.values.get(key, role.node)):
            place = role.node.values[key].place
            message = f"roles.{name}.{key} must be a mapping, not empty"
            yield error_at(place, "wrong-type", message)


def _excess(name: str, role: ParsedRole, kind: str) -> Iterator[Problem]:
    assert role.node is not None
    every = {key for keys in _ALLOWED.values() for key in keys}
    for key, node in role.node.values.items():
        if key in every and key not in _ALLOWED[kind] and not is_null(node):
            message = f"roles.{name}.{key} has no effect: {_PLAYERS[kind]} the role"
            place = role.node.keys[key].place
            yield error_at(place, "role-kind", message, f"remove `{key}`, or `{kind}`")


def check_suggestions(
    parsed: ParsedWorkflow, lacks: Callable[[str, str], str | None] | None
) -> Iterator[Problem]:
    """Each suggested agent or model that is not a plain name, since a workflow file never names a
    program as an agent; else each that the user lacks.
    """
    for name, role in parsed.roles.items():
        for key in _NAMES:
            node = None if role.node is None else role.node.values.get(key)
            if isinstance(node, YamlScalar) and isinstance(node.value, str) and node.text.strip():
                yield from _suggestion(f"roles.{name}.{key}", key, node, lacks)


def _suggestion(
    path: str, key: str, node: YamlScalar, lacks: Callable[[str, str], str | None] | None
) -> Iterator[Problem]:
    if not NAME.match(node.text):
        message = f"{path} is not a name: {node.text[:60]!r}"
        yield error_at(node.place, "bad-name", message, _NAMES[key])
    elif lacks is not None and (reason := lacks(key, node.text)) is not None:
        hint = "a run uses the default in its place"
        yield warning_at(node.place, f"unknown-{key}", f"{path}: {reason}", hint)
