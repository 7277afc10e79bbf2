"""Check the structure of a workflow file: its names, and the keys of each kind of role and edge."""

from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final

from uwf_core.fields.mismatch import name_fault, short
from uwf_core.workflow.definition import END, START, SUSPEND, VERSION, Workflow
from uwf_core.workflow.discover import NAME, NAME_HINT, expected_name
from uwf_core.workflow.lattice import UNIONS
from uwf_core.workflow.parsed import (
    FAN_OUT_KEYS,
    ParsedRole,
    ParsedWorkflow,
    edge_keys,
    is_fan_out,
    meant_value,
)
from uwf_core.workflow.variants import BODY, PLACE, STATUS
from uwf_core.yaml.nodes import YamlMapping, YamlNode, YamlScalar, YamlSequence
from uwf_core.yaml.problem import Place, Problem, error_at, warning_at
from uwf_core.yaml.shape import read_shape


def check_structure(parsed: ParsedWorkflow, file: str) -> tuple[Workflow | None, list[Problem]]:
    """The workflow as written (None if its structure is invalid) and the errors."""
    workflow, wrong = read_shape(Workflow, parsed.root, extensions=True)
    kinds = [*check_kinds(parsed), *check_edges(parsed)]
    covered = nested_places(parsed)
    wrong = [each for each in wrong if each.place not in covered]
    wrong = with_hints(wrong, parsed)
    problems = [*_version(parsed.root), *_names(parsed, file), *wrong, *kinds]
    if not parsed.roles and isinstance(parsed.root.values.get("roles"), YamlMapping):
        place = parsed.root.keys["roles"].place
        problems.append(error_at(place, "no-roles", "the workflow has no role", "add one"))
    return None if wrong or kinds else workflow, problems


def _version(root: YamlMapping) -> Iterator[Problem]:
    node = root.values.get("version")
    if node is None:
        yield warning_at(
            root.place, "version-missing", "the version is missing", "add `version: 1`"
        )
    elif isinstance(node, YamlScalar) and type(node.value) is int and node.value != VERSION:
        yield error_at(
            node.place,
            "version-unsupported",
            f"unsupported version {short(node.text)}; this uwf supports {VERSION}",
            "write `version: 1`, or use a newer uwf",
        )


def _names(parsed: ParsedWorkflow, file: str) -> Iterator[Problem]:
    given = parsed.root.values.get("name")
    if isinstance(given, YamlScalar) and isinstance(given.value, str) and given.tag is None:
        if not NAME.match(given.text):
            message = f"{short(given.text)!r} is not a valid workflow name"
            yield error_at(given.place, "bad-name", message, NAME_HINT)
        elif given.text != expected_name(file):
            yield error_at(
                given.place,
                "name-mismatch",
                f"the name {short(given.text)!r} is not the file name {expected_name(file)!r}",
                f"write `name: {expected_name(file)}`, or rename the file",
            )
    roles = [(name, role.key.place) for name, role in parsed.roles.items()]
    for name, place in roles:
        yield from check_name(name, "role", place)
    yield from check_look_alike(roles, "role")
    for role in parsed.roles.values():
        fields = [*_fields(role.frontmatter)]
        for name, place in fields:
            yield from check_name(name, "field", place)
        yield from check_look_alike(fields, "field")
    yield from (
        problem
        for name, place in _fields(parsed.input)
        for problem in check_name(name, "field", place)
    )
    for _, edges in parsed.graph.values():
        yield from check_look_alike([(each.status, each.key.place) for each in edges], "status")


_LATIN = str.maketrans("01аеорсухіјѕһԁѵвкмнтοανικρτυχβζ", "olaeopcyxijshdvbkmhtoavikptuxbz")
"""Digits, and letters of other scripts in lower or upper case, that look like Latin letters."""


def check_name(name: str, noun: str, place: Place) -> Iterator[Problem]:
    """The error of a name that is not valid; `noun` is what it names: `role`."""
    fault = name_fault(name)
    if fault is not None:
        yield error_at(place, "bad-name", f"the {noun} {short(name)!r} {fault[0]}", fault[1])


def check_look_alike(names: Iterable[tuple[str, Place]], noun: str) -> Iterator[Problem]:
    """Each name that people can take for one above it: the same letters in another case or
    script.
    """
    seen: dict[str, str] = {}
    for name, place in names:
        other = seen.setdefault(_skeleton(name), name)
        if other != name:
            many = "statuses" if noun == "status" else f"{noun}s"
            message = f"the {many} {short(other)!r} and {short(name)!r} look alike"
            yield warning_at(
                place, "names-look-alike", message, f"rename one{_scripts(other, name)}"
            )


