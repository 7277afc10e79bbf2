"""Schema nodes: which JSON Schemas may be types, and the validation of values.

A type is a valid JSON Schema (draft 2020-12) that uses, at every depth, only the 40 keywords that
the meta-schema of ocas 0.4 names. jsonschema checks schemas, thoroughly; jsonschema-rs checks
values, in linear time whatever the pattern. Neither ever fetches anything.
"""

from collections.abc import Callable, Collection, Iterator, Mapping
from functools import lru_cache
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple

from uwf_core.cas.bounds import MAX_LISTED, MAX_PROBLEMS, MAX_VALUES, Budget
from uwf_core.cas.codec import Keys, decode, dotted, encode
from uwf_core.cas.hashing import META_SCHEMA, PRIMITIVES
from uwf_core.cas.simple_check import fits
from uwf_core.errors import PayloadError

if TYPE_CHECKING:
    from jsonschema_rs import ValidationError

KEYWORDS = frozenset(META_SCHEMA["properties"])
"""The 40 keywords that a type may use."""

_ONE = ("additionalProperties", "items", "if", "then", "else", "not", "contains", "propertyNames")
_LISTS = ("anyOf", "oneOf", "allOf", "prefixItems")
_NAMED = ("properties", "patternProperties")

_INLINE = "replace it by the schema that it refers to"
_REWRITES = {
    "$ref": _INLINE,
    "$dynamicRef": _INLINE,
    "$defs": "write each definition where it is used",
    "definitions": "write each definition where it is used",
    "$schema": "remove it: every schema is draft 2020-12",
    "$id": "remove it: the name of a schema is its reference",
    "id": "remove it: the name of a schema is its reference",
    "$anchor": "remove it, and write the schema where it is used",
    "$dynamicAnchor": "remove it, and write the schema where it is used",
    "$vocabulary": "remove it",
    "unevaluatedProperties": "list all properties in one place with `additionalProperties: false`",
    "unevaluatedItems": "use `prefixItems` with `maxItems`",
    "additionalItems": "use `prefixItems` for the first items and `items` for the others",
    "dependentRequired": "use `if: {required: [a]}` with `then: {required: [b]}`",
    "dependentSchemas": "use `if: {required: [a]}` with `then: {…}`",
    "dependencies": "use `if: {required: [a]}` with `then: {…}`",
    "minContains": "use `contains`, which requires at least one",
    "maxContains": "use `contains`, which requires at least one, and `maxItems`",
    "contentEncoding": "write it in `description`",
    "contentMediaType": "write it in `description`",
    "contentSchema": "write it in `description`, or make the content a separate field",
    "nullable": 'use a list of types, such as `type: [string, "null"]`',
    "example": "use `examples` with a list",
}


class SchemaProblem(NamedTuple):
    """An error in a schema: its place (`properties.a.$ref`), message and hint.

    `keys` is the same place as a tuple of keys and positions.
    """

    path: str
    message: str
    hint: str | None = None
    keys: Keys = ()


class Violation(NamedTuple):
    """An error in a value: `path` is its place (`items.2.name`, "" for the whole)."""

    path: str
    message: str


def subschemas(schema: Any) -> Iterator[tuple[Keys, Any]]:
    """Each schema that lies directly within `schema`, with its place."""
    if not isinstance(schema, dict):
        return
    for word in _ONE:
        if word in schema:
            yield (word,), schema[word]
    for word in _LISTS:
        if isinstance(schema.get(word), list):
            yield from (((word, index), each) for index, each in enumerate(schema[word]))
    for word in _NAMED:
        if isinstance(schema.get(word), dict):
            yield from (((word, name), each) for name, each in schema[word].items())


def schema_problems(schema: Any, budget: Budget | None = None) -> list[SchemaProblem]:
    """Why `schema` cannot be a type, at most `MAX_PROBLEMS` errors. `budget` is what
    this schema may take, shared with others that are checked with it.

    Loads jsonschema, which is slow to load, where there is a problem.
    """
    return _problems(schema, budget or Budget())[:MAX_PROBLEMS]


def first_problem(schema: Any) -> SchemaProblem | None:
    """A reason why a decoded value cannot be a type, or None;
    only jsonschema-rs decides, which loads quickly.
    """
    if not isinstance(schema, dict):
        return SchemaProblem("", f"a schema is a mapping, not a {type(schema).__name__}")
    return (
        next(_beyond(schema, Budget()), None)
        or next(_by_rule(schema, ()), None)
        or next(iter(_by_compiling(schema)), None)
    )


