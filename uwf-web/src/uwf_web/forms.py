"""Forms <-> typed values: the fields of a JSON Schema, and the values of a form that was sent."""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple
from urllib.parse import parse_qsl

from uwf_core.errors import UsageError

MOST_BYTES = 1024 * 1024
"""The largest form: a long text."""
MOST_FIELDS = 500
PREFIX = "field."
"""Before the names of a schema's fields, which could otherwise equal a name that every form has."""


class FormField(NamedTuple):
    """A field of a form.

    Attributes:
        name: the property of the schema.
        kind: `text`, `long` (of several lines), `choice`, `number`, `flag`, `lines` (a list of
            texts) or `json`.
        choices: the values of a choice by their texts.
        value: the default, as text.
    """

    name: str
    kind: str
    is_required: bool
    description: str
    choices: Mapping[str, Any]
    value: str


class FormVariant(NamedTuple):
    """One way to fill in a form: for a role, one for each `$status`."""

    status: str | None
    fields: Sequence[FormField]


def parse_form(body: bytes) -> dict[str, str]:
    """The values of a form by name; of a repeated name the last.

    Raises:
        UsageError: it is not a form, or has too many fields.
    """
    try:
        pairs = parse_qsl(
            body.decode("ascii"), keep_blank_values=True, max_num_fields=MOST_FIELDS,
            errors="strict",
        )  # fmt: skip
    except ValueError as error:
        raise UsageError("this is not a form that a page has sent") from error
    return dict(pairs)


def variants_of(schema: Mapping[str, Any]) -> list[FormVariant]:
    """The variants of a form: those of `oneOf`, else the schema itself."""
    options = schema.get("oneOf") or schema.get("anyOf") or [schema]
    return [_variant(each, schema) for each in options if isinstance(each, Mapping)]


def _variant(option: Mapping[str, Any], schema: Mapping[str, Any]) -> FormVariant:
    common = schema.get("properties", {}) if option is not schema else {}
    properties = {**common, **option.get("properties", {})}
    required = {*option.get("required", ()), *schema.get("required", ())}
    status = properties.get("$status", {}).get("const")
    names = [name for name in properties if name != "$status" or status is None]
    return FormVariant(status, [_field(name, properties[name], name in required) for name in names])


def _field(name: str, schema: Any, required: bool) -> FormField:
    found: Mapping[str, Any] = schema if isinstance(schema, Mapping) else {}
    choices = {_text(each): each for each in found.get("enum", ())}
    default = _text(found["default"]) if "default" in found else ""
    about = str(found.get("description", ""))
    return FormField(name, _kind(found), required, about, choices, default)


def _kind(schema: Mapping[str, Any]) -> str:
    if "enum" in schema:
        return "choice"
    kind = schema.get("type")
    if kind == "string":
        is_short = schema.get("maxLength", 1000) <= 80 or "format" in schema or "pattern" in schema
        return "text" if is_short else "long"
    if kind in ("integer", "number"):
        return "number"
    if kind == "boolean":
        return "flag"
    if kind == "array" and _kind(schema.get("items") or {}) in ("text", "long"):
        return "lines"
    return "json"


def values_of(schema: Mapping[str, Any], status: str | None, form: Mapping[str, str]) -> Any:
    """The values of a form by its schema; what was left empty and is not required is left out.

    Raises:
        UsageError: a number or a JSON value cannot be read, or no variant has this status.
    """
    chosen = next((each for each in variants_of(schema) if each.status == status), None)
    if chosen is None:
        raise UsageError(f"the form has no status {status!r}")
    values = {} if status is None else {"$status": status}
    return {**values, **dict(_values(chosen.fields, form, schema))}


def _values(
    fields: Sequence[FormField], form: Mapping[str, str], schema: Mapping[str, Any]
) -> Iterator[tuple[str, Any]]:
    for field in fields:
        given = form.get(PREFIX + field.name, "").replace("\r\n", "\n")
        if field.kind == "flag":
            yield field.name, given == "true"
        elif given or (field.is_required and field.kind in ("text", "long")):
            yield field.name, _value(field, given)


def _value(field: FormField, given: str) -> Any:
    if field.kind == "lines":
        return [line for line in given.split("\n") if line.strip()]
    if field.kind == "choice":
        return field.choices.get(given, given)
    if field.kind not in ("number", "json"):
        return given
    try:
        return json.loads(given)
    except ValueError as error:
        expected = "a number" if field.kind == "number" else "JSON"
        raise UsageError(f"{field.name} is not {expected}: {given!r}") from error


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