def _skeleton(name: str) -> str:
    if name.isascii():
        return name.casefold().translate(_LATIN)
    from unicodedata import normalize

    return normalize("NFKC", name).casefold().translate(_LATIN)


def _scripts(*names: str) -> str:
    """The letters of another script, by which the names differ."""
    from unicodedata import name as name_of

    found = dict.fromkeys(each for name in names for each in name if ord(each) > 127)
    listed = [f"{each} is {name_of(each, 'unnamed')}" for each in found]
    return f": {', '.join(listed[:3])}" if listed else ""


_RESERVED = (STATUS, SUSPEND, BODY, *PLACE, "$index")
"""Fields with a fixed meaning, which other checks report."""


def _fields(schema: YamlNode | None) -> Iterator[tuple[str, Place]]:
    """The fields that a schema declares, also in its alternatives."""
    if not isinstance(schema, YamlMapping):
        return
    properties = schema.values.get("properties")
    if isinstance(properties, YamlMapping):
        for name, key in properties.keys.items():
            if name not in _RESERVED:
                yield name, key.place
    for word in UNIONS:
        choices = schema.values.get(word)
        for each in choices.items if isinstance(choices, YamlSequence) else ():
            yield from _fields(each)


_ABOUT = ("description", "limits")
_WORK = (*_ABOUT, "goal", "frontmatter", "capabilities", "procedure", "output")
_ALLOWED = {
    "workflow": (*_ABOUT, "workflow"),
    "program": (*_ABOUT, "program", "frontmatter", "retry"),
    "human": (*_WORK, "human", "within", "expired"),
    "agent": (
        *(*_WORK, "timeout", "tools", "skills", "memory", "retry"),
        *("agent", "model", "reserve", "human"),
    ),
}
_ROLE_REQUIRED = {
    "workflow": (),
    "program": ("frontmatter",),
    "human": ("goal", "frontmatter"),
    "agent": ("goal", "frontmatter"),
}
_UNCHANGED = "maxUnchanged"
"""The limit that only agents have."""
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
    schema = _role_schema("agent")
    for kind in ("human", "program", "workflow"):
        decides = {"const": True} if kind == "human" else {"not": {"type": "null"}}
        condition = {"properties": {kind: decides}, "required": [kind]}
        schema = {"if": condition, "then": _role_schema(kind), "else": schema}
    return schema