def _problems(schema: Any, budget: Budget) -> list[SchemaProblem]:
    if not isinstance(schema, dict):
        return [
            SchemaProblem(
                "", f"a schema is a mapping, not a {type(schema).__name__}", _boolean_hint(schema)
            )
        ]
    beyond = list(_beyond(schema, budget))
    if budget.is_spent:
        return beyond
    try:
        plain = decode(encode(schema))
    except PayloadError as error:
        return [SchemaProblem(error.where or "", error.message, error.hint)]
    problems = [*beyond, *islice(_by_rule(plain, ()), MAX_PROBLEMS)]
    found = [] if problems else _by_compiling(plain)
    if not problems and not found:
        return []
    named = {problem.keys for problem in problems}
    wrong = (each for each in _by_pattern(plain, ()) if not _lies_within(each.keys, named))
    problems += islice(wrong, MAX_PROBLEMS)
    named = {problem.keys for problem in problems}
    problems += (each for each in _by_meta_schema(plain) if not _lies_within(each.keys, named))
    return problems or found


def _beyond(schema: Any, budget: Budget) -> Iterator[SchemaProblem]:
    for excess in budget.excesses(schema):
        yield SchemaProblem(dotted(excess.keys), excess.message, excess.hint, excess.keys)


def _lies_within(keys: Keys, places: Collection[Keys]) -> bool:
    return any(keys[:length] in places for length in range(1, len(keys) + 1))


def _by_rule(schema: Mapping[str, Any], keys: Keys) -> Iterator[SchemaProblem]:
    for word in schema:
        if word not in KEYWORDS:
            place = (*keys, word)
            yield SchemaProblem(
                dotted(place), f"the keyword `{word}` is not allowed", _rewrite(word), place
            )
    for place, inner in subschemas(schema):
        if isinstance(inner, dict):
            yield from _by_rule(inner, keys + place)
        elif isinstance(inner, bool) and place != ("additionalProperties",):
            yield SchemaProblem(
                dotted(keys + place),
                f"a schema is a mapping here, not `{str(inner).lower()}`",
                _boolean_hint(inner),
                keys + place,
            )


def _by_pattern(schema: Mapping[str, Any], keys: Keys) -> Iterator[SchemaProblem]:
    """Each pattern that is none."""
    if isinstance(schema.get("pattern"), str):
        yield from _pattern_problems(schema["pattern"], (*keys, "pattern"))
    for pattern in _mapping(schema.get("patternProperties")):
        yield from _pattern_problems(pattern, (*keys, "patternProperties", pattern))
    for place, inner in subschemas(schema):
        if isinstance(inner, dict):
            yield from _by_pattern(inner, keys + place)


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def _boolean_hint(value: Any) -> str | None:
    if not isinstance(value, bool):
        return None
    return "write `{}` for anything" if value else "write `{not: {}}` for nothing at all"


def _rewrite(word: str) -> str:
    if word in _REWRITES:
        return _REWRITES[word]
    from difflib import get_close_matches

    near = get_close_matches(word, KEYWORDS, 1)
    return f"did you mean `{near[0]}`?" if near else "remove it, or write it in `description`"


def _pattern_problems(pattern: str, keys: Keys) -> Iterator[SchemaProblem]:
    try:
        pattern_schema(pattern)
    except PayloadError:
        yield SchemaProblem(
            dotted(keys),
            f"{_short(repr(pattern))} is not a regular expression of linear time",
            "look-ahead, look-behind and back-references are not available",
            keys,
        )


def _by_meta_schema(schema: Any) -> Iterator[SchemaProblem]:
    from jsonschema import Draft202012Validator
    from jsonschema_specifications import REGISTRY  # type: ignore[import-untyped]

    # This registry holds the drafts and retrieves nothing.
    checker = Draft202012Validator(Draft202012Validator.META_SCHEMA, registry=REGISTRY)
    for error in islice(checker.iter_errors(schema), MAX_PROBLEMS):
        keys = tuple(error.absolute_path)
        if keys and keys[-1] == "type" and "anyOf" in error.absolute_schema_path:
            yield SchemaProblem(
                dotted(keys),
                f"{error.instance!r} is not a type",
                f"use one of {', '.join(PRIMITIVES)}",
                keys,
            )
        else:
            yield SchemaProblem(dotted(keys), _short(error.message), None, keys)


