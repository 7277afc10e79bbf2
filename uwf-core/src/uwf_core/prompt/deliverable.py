"""Describe the deliverable of a role: one example per `$status`, and its fields."""

import json
from collections.abc import Collection, Iterator, Mapping
from typing import Any

from uwf_core.prompt.example import example, flattened, main_type
from uwf_core.prompt.quote import fenced
from uwf_core.prompt.yaml_text import frontmatter
from uwf_core.workflow.variants import STATUS, SUSPEND, Variant, variants

_BEGIN = """\
# What you must deliver

Your final reply begins with YAML frontmatter: a line `---`, the fields, another line `---`. \
Write nothing before the first `---`, no sentence and no code fence. \
After the second `---` comes free text (Markdown) for the roles that work after you. \
(The fences around the examples only mark them.)"""

_CHOICE = "`$status` is the result of your work and decides what happens next. Use exactly one of:"
_ONLY = "`$status` is the result of your work. There is one form:"

_SUSPEND = f"""\
## `$status: {SUSPEND}`

Only if you cannot continue without a person (an answer, a decision, a permission): \
the work then waits for them.

"""

_TYPES = {
    "string": "text",
    "integer": "whole number",
    "number": "number",
    "boolean": "true or false",
    "array": "list",
    "object": "mapping",
    "null": "null",
}
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


def deliverable(schema: Mapping[str, Any]) -> str:
    """The form of the deliverable as Markdown, under a heading of level 1.

    Raises:
        DefinitionError: the schema has no clear variants (impossible in a checked workflow).
    """
    forms = variants(schema)
    parts = [_BEGIN, _CHOICE if len(forms) > 1 else _ONLY, *(_form(each) for each in forms)]
    reason = "<what you need, from whom, and why>"
    parts.append(_SUSPEND + _shown({STATUS: SUSPEND, "reason": reason}, ""))
    return "\n\n".join(parts)


def field_notes(properties: Mapping[str, Any], required: Collection[str]) -> list[str]:
    """One Markdown list item per field except `$status`: its type, bounds and description."""
    return list(_notes(properties, required, ""))


def example_output(variant: Variant) -> dict[str, Any]:
    """A mapping that satisfies `variant`, `$status` first."""
    names = dict.fromkeys((*variant.properties, *sorted(variant.required)))
    fields = {name: example(variant.properties.get(name), name) for name in names}
    return {STATUS: variant.status} | fields | {STATUS: variant.status}


def _form(variant: Variant) -> str:
    notes = "\n".join(field_notes(variant.properties, variant.required))
    text = f"## `$status: {variant.status}`\n\n{_shown(example_output(variant), '<your text>')}"
    return f"{text}\n\n{notes}" if notes else text


def _shown(output: Mapping[str, Any], body: str) -> str:
    return fenced(frontmatter(output, body))


def _notes(properties: Mapping[str, Any], required: Any, indent: str) -> Iterator[str]:
    """One list item per field: its type and bounds, whether it is optional, its description."""
    for name, schema in properties.items():
        if name == STATUS:
            continue
        flat = flattened(schema)
        facts = [_kind(schema), *_bounds(flat)]
        if name not in required:
            facts.append("optional")
        told = " ".join(str(flat.get("description", "")).split())
        yield f"{indent}- `{name}` ({', '.join(facts)})" + (f": {told}" if told else "")
        inner = flattened(flat.get("items")) if main_type(flat) == "array" else flat
        yield from _notes(inner.get("properties", {}), inner.get("required", ()), indent + "  ")


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
        if key in flat:
            yield words.format(flat[key])


def _code(value: Any) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return f"`{text}`"