def _role_schema(kind: str) -> dict[str, Any]:
    every = dict.fromkeys(key for keys in _ALLOWED.values() for key in keys)
    limits = {} if kind == "agent" else {"limits": {"properties": {_UNCHANGED: False}}}
    return {
        "title": f"A role: {_PLAYERS[kind]} it",
        "required": list(_ROLE_REQUIRED[kind]),
        "properties": {key: False for key in every if key not in _ALLOWED[kind]} | limits,
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
    for key in _ROLE_REQUIRED[kind]:
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
    limits = role.node.values.get("limits")
    if kind != "agent" and isinstance(limits, YamlMapping) and _UNCHANGED in limits.keys:
        message = f"roles.{name}.limits.{_UNCHANGED} has no effect: {_PLAYERS[kind]} the role"
        yield error_at(limits.keys[_UNCHANGED].place, "role-kind", message, "remove it")


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


_EDGE_REQUIRED = {
    "role": ("role", "prompt"),
    "forEach": ("forEach", "role", "prompt", "then"),
    "parallel": ("parallel", "then"),
}


def check_edges(parsed: ParsedWorkflow) -> Iterator[Problem]:
    """Every edge with a key that its kind does not have, or without one that it needs."""
    for joint, _ in _nested(parsed):
        message = f"the edge {joint.text!r} of `then` leads to branches"
        hint = "lead it to a role; the edges of that role can lead to branches"
        yield error_at(joint.place, "edge-kind", message, hint)
    graph = parsed.root.values.get("graph")
    for source, edges in graph.values.items() if isinstance(graph, YamlMapping) else ():
        for status, edge in edges.values.items() if isinstance(edges, YamlMapping) else ():
            if isinstance(edges, YamlMapping) and isinstance(edge, YamlMapping):
                yield from _edge(f"graph.{source}.{status}", edges.keys[status], edge)


def nested_places(parsed: ParsedWorkflow) -> set[Place]:
    """The places in the edges of `then` that lead to branches: each such edge is one error."""
    return {each.place for key, edge in _nested(parsed) for each in (key, *edge.keys.values())}


def _nested(parsed: ParsedWorkflow) -> Iterator[tuple[YamlScalar, YamlMapping]]:
    for fan_out in parsed.fan_outs.values():
        then = fan_out.then
        for status, edge in then.values.items() if then is not None else ():
            if then is not None and isinstance(edge, YamlMapping) and is_fan_out(edge):
                yield then.keys[status], edge


def edges_schema() -> dict[str, Any]:
    """The same rules as keywords of the JSON Schema of an edge."""
    schema = _edge_schema("role")
    for kind in ("forEach", "parallel"):
        schema = {"if": {"required": [kind]}, "then": _edge_schema(kind), "else": schema}
    return schema


def _edge_schema(kind: str) -> dict[str, Any]:
    return {
        "required": list(_EDGE_REQUIRED[kind]),
        "properties": {key: False for key in edge_keys() if key not in edge_keys(kind)},
    }


def _edge(place: str, edge_key: YamlScalar, edge: YamlMapping) -> Iterator[Problem]:
    if "parallel" in edge.values and "forEach" in edge.values:
        message = f"{place} has both `forEach` and `parallel`"
        yield error_at(edge.keys["forEach"].place, "edge-kind", message, "remove one of them")
        return
    kind = "role"
    if is_fan_out(edge):
        kind = "forEach" if meant_value(edge, "parallel") is None else "parallel"
    for key in _EDGE_REQUIRED[kind]:
        value = meant_value(edge, key)
        if value is None or (key in FAN_OUT_KEYS and is_null(value)):
            message = f"missing key {key!r} in {place}"
            yield error_at(edge_key.place, "missing-key", message, f"add `{key}:`")
    if "after" in edge.values and not _runs_role(place, edge):
        message = f"{place}.after has no effect: no role waits there"
        hint = f"`after` belongs on an edge from a role to a role, not to {START}, {END}, {SUSPEND}"
        yield error_at(edge.keys["after"].place, "edge-kind", message, hint)
    for key in edge.values:
        if key in edge_keys() and key not in edge_keys(kind):
            message = f"{place}.{key} has no effect on this kind of edge"
            hint = "an edge leads to a role, or to branches with `forEach` or `parallel`"
            yield error_at(edge.keys[key].place, "edge-kind", message, hint)


def _runs_role(place: str, edge: YamlMapping) -> bool:
    """Whether an edge leads from a role to a role, as far as it says."""
    target = meant_value(edge, "role")
    is_pseudo = isinstance(target, YamlScalar) and target.text in (END, SUSPEND)
    return not is_pseudo and not place.startswith(f"graph.{START}.")


_AT_TOP: Final = {
    "conditions": "older versions chose edges by conditions; give each role one $status for each "
    "edge, and write `graph.ROLE.STATUS: {role: …, prompt: …}`"
}
_START: Final = {"_": "older versions had one entry; write `new` and `resume`"}
_LIST: Final = (
    "older versions listed edges with conditions; write one edge for each $status: "
    "`STATUS: {role: …, prompt: …}`"
)


def with_hints(problems: list[Problem], parsed: ParsedWorkflow) -> list[Problem]:
    """The problems, with hints for what an older version had."""
    hints = {place: (hint, instead) for place, hint, instead in _hints(parsed)}
    return [_hinted(each, *hints[each.place]) if each.place in hints else each for each in problems]


def _hinted(problem: Problem, hint: str, instead: str) -> Problem:
    return problem._replace(hint=hint, replacement=instead)


def start_hint(entry: str) -> str | None:
    """The hint for an entry of `$START` of an older version."""
    return _START.get(entry)


def _hints(parsed: ParsedWorkflow) -> Iterator[tuple[Place, str, str]]:
    root = parsed.root
    for key, hint in _AT_TOP.items():
        if key in root.keys:
            yield root.keys[key].place, hint, ""
    for role in parsed.roles.values():
        for key, instead in role.older.items():
            assert role.node is not None
            place = role.node.keys[key].place
            yield place, f"older versions had `{key}`; write `{instead}`", instead
    graph = root.values.get("graph")
    for name, edges in graph.values.items() if isinstance(graph, YamlMapping) else ():
        if isinstance(edges, YamlSequence):
            more = f"; {_START['_']}" if name == START else ""
            yield edges.place, _LIST + more, ""
