"""`workflow check` ends soon, whatever the file: it takes it, or names a place."""

import json
import time
from functools import reduce
from typing import Any

import pytest
from tests.core.workflow.checking import Checked, check_text

from uwf_core.workflow.template import MAX_TAGS

MAX_PROBLEMS = 200
"""That are told of one kind."""
SECONDS = 2.0
"""Of computing, on a quiet machine; a busy one may take some times as long."""

STATUS = {"$status": {"const": "done"}}


def _role(field: Any, **more: Any) -> dict[str, Any]:
    return {"properties": {**STATUS, "x": field}, "required": ["$status"], **more}


def _workflow(roles: dict[str, Any], prompt: str = "x") -> str:
    begin = {"role": next(iter(roles)), "prompt": "x"}
    graph = {name: {"done": {"role": "$END", "prompt": prompt}} for name in roles}
    value = {
        "version": 1,
        "name": "w",
        "roles": {name: {"goal": "g", "frontmatter": each} for name, each in roles.items()},
        "graph": {"$START": {"new": begin, "resume": begin}, **graph},
    }
    return json.dumps(value, indent=0)


def _of(field: Any) -> str:
    return _workflow({"a": _role(field)})


def _deep() -> Any:
    return reduce(lambda inner, _: {"allOf": [inner]}, range(25), {"type": "string"})


def _sections(count: int) -> str:
    names = [f"f{n}" for n in range(count)]
    return (
        "".join(f"{{{{#{each}}}}}" for each in names)
        + "{{x}}"
        + "".join(f"{{{{/{each}}}}}" for each in reversed(names))
    )


_STATUSES = [
    {"properties": {"$status": {"const": f"s{n}"}}, "required": ["$status"]} for n in range(64)
]
_ENUM = {"enum": [f"v{n}" for n in range(5_000)]}

_CHOICE = [
    {"type": "object", "properties": {"q": {"anyOf": [{"type": "string"}] * 6}}} for _ in range(8)
]


def _statuses(count: int, **fields: Any) -> dict[str, Any]:
    each = [
        {"properties": {"$status": {"const": f"s{n}"}, **fields}, "required": ["$status"]}
        for n in range(count)
    ]
    return {"goal": "g", "frontmatter": {"oneOf": each}}


def _graph(roles: dict[str, Any], edges: dict[str, Any], **more: Any) -> str:
    begin = {"role": next(iter(roles)), "prompt": "x"}
    graph = {"$START": {"new": begin, "resume": begin}, **edges}
    return json.dumps({"version": 1, "name": "w", "roles": roles, "graph": graph, **more}, indent=0)


def _typos() -> str:
    """Statuses that are as near to each other as they can be."""
    roles = {"a": {"goal": "g", "frontmatter": {"oneOf": [
        {"properties": {"$status": {"const": "s" * 60 + str(n)}}, "required": ["$status"]}
        for n in range(64)
    ]}}}  # fmt: skip
    edges = {"s" * 58 + str(n): {"role": "$END", "prompt": "x"} for n in range(400)}
    return _graph(roles, {"a": edges})


def _inputs() -> str:
    """Inputs with many alternatives, each compared with many outputs."""
    fields = {"p0": {"anyOf": _CHOICE}}
    roles = {"a": _statuses(60, **fields), "s": {"workflow": "$SELF"}}
    edges = {
        "a": {f"s{n}": {"role": "$END" if n else "s", "prompt": "x"} for n in range(60)},
        "s": {f"s{n}": {"role": "s" if n else "$END", "prompt": "x"} for n in range(60)},
    }
    wanted = {"p0": {"anyOf": _CHOICE}}
    inputs = [{"type": "object", "required": [f"p{n}"], "properties": wanted} for n in range(60)]
    return _graph(roles, edges, input={"anyOf": inputs})


def _blank() -> str:
    """Prompts of sections that can be skipped in a million ways."""
    fields = {f"f{n}": {"type": "boolean"} for n in range(8)}
    prompt = "".join(
        f"{{{{#f{n % 8}}}}}{{{{^f{(n + 1) % 8}}}}}x{{{{/f{(n + 1) % 8}}}}}{{{{/f{n % 8}}}}}"
        for n in range(30)
    )
    names = [f"r{n}" for n in range(20)]
    edge = {f"s{n}": {"role": "r0", "prompt": prompt} for n in range(20)}
    edges = {name: {**edge, "s0": {"role": after, "prompt": "x"}}
             for name, after in zip(names, [*names[1:], "$END"], strict=True)}  # fmt: skip
    return _graph({name: _statuses(20, **fields) for name in names}, edges)


def _fans() -> str:
    """Joint results of many branches, each with many statuses."""
    roles = {"a": _statuses(60, l={"type": "array", "items": {"type": "string"}})}
    for each in roles["a"]["frontmatter"]["oneOf"]:
        each["required"].append("l")
    roles["b"] = _statuses(60, q={"type": "string"})
    then = {each: {"role": "$END", "prompt": "x"} for each in ("$mixed", "$empty", "s0", "s1")}
    then |= {f"s{n}": {"role": "$END", "prompt": "x"} for n in range(60)}
    edge = {"forEach": "l", "role": "b", "prompt": "{{.}}", "shared": True, "then": then}
    return _graph(roles, {"a": {f"s{n}": edge for n in range(60)}})