def _by_compiling(schema: Any) -> list[SchemaProblem]:
    try:
        CompiledSchema(schema)
    except PayloadError as error:
        return [SchemaProblem(error.where or "", error.message, error.hint)]
    return []


class CompiledSchema:
    """A compiled schema. Its patterns run in linear time; it fetches nothing. A value
    that would take seconds to check is refused, since no signal gets through meanwhile.

    Attributes:
        accepts: whether a decoded value is valid; with `formats`, a text must have its `format`.

    Raises:
        PayloadError: it is not a valid schema.
    """

    __slots__ = ("_validator", "_work", "accepts")

    def __init__(self, schema: Mapping[str, Any], *, formats: bool = False) -> None:
        from jsonschema_rs import Draft202012Validator, RegexOptions, ValidationError

        budget = Budget()
        for excess in budget.excesses(schema):
            raise _no_type(excess.message, excess.keys, excess.hint)
        self._work = budget.taken
        try:
            self._validator = Draft202012Validator(
                dict(schema), pattern_options=RegexOptions(), retriever=_refuse,
                validate_formats=formats,
            )  # fmt: skip
        except (ValidationError, ValueError) as error:
            message = getattr(error, "message", str(error))
            keys = tuple(getattr(error, "instance_path", ()))
            raise _no_type(message, keys, "`uwf cas schema add` reports all its errors") from error
        valid = self._validator.is_valid
        self.accepts: Callable[[Any], bool] = valid if self._work.is_cheap else self.accepts_sized

    def accepts_sized(self, value: Any, size: int | None = None) -> bool:
        """`accepts`, for a decoded value whose size in bytes may be known already."""
        return self._work.excess(value, size) is None and self._validator.is_valid(value)

    def violations(self, value: Any) -> list[Violation]:
        """The violations of `value`; a value that is not JSON is one as well."""
        try:
            return self.violations_of_plain(decode(encode(value)))
        except PayloadError as error:
            return [Violation(error.where or "", error.message)]

    def violations_of_plain(self, value: Any) -> list[Violation]:
        """Like `violations`, for a decoded value."""
        excess = self._work.excess(value)
        if excess is not None:
            return [Violation("", excess)]
        return [
            Violation(dotted(tuple(error.instance_path)), _short(error.message))
            for error in islice(self._errors(value), MAX_LISTED)
        ]

    def _errors(self, value: Any) -> "Iterator[ValidationError]":
        if self._work.explains(value):
            yield from self._validator.iter_errors(value)  # finds all before it gives the first
            return
        from jsonschema_rs import ValidationError

        try:
            self._validator.validate(value)
        except ValidationError as error:
            yield error


@lru_cache(maxsize=MAX_VALUES)  # all of one schema: fewer would be compiled for each value anew
def pattern_schema(pattern: str) -> CompiledSchema:
    """The schema of texts in which `pattern` is found, compiled once.

    Raises:
        PayloadError: it is not a pattern, or costs too much to compile.
    """
    return CompiledSchema({"pattern": pattern})


def _no_type(message: str, keys: Keys, hint: str) -> PayloadError:
    return PayloadError(
        f"this schema cannot be a type: {_short(message)}",
        where=dotted(keys) or None,
        hint=hint,
    )


def _refuse(uri: str) -> Any:
    raise ValueError(f"{uri} is not available: schemas are never fetched")


def _short(message: str) -> str:
    return message if len(message) <= 400 else f"{message[:250]} … {message[-100:]}"


def violations(schema: Mapping[str, Any], value: Any, *, decoded: bool = False) -> list[Violation]:
    """What is wrong with the output or answer `value` by `schema`, formats included. The schema was
    checked when it was stored. `decoded`: the value is one that `decode` gave.

    Raises:
        PayloadError: `schema` is not a schema.
    """
    try:
        plain = value if decoded else decode(encode(value))
    except PayloadError as error:
        return [Violation(error.where or "", error.message)]
    if fits(schema, plain):
        return []
    return CompiledSchema(schema, formats=True).violations_of_plain(plain)
