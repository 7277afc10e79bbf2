"""Make a value that satisfies a JSON Schema, to show an agent the form of its deliverable.

Values of the author come first: `const`, `enum`, `examples`, `default`. Otherwise the value is
made from the type and its bounds. A `pattern` cannot be followed; the field's note states it.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

Schema = Mapping[str, Any]

_FORMATS = {
    "date": "2026-01-31",
    "date-time": "2026-01-31T12:00:00Z",
    "time": "12:00:00Z",
    "duration": "PT1H",
    "email": "name@example.org",
    "hostname": "example.org",
    "ipv4": "192.0.2.1",
    "ipv6": "2001:db8::1",
    "uri": "https://example.org/",
    "uuid": "00000000-0000-4000-8000-000000000000",
}


def example(schema: Any, name: str) -> Any:
    """A value for the field `name`; the same one every time."""
    flat = flattened(schema)
    if "const" in flat:
        return flat["const"]
    for key in ("enum", "examples"):
        if flat.get(key):
            return flat[key][0]
    if "default" in flat:
        return flat["default"]
    return _of_type(main_type(flat), flat, name)


def flattened(schema: Any) -> dict[str, Any]:
    """Merge `schema` with all of its `allOf` and the first of its `anyOf` and `oneOf`."""
    if not isinstance(schema, Mapping):
        return {}
    flat = {key: schema[key] for key in schema if key not in ("allOf", "anyOf", "oneOf")}
    joined = list(schema.get("allOf", ()))
    joined += [schema[key][0] for key in ("anyOf", "oneOf") if schema.get(key)]
    for each in joined:
        for key, value in flattened(each).items():
            if key == "properties":
                flat[key] = {**value, **flat.get(key, {})}
            elif key == "required":
                flat[key] = [*flat.get(key, ()), *value]
            else:
                flat.setdefault(key, value)
    return flat


def main_type(flat: Schema) -> str:
    """The type to show: the first that is not null, guessed from the keywords if none is
    named.
    """
    types = flat.get("type", ())
    for each in [types] if isinstance(types, str) else types:
        if each != "null" or types in ("null", ["null"]):
            return str(each)
    guesses = {
        "object": ("properties", "required", "additionalProperties"),
        "array": ("items", "prefixItems", "minItems"),
        "number": ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"),
    }
    for guess, keywords in guesses.items():
        if any(key in flat for key in keywords):
            return guess
    return "string"


def _of_type(kind: str, flat: Schema, name: str) -> Any:
    if kind == "object":
        return _object(flat)
    if kind == "array":
        return _array(flat, name)
    if kind in ("integer", "number"):
        return _number(flat, kind == "integer")
    return {"boolean": True, "null": None}.get(kind, _string(flat, name))


def _object(flat: Schema) -> dict[str, Any]:
    properties = flat.get("properties", {})
    names = dict.fromkeys((*properties, *flat.get("required", ())))
    return {name: example(properties.get(name), name) for name in names}


def _array(flat: Schema, name: str) -> list[Any]:
    fixed = list(flat.get("prefixItems", ()))
    wanted = min(max(1, len(fixed), flat.get("minItems", 0)), flat.get("maxItems", math.inf))
    items = [example(schema, name) for schema in fixed[: int(wanted)]]
    choices = flattened(flat.get("items")).get("enum", ())
    for index in range(int(wanted) - len(items)):
        value = example(flat.get("items"), name)
        items.append(_varied(value, index, choices) if flat.get("uniqueItems") else value)
    return items


def _varied(value: Any, index: int, choices: Sequence[Any]) -> Any:
    """Make `value` unique in a list that forbids duplicates."""
    if index < len(choices):
        return choices[index]
    if index == 0 or isinstance(value, bool):
        return value
    if isinstance(value, (int, float)):
        return value + index
    return f"{value} {index + 1}" if isinstance(value, str) else value


def _string(flat: Schema, name: str) -> str:
    text = _FORMATS.get(flat.get("format", ""), f"<{name}>")
    while len(text) < flat.get("minLength", 0):
        text += f" <{name}>"
    return text[: flat["maxLength"]] if "maxLength" in flat else text


def _number(flat: Schema, whole: bool) -> int | float:
    return next((each for each in _numbers(flat) if _fits(each, flat, whole)), 1)


def _numbers(flat: Schema) -> Iterator[int | float]:
    """Numbers to try: small ones, the bounds, and numbers just within them."""
    yield from (1, 0)
    low = flat.get("minimum", flat.get("exclusiveMinimum"))
    high = flat.get("maximum", flat.get("exclusiveMaximum"))
    step = flat.get("multipleOf", 1)
    for bound, inwards in ((low, 1), (high, -1)):
        if bound is not None:
            nearest = math.ceil(bound / step) if inwards == 1 else math.floor(bound / step)
            yield from (bound, nearest * step, (nearest + inwards) * step, bound + inwards / 10)
    if low is not None and high is not None:
        yield (low + high) / 2
    yield step


def _fits(value: int | float, flat: Schema, whole: bool) -> bool:
    return (
        (not whole or isinstance(value, int))
        and value >= flat.get("minimum", -math.inf)
        and value > flat.get("exclusiveMinimum", -math.inf)
        and value <= flat.get("maximum", math.inf)
        and value < flat.get("exclusiveMaximum", math.inf)
        and value % flat.get("multipleOf", value or 1) == 0
    )
