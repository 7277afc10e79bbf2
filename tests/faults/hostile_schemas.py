"""Hostile JSON Schemas: as what a role must deliver, and as a type of the store.

Each is taken or refused within seconds and within memory, a schema that is taken judges its values
as fast, and nothing is ever fetched: a server listens, and nobody may come.
"""

import json
import resource
import select
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from tests.faults.forked import run, spread
from tests.faults.table import Case, Effort

from uwf_core.errors import UwfError

MEMORY = 1 << 30
SECONDS = 10.0
_STATUS = {"$status": {"const": "done"}}


class Hostile(NamedTuple):
    """A schema of the property `x`, or of everything where `whole`; a value to be judged by it."""

    name: str
    schema: Any
    value: Any = "x"
    whole: bool = False


def hostile_schemas(folder: Path, effort: Effort) -> Iterator[Case]:
    """Every schema in both places, with a listening server to which some of them point."""
    folder.mkdir()
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        cases = effort.sample([*_patterns(), *_references(port), *_sizes(), *_nonsense()], 60)
        for case, fault in spread(cases, _judge, effort.workers):
            yield Case(case.name, fault or _visited(server))


def _visited(server: socket.socket) -> str | None:
    waiting, _, _ = select.select([server], [], [], 0)
    if not waiting:
        return None
    server.accept()[0].close()
    return "somebody came to fetch it (or what was before it)"


# -- the schemas ----------------------------------------------------------------------------------


def _patterns() -> Iterator[Hostile]:
    long = "a" * 30_000 + "!"
    for pattern in (
        "(a+)+$", "(a|a)*$", "(a|aa)+$", "(a*)*b", "(.*a){20}$", "(x+x+)+y", "^(a?){60}a{60}$",
        "(([a-z])+.)+[A-Z]([a-z])+$", "^(.*)*$", "(a{1,1000}){1,1000}", "a{1000}{1000}{1000}",
        r"(\w+\s?)+$", r"^\s+|\s+$", r"(\p{L}{1,100}){1,100}", r"(a)\1\1", r"(?<=a+)b",
        r"(?=(a+))a*b", r"\s|" * 1_500, r"\p{L}|" * 800, r"(?i:[\x00-\U0010FFFF])" * 200,
        r"(?>a+)b", "(?P<n>a)(?P=n)", "(", "[", "*", "a{2,1}", "\\", "(?i", r"\u{110000}", "(?#",
        "(" * 20_000 + ")" * 20_000, "a" * 500_000, "|" * 100_000, "[" + "a-z" * 50_000 + "]", "\0",
    ):  # fmt: skip
        yield Hostile(f"the pattern {pattern[:30]!r}", {"type": "string", "pattern": pattern}, long)
    for pattern in ("(a+)+$", "(a|aa)+$", "(", r"(a)\1"):
        yield Hostile(
            f"the name pattern {pattern!r}", {"patternProperties": {pattern: {}}}, {long: 1}
        )
    both = {"allOf": [{"pattern": f"(a+)+{n}$"} for n in range(50)]}
    yield Hostile("fifty patterns", both, long)


