"""Describe the deliverable of a role: one example per `$status`, and its fields.

Publishing stores the texts with the workflow: prompts read them, and so can everybody who has a
bundle. They follow from the stored schema and graph alone.
"""

import json
import math
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Any, Final

from uwf_core.cas.hashing import FILE_FORMAT
from uwf_core.ids import Ref
from uwf_core.markdown import fenced
from uwf_core.workflow.definition import END, SUSPEND, Edge, ReplyForm
from uwf_core.workflow.variants import BODY, STATUS, Variant, variants
from uwf_core.yaml.text import frontmatter

_BEGIN = """\
# What you must deliver

Your final reply begins with YAML frontmatter: a line `---`, the fields, another line `---`. \
Write nothing before the first `---`, no sentence and no code fence. \
After the second `---` comes free text (Markdown) for the roles that work after you. \
(The fences around the examples only mark them.)"""

_CHOICE = "`$status` is the result of your work and decides what happens next. Use exactly one of:"
_ONLY = "`$status` is the result of your work. There is one form:"

_TYPED = f"""\
# What you must deliver

You deliver one object; the tool or the schema that you have for it describes its fields. \
`{BODY}` is free text (Markdown) for the roles that work after you."""

_TYPED_SUSPEND = f"""\
- `{STATUS}: {SUSPEND}` with `reason`, only if you cannot continue without a person. \
The work then waits for them."""

_SUSPEND = f"""\
## `$status: {SUSPEND}`

Only if you cannot continue without a person (an answer, a decision, a permission): \
the work then waits for them.

"""

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
_TYPES = {
    "string": "text", "integer": "whole number", "number": "number", "boolean": "true or false",
    "array": "list", "object": "mapping", "null": "null",
}  # fmt: skip
_BOUNDS = {
    "minLength": "at least {} characters",
    "maxLength": "at most {} characters",
    "pattern": "matching the regular expression `{}`",
    "format": "format {}",
    "minimum": "at least {}",
    "exclusiveMinimum": "above {}",
    "maximum": "at most {}",
    "exclusiveMaximum": "below {}",
    "multipleOf": "a multiple of {}",
    "minItems": "at least {} items",
    "maxItems": "at most {} items",
}


WORDING: Final = 1
"""The version of the texts. Who changes a text that exists increases it."""


def ways_of(edges: Mapping[str, Edge], role: str) -> dict[str, str]:
    """Where each status of a role leads, as a sentence."""
    return {status: _way(edge, role) for status, edge in edges.items()}


def deliverable_of(
    schema: Mapping[str, Any], ways: Mapping[str, str], put: Callable[[str], Ref]
) -> ReplyForm:
    """How to reply in a role.

    Args:
        schema: of the role, as it is stored: the order of its keys is that of the fields.
        ways: by `ways_of`. put: stores a text, or computes its reference.

    Raises:
        DefinitionError: the schema has no clear variants (impossible in a checked workflow).
    """
    return ReplyForm(
        form=put(deliverable(schema, ways)),
        last_line=form_line(schema),
        object_form=put(deliverable(schema, ways, typed=True)),
        object_last_line=form_line(schema, typed=True),
        wording=WORDING,
    )


def deliverable(schema: Mapping[str, Any], ways: Mapping[str, str], *, typed: bool = False) -> str:
    """The form of the deliverable as Markdown, under a heading of level 1; `typed`: of an object,
    whose fields the agent knows from the schema itself.
    """
    forms = variants(schema)
    choice = _CHOICE if len(forms) > 1 else _ONLY
    if typed:
        lines = [f"- {_fields(each)}. {ways.get(each.status, '')}".rstrip() for each in forms]
        return "\n\n".join((_TYPED, choice, "\n".join([*lines, _TYPED_SUSPEND])))
    parts = [_BEGIN, choice, *(_form(each, ways.get(each.status, "")) for each in forms)]
    reason = "<what you need, from whom, and why>"
    parts.append(_SUSPEND + _shown({STATUS: SUSPEND, "reason": reason}, ""))
    return "\n\n".join(parts)


def form_line(schema: Mapping[str, Any], *, typed: bool = False) -> str:
    """The form of the deliverable in one line, for the end of a prompt."""
    forms = " or ".join((*map(_fields, variants(schema)), f"`{STATUS}: {SUSPEND}` with `reason`"))
    if typed:
        return f"Deliver one object: {forms}."
    return f"Begin your final reply with `---`, then {forms}, then `---`, then your text."


def _way(edge: Edge, role: str) -> str:
    if edge.then is not None:
        from uwf_core.workflow.fan_out import fan_out_words  # not for every workflow

        return f"Next: {fan_out_words(edge)}."
    known = {END: "the end of the thread", SUSPEND: "a question to a person", role: "you again"}
    return f"Next: {known.get(edge.role, f'the role {edge.role}')}."


def _fields(variant: Variant) -> str:
    """A status with the names of its fields: `$status: done` with `a` (optional: `b`)."""
    names = [name for name in variant.properties if name != STATUS]
    required = [f"`{name}`" for name in names if name in variant.required]
    others = [f"`{name}`" for name in names if name not in variant.required]
    text = f"`{STATUS}: {variant.status}`" + (f" with {', '.join(required)}" if required else "")
    return f"{text} (optional: {', '.join(others)})" if others else text