def _joint() -> str:
    """Many fan-outs, each with many joint statuses; refused before their types are made."""
    roles = {f"r{n}": _statuses(30, l={"type": "array", "items": {"type": "string"}})
             for n in range(10)}  # fmt: skip
    for each in roles.values():
        for variant in each["frontmatter"]["oneOf"]:
            variant["required"].append("l")
    names = [*roles]
    edges = {}
    for name, after in zip(names, [*names[1:], names[0]], strict=True):
        then = {f"s{n}": {"role": "$END", "prompt": "x"} for n in range(10)}
        then |= {each: {"role": after, "prompt": "x"} for each in ("$mixed", "$empty")}
        edge = {"forEach": "l", "role": after, "prompt": "{{.}}", "shared": True, "then": then}
        edges[name] = {f"s{n}": edge for n in range(30)}
    return _graph(roles, edges)


HOSTILE = {
    "a pattern": (lambda: _of({"pattern": r"\s|" * 1_500}), "invalid-schema"),
    "a huge enum": (lambda: _of({"enum": [f"v{n}" for n in range(95_000)]}), "too-many-nodes"),
    "an enum used often": (
        lambda: _workflow({"a": _role({}, **{
            "$defs": {"e": _ENUM},
            "prefixItems": [{"$ref": "#/$defs/e"}] * 1_000,
        })}),
        "too-many-nodes",
    ),
    "many roles with large schemas": (
        lambda: _workflow({f"r{n}": _role(_ENUM) for n in range(15)}), "invalid-schema"
    ),
    "variants of many parts": (
        lambda: _workflow({"a": {"allOf": [
            {"oneOf": _STATUSES}, *({"properties": {f"p{n}": {}}} for n in range(2_000))
        ]}}),
        "variant-keyword",
    ),
    "many wrong patterns": (
        lambda: _of({"allOf": [{"pattern": f"({n}"} for n in range(3_000)]}), "invalid-schema"
    ),
    "lines without end": (lambda: "name: w\n" + "k: v\n" * 100_000, "too-many-nodes"),
    "unknown keys": (
        lambda: "name: w\n" + "".join(f"key{n}: v\n" for n in range(49_000)), "too-many-problems"
    ),
    "duplicate keys": (lambda: "name: w\n" + "k: v\n" * 45_000, "too-many-problems"),
    "unknown roles": (
        lambda: _of({}).replace('"done": {', "".join(
            f'"d{n}": {{"role": "r{n}", "prompt": "x"}},' for n in range(8_000)
        ) + '"done": {'),
        "too-many-problems",
    ),
    "tags without end": (lambda: _workflow({"a": _role({})}, "{{x}}" * 16_000), "template-syntax"),
    "typos of near names": (_typos, "unknown-status"),
    "joint results of many statuses": (_fans, "invalid-schema"),
    "joint results of many roles": (_joint, "invalid-schema"),
    "a name of many parts": (
        lambda: _workflow({"a": _role({})}, f"{{{{{'x.' * 9_999}x}}}}"), "template-syntax"
    ),
}  # fmt: skip

TAKEN = {
    "prompts of sections alone": _blank,
    "a wide allOf": lambda: _of({"allOf": [
        {"properties": {f"p{n}": {}}, "required": [f"p{n}"]} for n in range(1_000)
    ]}),
    "an allOf of required": lambda: _of({"allOf": [{"required": [f"p{n}"]} for n in range(3_000)]}),
    "a deep allOf": lambda: _of(_deep()),
    "a large enum": lambda: _of({"enum": [f"v{n}" for n in range(9_900)]}),
    "as many tags as there may be": lambda: _workflow(
        {f"r{n}": _role({"type": "string"}) for n in range(20)}, "{{x}}" * MAX_TAGS
    ),
    "sections in sections, over anything": lambda: _workflow(
        {"a": _role({}, additionalProperties=True)}, _sections(64)
    ),
}  # fmt: skip


def test_what_is_too_complex_to_compare_is_a_doubt() -> None:
    doubts = [each for each in _checked(_inputs()).problems if "too complex" in each.message]
    assert {each.severity for each in doubts} == {"warning"}


def _checked(text: str) -> Checked:
    began = time.process_time()
    checked = check_text(text, "w.yaml")
    assert time.process_time() - began < 4 * SECONDS
    return checked


@pytest.mark.parametrize(("text_of", "code"), HOSTILE.values(), ids=HOSTILE)
def test_a_file_beyond_a_limit_is_refused_at_a_place_within_seconds(text_of, code):
    checked = _checked(text_of())
    assert not checked.valid
    (problem, *_) = [each for each in checked.problems if each.code == code]
    assert problem.line > 1
    assert problem.message
    assert len(checked.problems) <= 5 * (MAX_PROBLEMS + 1)


@pytest.mark.parametrize("text_of", TAKEN.values(), ids=TAKEN)
def test_a_large_file_within_the_limits_is_checked_within_seconds(text_of):
    assert [each.code for each in _checked(text_of()).problems if each.severity == "error"] in (
        [],
        ["unreachable-role"] * 19,
    )
