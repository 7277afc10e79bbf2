"""Random schemas of outputs and typed inputs, over the part of JSON Schema that a role can use."""

from random import Random
from typing import Any

NAMES = ("a", "b", "note", "items", "user", "text")
"""Few, so that names of items hide those of the output."""

Schema = dict[str, Any]


def variants(rng: Random, statuses: list[str]) -> Schema:
    """The schema of a role with these statuses, in one of the forms that the check accepts."""
    if len(statuses) == 1 and rng.random() < 0.6:
        return _variant(rng, statuses[0])
    each = [_variant(rng, status) for status in statuses]
    word = rng.choice(["oneOf", "anyOf"])
    form = rng.randrange(3)
    if form == 0:
        shared = _object(rng, 1)
        del shared["type"]
        return {"type": "object", **shared, word: each}
    if form == 1:
        name = rng.choice(NAMES)
        for one in each:
            one["properties"][name] = {"$ref": "#/$defs/shared"}
        return {"$defs": {"shared": _value(rng, 1)}, word: each}
    return {word: each}


def _variant(rng: Random, status: str) -> Schema:
    found = _object(rng, 2)
    const: Schema = {"const": status}
    if rng.random() < 0.1:
        const["type"] = "string"
    found["properties"] = {"$status": const, **found["properties"]}
    found["required"] = ["$status", *found.get("required", ())]
    if rng.random() < 0.5:
        del found["type"]
    return found


def typed_input(rng: Random) -> Schema:
    """The schema of the typed input of a workflow."""
    return _object(rng, 2)


def list_of_items(rng: Random) -> Schema:
    """The schema of a list whose items a `forEach` can use."""
    items = _object(rng, 2) if rng.random() < 0.8 else _value(rng, 1)
    return {"type": "array", "items": items, "minItems": rng.randrange(2), "maxItems": 3}


def _object(rng: Random, depth: int) -> Schema:
    names = rng.sample(NAMES, rng.randrange(4))
    found: Schema = {
        "type": "object",
        "properties": {name: _value(rng, depth - 1) for name in names},
        "required": [name for name in names if rng.random() < 0.6],
    }
    chance = rng.random()
    if chance < 0.15:
        found["additionalProperties"] = rng.choice([True, {"type": "string"}])
    elif chance < 0.3:
        found["additionalProperties"] = False
    elif chance < 0.4:
        found["minProperties"] = 0
    return found


def _value(rng: Random, depth: int) -> Schema:
    makers = [_scalar, _scalar, _scalar]
    if depth > 0:
        makers += [_mapping, _list, _list, _either, _both]
    return rng.choice(makers)(rng, depth)


def _scalar(rng: Random, _: int) -> Schema:
    return rng.choice(
        [
            {"type": "string"},
            {"type": "string", "minLength": 1},
            {"type": ["string", "null"]},
            {"type": "integer"},
            {"type": "boolean"},
            {"type": "null"},
            {},
            {"const": "fixed"},
            {"enum": ["one", "two"]},
            {"enum": ["one", None, 0]},
            {"type": "string", "format": "file"},
            {"type": "number", "minimum": 0},
        ]
    )


def _mapping(rng: Random, depth: int) -> Schema:
    found = _object(rng, depth)
    chance = rng.random()
    if chance < 0.15:
        del found["type"]
    elif chance < 0.3:
        found["type"] = ["object", "null"]
    return found


def _list(rng: Random, depth: int) -> Schema:
    found: Schema = {"type": "array", "items": _value(rng, depth - 1)}
    chance = rng.random()
    if chance < 0.3:
        found["minItems"] = rng.randrange(1, 3)
    elif chance < 0.4:
        found["maxItems"] = 2
    elif chance < 0.5:
        found["prefixItems"] = [_value(rng, depth - 1)]
    elif chance < 0.55:
        found["type"] = ["array", "null"]
    elif chance < 0.6:
        del found["type"]
    return found


def _either(rng: Random, depth: int) -> Schema:
    word = rng.choice(["anyOf", "oneOf"])
    return {word: [_value(rng, depth - 1), _value(rng, depth - 1)]}


def _both(rng: Random, depth: int) -> Schema:
    return {"allOf": [_object(rng, depth - 1), _object(rng, depth - 1)]}
