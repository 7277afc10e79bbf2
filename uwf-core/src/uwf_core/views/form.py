"""The form of a question or of a typed input, made from its JSON Schema. Pure.

    form = form_of(schema)                      # what to ask, for a terminal or a page
    answer = answer_of(schema, "rejected", {"comments": ["Too long"]})   # what was entered

A form has a variant for each `$status` of the schema, and each variant its fields. What a person
enters is text: `answer_of` makes the value from it, typed by the schema. Whether that satisfies the
schema is checked where it is stored (`Client.resume`, `Client.start`).
"""

import json
from collections.abc import Mapping, Sequence
from typing import Any, Literal, TypedDict

from uwf_core.cas.hashing import FILE_FORMAT
from uwf_core.cas.inline import inline_refs
from uwf_core.errors import PayloadError
from uwf_core.workflow.deliverable import field_facts, flattened
from uwf_core.workflow.lattice import alternatives, as_mapping, types_of
from uwf_core.workflow.variants import STATUS, role_variants

Kind = Literal[
    "line", "text", "choice", "choices", "boolean", "integer", "number", "list", "file", "json"
]
LINE_CHARACTERS = 120
"""A text of at most so many characters is entered on one line."""


class FormField(TypedDict):
    """A field: what it is called and means, and how it is entered.

    - `kind`: `line` and `text` (of several lines), `choice` of `choices`, `choices` (any number of
      them), `boolean` (`true` or `false`), `integer`, `number`, `list` (of texts, one a line),
      `file` (the path of a file), else `json`. The name "" is the whole answer as JSON.
    - `facts`: its type and bounds in words. `choices`: JSON values, else null.
    - `default`: null if there is none.
    """

    name: str
    kind: Kind
    label: str
    description: str
    facts: str
    required: bool
    choices: list[Any] | None
    default: Any


class FormVariant(TypedDict):
    """A way to answer: a `$status`, null for a form without statuses, and the fields of it."""

    status: str | None
    fields: list[FormField]


class FormDocument(TypedDict):
    """All ways to answer, at least one."""

    variants: list[FormVariant]


def form_of(schema: Mapping[str, Any]) -> FormDocument:
    """The form of a JSON Schema: a role's, the one that an agent asks with, or of an input."""
    return {
        "variants": [
            {
                "status": status,
                "fields": [
                    _field(name, each, is_required=name in required)
                    for name, each in properties.items()
                    if status is None or name != STATUS
                ],
            }
            for status, properties, required in _ways(schema)
        ]
    }


def answer_of(
    schema: Mapping[str, Any], status: str | None, texts: Mapping[str, Sequence[str]]
) -> dict[str, Any]:
    """The value of a form that was filled in. A field without text is left out, or is null if it is
    required and may be null.

    Args:
        schema: of the form. status: the chosen variant, None for a form without statuses.
        texts: what was entered, by the names of fields; several texts only for `choices`.

    Raises:
        PayloadError: the form has no such status, or a whole answer is not a JSON object.
    """
    ways = [each for each in _ways(schema) if each[0] == status]
    if not ways:
        raise PayloadError(
            f"the form has no status {status!r}",
            hint=f"choose one of {', '.join(str(each[0]) for each in _ways(schema))}",
        )
    _, properties, required = ways[0]
    answer: dict[str, Any] = {} if status is None else {STATUS: status}
    for name, each in properties.items():
        if name == STATUS and status is not None:
            continue
        given = [text for text in texts.get(name, ()) if text.strip()]
        if given:
            answer[name] = _value(each, given)
        elif name in required and "null" in types_of(each) and types_of(each) != types_of(True):
            answer[name] = None
    return _whole(answer[""]) if "" in answer else answer


def is_empty_answer(answer: Mapping[str, Any], schema: Mapping[str, Any]) -> bool:
    """Whether a form with fields was sent back without a value in any of them."""
    values = (value.strip() if isinstance(value, str) else value for value in answer.values())
    has_value = any(value not in (None, "", [], {}) for value in values)
    return not has_value and any(properties.keys() - {""} for _, properties, _ in _ways(schema))


def _ways(
    schema: Mapping[str, Any],
) -> list[tuple[str | None, Mapping[str, Any], frozenset[str]]]:
    """Each way to answer: its status, the schemas of its fields, and which of them it needs."""
    roles = role_variants(schema)
    if roles:
        return [(each.status, each.properties, each.required) for each in roles]
    properties, required = dict[str, Any](), list[frozenset[str]]()
    for each in alternatives(inline_refs(schema).schema):
        properties |= {
            name: inner
            for name, inner in as_mapping(each.get("properties")).items()
            if name not in properties
        }
        required.append(frozenset(each.get("required", ())))
    if not properties:
        return [(None, {"": {"type": "object"}}, frozenset(("",)))]
    return [(None, properties, frozenset.intersection(*required))]