def field_notes(properties: Mapping[str, Any], required: Collection[str]) -> list[str]:
    """One Markdown list item per field except `$status`: its type, bounds and description."""
    return list(_notes(properties, required, ""))


def example_output(variant: Variant) -> dict[str, Any]:
    """A mapping that satisfies `variant`, `$status` first."""
    names = dict.fromkeys((*variant.properties, *sorted(variant.required)))
    fields = {name: example(variant.properties.get(name), name) for name in names}
    return {STATUS: variant.status} | fields | {STATUS: variant.status}


def _form(variant: Variant, lead: str) -> str:
    notes = "\n".join(field_notes(variant.properties, variant.required))
    shown = _shown(example_output(variant), "<your text>")
    parts = (f"## `$status: {variant.status}`", lead, shown, notes)
    return "\n\n".join(filter(None, parts))


def _shown(output: Mapping[str, Any], body: str) -> str:
    return fenced(frontmatter(output, body))


def _notes(properties: Mapping[str, Any], required: Any, indent: str) -> Iterator[str]:
    """One list item per field: its type and bounds, whether it is optional, its description."""
    for name, schema in properties.items():
        if name == STATUS:
            continue
        flat, facts = flattened(schema), field_facts(schema)
        if name not in required:
            facts.append("optional")
        told = " ".join(str(flat.get("description", "")).split())
        yield f"{indent}- `{name}` ({', '.join(facts)})" + (f": {told}" if told else "")
        inner = flattened(flat.get("items")) if main_type(flat) == "array" else flat
        yield from _notes(inner.get("properties", {}), inner.get("required", ()), indent + "  ")


def field_facts(schema: Any) -> list[str]:
    """The type of a field and its bounds, in words."""
    return [_kind(schema), *_bounds(flattened(schema))]


def _kind(schema: Any) -> str:
    """The type in words: `text`, `list of whole numbers`, one of `low`, `high`."""
    if isinstance(schema, Mapping):
        for key in ("anyOf", "oneOf"):
            if len(schema.get(key, ())) > 1:
                return " or ".join(dict.fromkeys(_kind(each) for each in schema[key]))
    flat = flattened(schema)
    if "const" in flat:
        return f"always {_code(flat['const'])}"
    if "enum" in flat:
        return "one of " + ", ".join(_code(each) for each in flat["enum"])
    named = flat.get("type") or main_type(flat)
    kinds = [named] if isinstance(named, str) else named
    words = " or ".join(_TYPES.get(each, str(each)) for each in kinds)
    return f"{words} of: {_kind(flat['items'])}" if words == "list" and flat.get("items") else words


def _bounds(flat: Mapping[str, Any]) -> Iterator[str]:
    for key, words in _BOUNDS.items():
        if key == "format" and flat.get(key) == FILE_FORMAT:
            yield "the path of a finished file in your working folder, which uwf stores"
        elif key in flat:
            yield words.format(flat[key])


def _code(value: Any) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return f"`{text}`"


# -- examples --------------------------------------------------------------------------------------
# Values of the author come first: `const`, `enum`, `examples`, `default`. Otherwise the value is
# made from the type and its bounds. A `pattern` cannot be followed; the field's note states it.


_MOST_ITEMS = 50
_LONGEST = 2_000
"""Characters of an example; a pattern or a bound of many more would only fill the prompt."""


def example(schema: Any, name: str, room: int = _MOST_ITEMS) -> Any:
    """A value for the field `name`; the same one every time. `room`: how many items its lists may
    have together; an example that needs more is shorter than its schema demands.
    """
    flat = flattened(schema)
    if "const" in flat:
        return flat["const"]
    for key in ("enum", "examples"):
        if flat.get(key):
            return flat[key][0]
    if "default" in flat:
        return flat["default"]
    return _of_type(main_type(flat), flat, name, room)


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


def _of_type(kind: str, flat: Schema, name: str, room: int) -> Any:
    if kind == "object":
        return _object(flat, room)
    if kind == "array":
        return _array(flat, name, room)
    if kind in ("integer", "number"):
        return _number(flat, kind == "integer")
    return {"boolean": True, "null": None}.get(kind, _string(flat, name))


def _object(flat: Schema, room: int) -> dict[str, Any]:
    properties = flat.get("properties", {})
    names = dict.fromkeys((*properties, *flat.get("required", ())))
    return {name: example(properties.get(name), name, room) for name in names}


def _array(flat: Schema, name: str, room: int) -> list[Any]:
    fixed = list(flat.get("prefixItems", ()))
    least = min(flat.get("minItems", 0), room)
    wanted = int(min(max(1, len(fixed), least), flat.get("maxItems", math.inf)))
    within = max(1, room // max(1, wanted))
    items = [example(schema, name, within) for schema in fixed[:wanted]]
    choices = flattened(flat.get("items")).get("enum", ())
    for index in range(wanted - len(items)):
        value = example(flat.get("items"), name, within)
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
    while len(text) < min(flat.get("minLength", 0), _LONGEST):
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
