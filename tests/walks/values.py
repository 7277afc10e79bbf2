"""Random values of a schema, with its edges: fields absent and null, empty lists, no fields."""

from random import Random
from typing import Any

from uwf_core.cas.schemas import CompiledSchema

_TEXTS = ("x", "some text", "two\nlines")


def values_of(schema: dict[str, Any], rng: Random, count: int) -> list[Any]:
    """Values that satisfy a schema, as the real validation decides; fewer if few are found."""
    real = CompiledSchema(schema)
    drawn = (_draw(schema, rng, 0) for _ in range(2 * count))
    return [value for value in drawn if not real.violations(value)][:count]


def _draw(schema: Any, rng: Random, depth: int) -> Any:
    flat = _merged(schema, rng)
    if "const" in flat:
        return flat["const"]
    if "enum" in flat:
        return rng.choice(flat["enum"])
    types = flat.get("type") or ["string", "integer", "boolean", "null", "object", "array"]
    kind = rng.choice(types if isinstance(types, list) else [types])
    if kind == "object":
        return _mapping(flat, rng, depth)
    if kind == "array":
        return _list(flat, rng, depth)
    return _scalar(kind, flat, rng)


def _scalar(kind: str, flat: dict[str, Any], rng: Random) -> Any:
    if kind == "string":
        return "a.txt" if flat.get("format") else rng.choice(_TEXTS)
    if kind in ("integer", "number"):
        return rng.choice([0, 1, 7] if kind == "integer" else [0, 0.5])
    return rng.random() < 0.5 if kind == "boolean" else None


def _mapping(flat: dict[str, Any], rng: Random, depth: int) -> dict[str, Any]:
    required, properties = flat.get("required", ()), flat.get("properties", {})
    often = rng.choice([0.0, 0.5, 1.0])
    found = {
        name: _draw(properties.get(name, {}), rng, depth + 1)
        for name in dict.fromkeys([*properties, *required])
        if name in required or rng.random() < often
    }
    more = flat.get("additionalProperties")
    if (more is True or isinstance(more, dict)) and rng.random() < 0.3:
        name = rng.choice(["a", "note", "more"])
        found.setdefault(name, _draw(more, rng, depth + 1))
    elif more is None and depth and rng.random() < 0.1:
        found["undeclared"] = rng.choice(["x", None])
    return found


def _list(flat: dict[str, Any], rng: Random, depth: int) -> list[Any]:
    first, items = flat.get("prefixItems", ()), flat.get("items", {})
    least = flat.get("minItems", 0)
    most = min(flat.get("maxItems", least + 2), 4 if depth < 3 else least)
    count = rng.choice([least, rng.randint(least, max(least, most))])
    return [_draw(first[n] if n < len(first) else items, rng, depth + 1) for n in range(count)]


def _merged(schema: Any, rng: Random) -> dict[str, Any]:
    """One alternative of a schema, flat: an own reading of it, apart from that of the check."""
    if not isinstance(schema, dict):
        return {}
    flat = {key: each for key, each in schema.items() if key not in ("allOf", "anyOf", "oneOf")}
    parts = [*schema.get("allOf", ())]
    parts += [rng.choice(schema[word]) for word in ("anyOf", "oneOf") if schema.get(word)]
    for part in parts:
        flat = _joined(flat, _merged(part, rng))
    return flat


def _joined(one: dict[str, Any], other: dict[str, Any]) -> dict[str, Any]:
    both = {**one, **other}
    if "required" in one and "required" in other:
        both["required"] = [*one["required"], *other["required"]]
    mine, its = one.get("properties", {}), other.get("properties", {})
    if mine and its:
        shared = {name: {"allOf": [mine[name], its[name]]} for name in mine if name in its}
        both["properties"] = {**mine, **its, **shared}
    return both