def _field(name: str, schema: Any, *, is_required: bool) -> FormField:
    flat = flattened(schema)
    kind, choices = _kind(schema, flat)
    return {
        "name": name,
        "kind": kind,
        "label": str(flat.get("title") or name),
        "description": str(flat.get("description", "")),
        "facts": ", ".join(field_facts(schema)),
        "required": is_required,
        "choices": choices,
        "default": flat.get("default"),
    }


def _kind(schema: Any, flat: Mapping[str, Any]) -> tuple[Kind, list[Any] | None]:
    choices = _choices(schema)
    if choices is not None:
        return "choice", choices
    types = types_of(schema) - {"null"}
    if types == {"array"}:
        items = flat.get("items")
        choices = _choices(items)
        if choices is not None:
            return "choices", choices
        return ("list" if items and types_of(items) == {"string"} else "json"), None
    if types in ({"boolean"}, {"integer"}):
        return ("boolean" if "boolean" in types else "integer"), None
    if types == {"number", "integer"}:
        return "number", None
    if "string" not in types:
        return "json", None
    if flat.get("format") == FILE_FORMAT:
        return "file", None
    is_short = flat.get("maxLength", LINE_CHARACTERS + 1) <= LINE_CHARACTERS
    return ("line" if is_short or "format" in flat or "pattern" in flat else "text"), None


def _choices(schema: Any) -> list[Any] | None:
    """The values of a schema that allows only some; None for every other."""
    if not isinstance(schema, Mapping):
        return None
    found: list[Any] = []
    for each in alternatives(inline_refs(schema).schema):
        if "const" in each:
            found.append(each["const"])
        elif isinstance(each.get("enum"), list):
            found += each["enum"]
        else:
            return None
    return found or None


def choice_text(value: Any) -> str:
    """The text of a choice, by which a form names it."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _value(schema: Any, texts: Sequence[str]) -> Any:
    kind, choices = _kind(schema, flattened(schema))
    known = {choice_text(each): each for each in choices or ()}
    match kind:
        case "choice":
            return known.get(texts[0], texts[0])
        case "choices":
            return [known.get(text, text) for text in texts]
        case "list":
            return [line for text in texts for line in text.splitlines() if line.strip()]
    from uwf_core.workflow.entered_fields import field_value  # a form that is only shown reads none

    text = texts[0]
    if kind not in ("text", "line"):
        text = text.strip()
    return field_value(text, schema)


def _whole(value: Any) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise PayloadError("the answer is not a JSON object", hint="write {...}")
    return value


_PLACEHOLDERS = {
    "line": "text", "text": "text", "file": "text", "integer": "number", "number": "number",
    "boolean": "true|false",
}  # fmt: skip


def answer_options(form: Mapping[str, Any], option: str = "--answer") -> list[str]:
    """The options of `thread resume` for each way to answer a form.

    A value to fill in is `<text>`: a shell that gets the line unchanged reports a syntax error and
    runs nothing. The names of a form are quoted, since an agent may have made it.
    """
    from shlex import quote

    lines, ways = [], form_of(form)["variants"]
    if ways[0]["status"] is None and not {"oneOf", "anyOf"}.isdisjoint(form):
        return [f"{option} <JSON>"]  # which fields go together is not known
    for way in ways:
        words = [] if way["status"] is None else [f"--status {quote(way['status'])}"]
        needed = [each for each in way["fields"] if each["required"]]
        if way["status"] is None:
            known = {each["name"] for each in way["fields"]}
            others = (each for each in form.get("required", ()) if each not in known)
            words += [f"{option} {quote(name)}=<text>" for name in others]
        for each in needed if words or needed else way["fields"]:
            name = each["name"] and f"{quote(each['name'])}="
            words.append(f"{option} {name}<{_placeholder(each)}>")
        lines.append(" ".join(words))
    return lines


def _placeholder(field: FormField) -> str:
    from uwf_core.workflow.discover import NAME

    choices = field["choices"] if field["kind"] == "choice" else None
    if not choices:
        return _PLACEHOLDERS.get(field["kind"], "JSON")
    texts = [each if isinstance(each, str) else json.dumps(each) for each in choices]
    if all(map(NAME.match, texts)):
        return "|".join(texts)
    return "text" if all(isinstance(each, str) for each in choices) else "JSON"