def _references(port: int) -> Iterator[Hostile]:
    there = f"http://127.0.0.1:{port}/schema.json"
    cases: tuple[tuple[str, Any], ...] = (
        ("$ref", {"$ref": there}), ("$schema", {"$schema": there}), ("$id", {"$id": there}),
        ("$id and a relative $ref", {"$id": there, "$ref": "other.json"}),
        ("$dynamicRef", {"$dynamicRef": there}), ("$recursiveRef", {"$recursiveRef": there}),
        ("a $ref with a fragment", {"$ref": f"{there}#/a"}), ("no scheme", {"$ref": there[5:]}),
        ("an upper-case scheme", {"$ref": there.replace("http", "HTTP")}),
        ("a $ref within a list", {"allOf": [{"$ref": there}]}),
        ("a $ref in items", {"type": "array", "items": {"$ref": there}}),
        ("a $ref in not", {"not": {"$ref": there}}), ("a $ref in if", {"if": {"$ref": there}}),
        ("a $ref behind a local one", {"$defs": {"a": {"$ref": there}}, "$ref": "#/$defs/a"}),
        ("$vocabulary", {"$vocabulary": {there: True}}),
        ("contentSchema", {"contentSchema": {"$ref": there}}),
        ("a file", {"$ref": "file:///etc/passwd"}),
        ("a relative file", {"$ref": "../outside.json"}),
        ("the metaschema", {"$ref": "https://json-schema.org/draft/2020-12/schema"}),
        ("another draft", {"$schema": "http://json-schema.org/draft-04/schema#"}),
        ("a number", {"$ref": 5}), ("a list", {"$ref": [there]}), ("nothing", {"$ref": ""}),
        ("itself", {"$ref": "#"}), ("what is not there", {"$ref": "#/$defs/none"}),
        ("an anchor", {"$anchor": "a", "$ref": "#a"}), ("an escape", {"$ref": "#/%24defs/~2"}),
        ("a URN", {"$ref": "urn:uuid:0"}), ("data", {"$ref": "data:application/json,{}"}),
    )  # fmt: skip
    for name, schema in cases:
        yield Hostile(f"reference: {name}", schema)
        yield Hostile(f"reference: {name}, of the whole", schema, whole=True)
    loop = {"$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}}, "$ref": "#/$defs/a"}
    yield Hostile("two that refer to each other", loop)
    tree = {"a": {"properties": {"x": {"$ref": "#/$defs/a"}}}}
    yield Hostile("a tree", {"$defs": tree, "$ref": "#/$defs/a"}, whole=True)
    double = {f"d{n}": {"allOf": [{"$ref": f"#/$defs/d{n + 1}"}] * 2} for n in range(60)}
    yield Hostile("2^60 copies", {"$defs": {**double, "d60": {}}, "$ref": "#/$defs/d0"}, whole=True)
    chain = {f"d{n}": {"$ref": f"#/$defs/d{n + 1}"} for n in range(5_000)}
    yield Hostile(
        "a long chain", {"$defs": {**chain, "d5000": {}}, "$ref": "#/$defs/d0"}, whole=True
    )


def _sizes() -> Iterator[Hostile]:
    for keyword in ("properties", "items", "not", "allOf", "additionalProperties", "if"):
        for depth in (70, 3_000):
            yield Hostile(f"{keyword}, {depth} deep", _nested(keyword, depth))
    yield Hostile("many properties", {"properties": {f"p{n}": {} for n in range(50_000)}}, {})
    yield Hostile("a long enum", {"enum": [f"v{n}" for n in range(50_000)]})
    yield Hostile("many alternatives", {"oneOf": [{"const": n} for n in range(20_000)]}, 5)
    status = {"properties": _STATUS, "required": ["$status"]}
    yield Hostile("many variants", {"oneOf": [status] * 65}, whole=True)
    product = {"allOf": [{"oneOf": [status, status]}] * 30}
    yield Hostile("2^30 variants", product, whole=True)
    yield Hostile("a huge constant", {"const": "x" * 900_000})
    yield Hostile("a long description", {"description": "x" * 900_000})
    yield Hostile("many required", {"required": [f"r{n}" for n in range(50_000)]}, {})
    unique = {"uniqueItems": True, "type": "array"}
    yield Hostile("unique numbers", unique, list(range(100_000)))
    yield Hostile("unique objects", unique, [{"a": [n]} for n in range(20_000)])
    yield Hostile("contains nothing", {"contains": {"const": -1}}, list(range(100_000)))


def _nested(keyword: str, depth: int) -> Any:
    """A text, since JSON itself cannot be written that deep by recursion."""
    opening = {
        "properties": '{"properties": {"a": ', "allOf": '{"allOf": [',
    }.get(keyword, f'{{"{keyword}": ')  # fmt: skip
    closing = {"properties": "}}", "allOf": "]}"}.get(keyword, "}")
    return Text(opening * depth + "{}" + closing * depth)


class Text(str):
    """A schema that is given as JSON text."""

    __slots__ = ()


def _nonsense() -> Iterator[Hostile]:
    schemas: tuple[Any, ...] = (
        5, "x", None, [], True, False, {"type": 5}, {"type": "text"},
        {"type": ["string", "string"]},
        {"type": []}, {"minLength": -1}, {"minLength": 1e308}, {"maxItems": 0.5}, {"multipleOf": 0},
        {"multipleOf": 1e-300}, {"minimum": "1"}, {"required": "x"}, {"required": ["x", "x"]},
        {"properties": []}, {"properties": {"a": 5}}, {"enum": []}, {"enum": "x"}, {"items": [{}]},
        {"additionalProperties": 5}, {"oneOf": []}, {"oneOf": {}}, {"format": 5}, {"pattern": 5},
        {"dependentSchemas": {"a": {}}}, {"unevaluatedProperties": False}, {"$comment": 5},
        {"__proto__": {}}, {"if": {}, "then": False}, {"title": {"$ref": "#"}},
        {"default": {"$ref": 1}},
        {"format": "regex"}, {"format": "ocas_ref"}, {"type": "string", "format": "ocas_ref"},
    )  # fmt: skip
    for schema in schemas:
        yield Hostile(f"the schema {json.dumps(schema)}", schema)
        yield Hostile(f"the schema {json.dumps(schema)}, as a whole", schema, whole=True)


# -- judging them ---------------------------------------------------------------------------------


def _judge(case: Hostile) -> str | None:
    """What is wrong with how a schema was taken, None if nothing."""

    def work(_gift: int) -> int:
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
        print(_of_a_role(case) or _of_the_store(case) or "", end="")
        return 0

    ended = run(work)
    if ended.code != 0:
        return f"ended with {ended.code}: {ended.err[-300:]}"
    if ended.seconds > SECONDS:
        return f"took {ended.seconds:.1f} s of computing"
    return ended.out or None


def _of_a_role(case: Hostile) -> str | None:
    """In a workflow: publish it, and let a reply be judged by it."""
    from uwf_core.api.extract import ExtractRequest
    from uwf_core.extract.frontmatter import FrontmatterExtractor
    from uwf_core.workflow.check import check_text

    checked = check_text(_workflow(_text(case)), "hostile.yaml")
    if not checked.valid:
        return None if checked.problems else "refused without a problem"
    schema = checked.require()["roles"]["a"]["frontmatter"]
    raw = f"---\n$status: done\nx: {json.dumps(case.value)}\n---\n"
    reply = FrontmatterExtractor().extract(ExtractRequest(raw, schema))
    return None if (reply.output is None) == bool(reply.errors) else "an output and errors"


def _of_the_store(case: Hostile) -> str | None:
    """As a type: put it, and put a node of it."""
    from uwf_core.cas.store import Store
    from uwf_core.stores.memory import open_memory

    store = Store(open_memory("memory:", ""), lambda: 0)
    try:
        schema = json.loads(_text(case))
    except RecursionError:
        return None
    try:
        store.put(store.put_schema(schema), {"$status": "done", "x": case.value})
    except UwfError as error:
        return None if error.message else "refused without a word"
    return None


def _text(case: Hostile) -> str:
    schema = case.schema if isinstance(case.schema, Text) else json.dumps(case.schema)
    if case.whole:
        return schema
    properties = f'{{"$status": {{"const": "done"}}, "x": {schema}}}'
    return f'{{"properties": {properties}, "required": ["$status"]}}'


def _workflow(schema: str) -> str:
    begin = '{"role": "a", "prompt": "x"}'
    return f"""{{"version": 1, "name": "hostile",
"roles": {{"a": {{"goal": "x", "frontmatter": {schema}}}}},
"graph": {{"$START": {{"new": {begin}, "resume": {begin}}},
"a": {{"done": {{"role": "$END", "prompt": "x"}}}}}}}}"""
