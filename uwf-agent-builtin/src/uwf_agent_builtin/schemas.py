"""Validate arguments of tools and replies of roles. Pure; fetches nothing."""

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any, NoReturn

STATUS = "$status"
BODY = "_body"
SUSPEND = "$SUSPEND"
_PROBLEMS = 20
_LEVELS = 50
_FENCE = re.compile(r"\A\s*```(?:json)?\s*\n(.*)\n\s*```\s*\Z", re.DOTALL)


def problems(schema: Mapping[str, Any], value: Any) -> list[str]:
    """The errors of `value`, each with its place; patterns run in linear time."""
    from jsonschema_rs import Draft202012Validator, RegexOptions

    validator = Draft202012Validator(
        dict(schema), pattern_options=RegexOptions(), retriever=_refuse
    )
    found = []
    for error in validator.iter_errors(value):
        place = ".".join(map(str, error.instance_path))
        message = error.message if len(error.message) <= 400 else f"{error.message[:400]}…"
        found.append(f"{place}: {message}" if place else message)
        if len(found) == _PROBLEMS:
            break
    return found


def object_in(text: str) -> dict[str, Any] | None:
    """The JSON object that a text is, alone or in a fence; None if it is none."""
    fenced = _FENCE.match(text)
    try:
        value = json.loads(fenced[1] if fenced else text)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def has_frontmatter(text: str) -> bool:
    """Whether a reply begins with a `---` line, which may be in a code fence; the extractor reads
    its content.
    """
    first, _, rest = text.removeprefix("\ufeff").lstrip().partition("\n")
    if first.startswith(("```", "~~~")):
        first = rest.lstrip().partition("\n")[0]
    return first.rstrip() == "---"


def output_problems(schema: Mapping[str, Any], fields: Mapping[str, Any]) -> list[str]:
    """The errors of a role's output, only of the variant with its `$status`, so that an error names
    a field and not a choice of variants.
    """
    if is_deep(fields):
        return [f"the object is nested deeper than {_LEVELS} levels"]
    status = fields.get(STATUS)
    if not isinstance(status, str):
        status = None
    fields = {name: value for name, value in fields.items() if name != BODY}
    if status == SUSPEND:
        reason = fields.get("reason")
        named = isinstance(reason, str) and bool(reason.strip())
        return [] if named else ["reason: is missing; it describes what you need from a person"]
    forms = dict(statuses(schema))
    if forms and status not in forms:
        given = repr(fields.get(STATUS))[:100]
        return [f"{STATUS}: is {given}; it must be one of {', '.join((*forms, SUSPEND))}"]
    return problems(forms[str(status)] if forms else schema, fields)


def is_deep(value: Any, left: int = _LEVELS) -> bool:
    """Whether a value is nested deeper than uwf stores it."""
    if isinstance(value, dict):
        value = value.values()
    elif not isinstance(value, list):
        return False
    return left == 0 or any(is_deep(each, left - 1) for each in value)


def without_foreign_keys(schema: Mapping[str, Any], fields: Mapping[str, Any]) -> dict[str, Any]:
    """`fields` without the top-level keys that the form of its `$status` does not allow."""
    form = dict(statuses(schema)).get(str(fields.get(STATUS)), schema)
    known = form.get("properties")
    if form.get("additionalProperties") is not False or not isinstance(known, Mapping):
        return dict(fields)
    return {name: value for name, value in fields.items() if name in (*known, BODY)}


def statuses(schema: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Each `$status` with its form: a whole schema for the outputs that have it."""
    for word in ("oneOf", "anyOf"):
        choices = schema.get(word)
        if isinstance(choices, list):
            rest = {key: value for key, value in schema.items() if key != word}
            for choice in choices:
                if isinstance(choice, Mapping):
                    yield from statuses(_merged(rest, choice))
            return
    status = schema.get("properties", {}).get(STATUS)
    if isinstance(status, Mapping) and isinstance(status.get("const"), str):
        yield status["const"], schema


def flat(schema: Mapping[str, Any]) -> dict[str, Any]:
    """The schema of outputs as one object without a choice at its top, which is what services take
    as the parameters of a tool. It is wider than `schema`: what comes is to be checked.
    """
    forms = list(statuses(schema))
    properties: dict[str, Any] = {}
    for _, form in forms:
        for name, each in form.get("properties", {}).items():
            if name != STATUS:
                known = properties.setdefault(name, [])
                known += [] if each in known else [each]
    names = [*dict.fromkeys(status for status, _ in forms), SUSPEND]
    listed = {name: _one_of(each) for name, each in properties.items()}
    needs = _needs(forms)
    return {
        "type": "object",
        "properties": {
            STATUS: {"type": "string", "enum": names, **({"description": needs} if needs else {})},
            **listed,
            **({} if "reason" in listed else {"reason": {"type": "string"}}),
            BODY: {"type": "string"},
        },
        "required": [STATUS],
    }


def flat_text(schema: Mapping[str, Any]) -> dict[str, Any]:
    """The schema of outputs that are the text of a reply: `flat`, and closed, since services with
    structured outputs demand that.
    """
    return {**flat(schema), "additionalProperties": False}


def _needs(forms: list[tuple[str, Mapping[str, Any]]]) -> str:
    """Which fields go with which status, in words; the prompt describes `$SUSPEND`."""
    told = []
    for status, form in forms:
        required = set(form.get("required", ()))
        fields = [
            name if name in required else f"{name} (optional)"
            for name in form.get("properties", {})
            if name != STATUS
        ]
        told += [f"{status}: {', '.join(fields)}"] if fields else []
    return f"Its fields: {'; '.join([*told, f'{SUSPEND}: reason'])}" if told else ""


def _one_of(schemas: list[Any]) -> Any:
    return schemas[0] if len(schemas) == 1 else {"anyOf": schemas}


def _merged(rest: Mapping[str, Any], choice: Mapping[str, Any]) -> dict[str, Any]:
    """`rest` and `choice` both, as far as a form needs it."""
    properties = {**rest.get("properties", {}), **choice.get("properties", {})}
    required = list(dict.fromkeys([*rest.get("required", ()), *choice.get("required", ())]))
    return {**rest, **choice, "properties": properties, "required": required}


def _refuse(uri: str) -> NoReturn:
    raise ValueError(f"{uri} is not fetched: nothing ever is")
