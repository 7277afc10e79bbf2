"""Fields -> a valid output, or the errors, field by field.

First select the variant by `$status`, then drop unknown keys, then validate the rest
against that variant, so that an error names a field and not a choice of forms.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from uwf_core.api.extract import ExtractProblem, ExtractReply
from uwf_core.cas.codec import decode, encode
from uwf_core.cas.schemas import CompiledSchema, Violation, violations
from uwf_core.errors import PayloadError
from uwf_core.fields.mismatch import not_a_field
from uwf_core.workflow.definition import SUSPEND
from uwf_core.workflow.lattice import at, type_of, types_of
from uwf_core.workflow.variants import BODY, STATUS, Variant, variants

_NONE_FITS = ("listed in the 'anyOf' keyword", "listed in the 'oneOf' keyword")

SUSPEND_SCHEMA: Mapping[str, Any] = {
    "title": "suspend",
    "description": "A role cannot continue without a person; every role may deliver this.",
    "type": "object",
    "properties": {
        STATUS: {"type": "string", "const": SUSPEND},
        "reason": {"type": "string", "pattern": r"\S"},
        "form": {"type": "object"},
    },
    "required": [STATUS, "reason"],
    "additionalProperties": False,
}
"""The output that every role may deliver besides its schema: `form` is a JSON Schema."""

_SUSPEND_VARIANT = Variant(
    SUSPEND,
    dict(SUSPEND_SCHEMA),
    dict(SUSPEND_SCHEMA["properties"]),
    frozenset(SUSPEND_SCHEMA["required"]),
    False,
)


def check_structured(schema: Mapping[str, Any], fields: Mapping[str, Any]) -> ExtractReply:
    """An output that an agent delivered as a typed object, by the rules for frontmatter.

    Types are not converted: `"3"` is text. The reply's body is empty.

    Raises:
        DefinitionError: `schema` has no clear variants (no checked workflow has such a one).
    """
    status = fields.get(STATUS)
    if status is not None and not isinstance(status, str):
        problem = f"must be text, not {type(status).__name__}; {_allowed(variants(schema))}"
        return ExtractReply(errors=(ExtractProblem(path=STATUS, message=problem),))
    variant = variant_for(schema, status)
    if isinstance(variant, ExtractProblem):
        return ExtractReply(errors=(variant,))
    kept = {name: value for name, value in fields.items() if keeps(variant, name)}
    return checked(schema, variant, kept, "")


def variant_for(schema: Mapping[str, Any], status: str | None) -> Variant | ExtractProblem:
    """The variant of `schema` with this status, including `$SUSPEND`, or an error.

    Raises:
        DefinitionError: `schema` has no clear variants.
    """
    if status == SUSPEND:
        return _SUSPEND_VARIANT
    known = variants(schema)
    for variant in known:
        if variant.status == status:
            return variant
    if not status:
        return ExtractProblem(path=STATUS, message=f"is missing; {_allowed(known)}")
    near = _nearest(status, [variant.status for variant in known])
    return ExtractProblem(
        path=STATUS,
        message=f"{status[:80]!r} is not a status of this role; {_allowed(known)}{near}",
    )


def keeps(variant: Variant, name: object) -> bool:
    """Whether the variant has this top-level key; others are dropped."""
    if not isinstance(name, str) or name == BODY:
        return False
    return variant.open or name in variant.properties or name in variant.required


def unknown_fields(
    schema: Mapping[str, Any], fields: Mapping[str, Any]
) -> tuple[ExtractProblem, ...]:
    """The fields of an output that its variant does not have; none without a valid status."""
    status = fields.get(STATUS)
    variant = variant_for(schema, status if isinstance(status, str) else None)
    if not isinstance(variant, Variant):
        return ()
    unknown = [name for name in fields if not keeps(variant, name)]
    of, known = f"$status {variant.status!r}", sorted(variant.properties)
    return tuple(ExtractProblem(name, not_a_field(name, of, known)) for name in unknown)


def checked(
    schema: Mapping[str, Any], variant: Variant, fields: Mapping[str, Any], body: str
) -> ExtractReply:
    """The output if `fields` satisfy the variant (and with it `schema`), else every problem."""
    try:
        output = decode(encode(dict(fields)))
    except PayloadError as error:
        return ExtractReply(body=body, errors=_unsayable(fields, error))
    problems = [*_problems(variant, output), *_form_problems(variant, output)]
    if not problems and variant.status != SUSPEND:
        problems = [
            ExtractProblem(path=path, message=message)
            for path, message in explained_violations(schema, output)
        ]
    if problems:
        return ExtractReply(body=body, errors=tuple(problems))
    return ExtractReply(output=output, body=body)


def _problems(variant: Variant, output: Mapping[str, Any]) -> list[ExtractProblem]:
    missing = [name for name in sorted(variant.required) if name not in output]
    reported = {f'"{name}" is a required property' for name in missing}
    return [
        *(
            ExtractProblem(path=name, message=f"is missing; $status {variant.status!r} requires it")
            for name in missing
        ),
        *(
            ExtractProblem(path=path, message=message)
            for path, message in explained_violations(variant.schema, output)
            if path or message not in reported
        ),
    ]


def _form_problems(variant: Variant, output: Mapping[str, Any]) -> Iterator[ExtractProblem]:
    """Why the form of a `$SUSPEND` cannot be answered: it is not a schema, or too large."""
    if variant.status == SUSPEND and isinstance(output.get("form"), dict):
        try:
            CompiledSchema(output["form"])
        except PayloadError as error:
            where = f".{error.where}" if error.where else ""
            yield ExtractProblem(path=f"form{where}", message=error.message)


def _unsayable(fields: Mapping[str, Any], whole: PayloadError) -> tuple[ExtractProblem, ...]:
    """One problem for each field that JSON cannot represent; `whole` is the first of them."""
    found = []
    for name, value in fields.items():
        try:
            encode(value)
        except PayloadError as error:
            path = f"{name}.{error.where}" if error.where else name
            found.append(ExtractProblem(path=path, message=error.message))
    return tuple(found) or (ExtractProblem(path=whole.where or "", message=whole.message),)


def _allowed(known: list[Variant]) -> str:
    return "allowed: " + ", ".join((*(variant.status for variant in known), SUSPEND))


def _nearest(status: str, known: list[str]) -> str:
    from difflib import get_close_matches

    by_lower = {each.lower(): each for each in (*known, SUSPEND)}
    near = get_close_matches(status.lower()[:80], by_lower, 1)
    return f"; did you mean {by_lower[near[0]]!r}?" if near else ""


# -- alternatives ----------------------------------------------------------------------------------
# An agent cannot correct "Not valid under any of the schemas listed".


def explained_violations(schema: Mapping[str, Any], value: Any) -> list[Violation]:
    """What is wrong with a decoded value; where no alternative matches, by the nearest one."""
    return [
        each
        for violation in violations(schema, value, decoded=True)
        for each in _explained(schema, value, violation)
    ]


def _explained(schema: Mapping[str, Any], value: Any, violation: Violation) -> list[Violation]:
    if not violation.message.endswith(_NONE_FITS) or " more than one " in violation.message:
        return [violation]
    inner_schema, inner_value = _located(schema, value, violation.path)
    nearest = [
        _below(violation.path, each)
        for choice in _choices(inner_schema)
        for each in _faults_of_nearest(choice, inner_value)
    ]
    return nearest or [violation]


def _located(schema: Any, value: Any, path: str) -> tuple[Any, Any]:
    """The part of schema and value at `path`; a key may contain dots."""
    while path:
        keys = range(len(value)) if isinstance(value, list) else value
        fitting = [key for key in keys if f"{path}.".startswith(f"{key}.")]
        key = max(fitting, key=lambda each: len(str(each)))
        schema, value = at(schema, key), value[key]
        path = path[len(str(key)) + 1 :]
    return schema, value


def _choices(schema: Any) -> Iterator[list[Any]]:
    """Every list of alternatives that applies to a value of `schema`."""
    if isinstance(schema, Mapping):
        for word in ("anyOf", "oneOf"):
            if schema.get(word):
                yield schema[word]
        for each in schema.get("allOf", ()):
            yield from _choices(each)


def _faults_of_nearest(choice: list[Any], value: Any) -> list[Violation]:
    """The errors of the alternative nearest to `value`; none if one matches."""
    tried = [
        explained_violations(each, value) if isinstance(each, Mapping) else [] for each in choice
    ]
    if not all(tried):
        return []
    if not isinstance(value, (dict, list)) and all(len(faults) == 1 for faults in tried):
        messages = dict.fromkeys(faults[0].message for faults in tried)
        return [Violation("", "; or ".join(messages))]
    nearest = min(range(len(choice)), key=lambda each: _distance(choice[each], tried[each], value))
    return tried[nearest]


def _distance(schema: Any, faults: list[Violation], value: Any) -> tuple[bool, int, int]:
    """The distance of `value` from an alternative: another type, unknown keys, errors."""
    is_other = type_of(value) not in types_of(schema) or any(f.path == STATUS for f in faults)
    keys = value if isinstance(value, dict) else ()
    return is_other, sum(at(schema, key) is True for key in keys), len(faults)


def _below(path: str, violation: Violation) -> Violation:
    """`violation` with its place below `path`."""
    return violation._replace(path=".".join(part for part in (path, violation.path) if part))


def problem_words(problem: ExtractProblem | Violation) -> str:
    """A problem of an output, an answer or an input, as it is stored and shown."""
    return f"{problem.path}: {problem.message}" if problem.path else problem.message
