"""Random templates over the fields that they can use: most names exist, some are optional."""

from random import Random
from typing import Any, NamedTuple

_COMMENT = "{{! a comment }}"
_WORDS = ("Do it. ", "- ", " ", "", "")


class Context(NamedTuple):
    """The fields of the value around a tag, by name."""

    fields: dict[str, Any]


def template(rng: Random, contexts: list[Context], *, has_body: bool = False) -> str:
    """A template; often one without any text outside of its tags."""
    names = ["_body"] if has_body else []
    text = _nodes(rng, contexts, 2, names)
    if rng.random() < 0.55 or not text.replace(_COMMENT, "").strip():
        text = rng.choice(["Go. ", "Do: "]) + text
    return text


def _nodes(rng: Random, contexts: list[Context], depth: int, names: list[str]) -> str:
    return "".join(_node(rng, contexts, depth, names) for _ in range(rng.randrange(4)))


def _node(rng: Random, contexts: list[Context], depth: int, names: list[str]) -> str:
    path, inner = _path(rng, contexts, names)
    chance = rng.random()
    if path is None or chance < 0.2:
        return rng.choice([*_WORDS, _COMMENT])
    if chance < 0.6 or not depth:
        return "{{{" + path + "}}}" if rng.random() < 0.5 else "{{" + path + "}}"
    within = _nodes(rng, [*contexts, Context(inner)], depth - 1, [*names, "."]) or "x"
    other = _nodes(rng, contexts, depth - 1, names) or "y"
    section = "{{#" + path + "}}" + within + "{{/" + path + "}}"
    inverted = "{{^" + path + "}}" + other + "{{/" + path + "}}"
    return rng.choice([section, section, section + inverted, inverted])


def _path(
    rng: Random, contexts: list[Context], names: list[str]
) -> tuple[str | None, dict[str, Any]]:
    """A name that exists, perhaps a nested one, and the fields of its value or items."""
    if names and rng.random() < 0.1:
        return rng.choice(names), {}
    context = contexts[-1] if rng.random() < 0.7 else rng.choice(contexts)
    if not context.fields:
        return None, {}
    name = rng.choice(sorted(context.fields))
    path, schema = name, context.fields[name]
    while rng.random() < 0.5:
        nested = _nested(schema)
        if isinstance(schema, dict) and schema.get("type") == "array" and rng.random() < 0.3:
            path, schema = f"{path}.{rng.randrange(2)}", schema.get("items", {})
        elif nested and "items" not in schema:
            name = rng.choice(sorted(nested))
            path, schema = f"{path}.{name}", nested[name]
        else:
            break
    return path, _nested(schema)


def _nested(schema: Any) -> dict[str, Any]:
    """The fields of a value, or of the items of a list."""
    if not isinstance(schema, dict):
        return {}
    found = dict(schema.get("properties", {}))
    for word in ("allOf", "anyOf", "oneOf"):
        for each in schema.get(word, ()):
            found |= _nested(each)
    return found | (_nested(schema["items"]) if "items" in schema else {})
