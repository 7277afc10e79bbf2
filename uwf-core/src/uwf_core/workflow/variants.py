"""The outputs of a role: one variant per `$status`, from the role's JSON Schema.

A role's schema is an object, or `oneOf` or `anyOf` of at most 64 objects, its variants. Each must
require `$status` and fix it by a text `const`.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from uwf_core.cas.codec import Keys
from uwf_core.cas.inline import inline_refs
from uwf_core.errors import DefinitionError
from uwf_core.fields.mismatch import name_fault, short
from uwf_core.workflow.definition import END, SUSPEND
from uwf_core.workflow.lattice import (
    MAX_ALTERNATIVES,
    UNIONS,
    as_list,
    as_mapping,
    is_open,
    merged,
    properties_of,
    required_of,
    union_of,
)

STATUS = "$status"
BODY = "_body"
INPUT = "input"
"""In templates, the typed input of the thread, if the workflow declares one."""
STEPS = "steps"
"""In templates, the newest output of each role, if a template of the workflow names one of them."""
FOLDER = "$folder"
GIT_BRANCH = "$gitBranch"
"""In templates, the folder and the branch of the called thread, if it worked in a worktree."""
PLACE: dict[str, Any] = {FOLDER: {"type": "string"}, GIT_BRANCH: {"type": "string"}}
"""The types of these two."""
INDEX = "$index"
"""In templates of a branch and in its result, its number."""
JOINED = ("$mixed", "$empty")
"""The statuses of a joint result that no role may declare: see `fan_out`."""

_CASES = "write one `oneOf` variant for each case, with its own $status"
_NESTED = "write its variants into one list, each with its own $status"
_INSTEAD = {
    "$ref": "write the object here; a YAML anchor (`&name`, `*name`) repeats it",
    "allOf": "write the `properties` and `required` of its parts into each variant",
    "if": _CASES,
    "not": "say in the properties of each variant what they allow",
    "dependentSchemas": _CASES,
}
"""Keywords that a variant must not have, and what to write in their place."""
_RESERVED = {
    BODY: "remove it: _body is always the text after the frontmatter",
    SUSPEND: "remove it: every role may use `$status: $SUSPEND` without declaring it",
}


class Variant(NamedTuple):
    """One shape of a role's output.

    Attributes:
        status: the text of `$status`.
        schema: the schema for an output with this status; equivalent to the whole schema
            but flat, so that an error names a field.
        properties: the schema of each top-level key that is declared or required.
        required: the keys that are always present.
        open: whether further keys are allowed (`additionalProperties`, `patternProperties`);
            if False, keys that are not among `properties` can be dropped.
    """

    status: str
    schema: dict[str, Any]
    properties: dict[str, dict[str, Any]]
    required: frozenset[str]
    open: bool


class Fault(NamedTuple):
    """The reason why a schema has no clear statuses; `path` is the place in the schema."""

    path: Keys
    code: str
    message: str
    hint: str = ""


class Analysis(NamedTuple):
    """The statuses of a schema.

    `variants` are the valid ones, `faults` the errors, `warnings` possible errors.
    `complete`: the schema has no statuses except those of `variants`.
    `duplicates`: variants with the same status; an error in a workflow, not in a form or a result.
    """

    variants: tuple[Variant, ...]
    faults: tuple[Fault, ...]
    warnings: tuple[Fault, ...] = ()
    complete: bool = False
    duplicates: tuple[Fault, ...] = ()


class Items(NamedTuple):
    """How many items a list can have; None is any number."""

    least: int
    most: int | None

    def schema(self) -> dict[str, int]:
        """The keywords of the results, if there is one at least."""
        most = {} if self.most is None else {"maxItems": max(1, self.most)}
        return {"minItems": max(1, self.least), **most}


def variant_of(analysis: Analysis | None, status: str) -> Variant | None:
    """The variant of a status; None if it is unknown, perhaps because of another error."""
    found = () if analysis is None else analysis.variants
    return next((each for each in found if each.status == status), None)


def variants(schema: Any) -> list[Variant]:
    """The variants of a role's schema, one per status, in their order.

    Raises:
        DefinitionError: a variant has no clear `$status`; the message names the place.
    """
    return list(variants_of_text(json.dumps(schema)))


def role_variants(schema: Mapping[str, Any]) -> list[Variant]:
    """The variants of a schema that is a role's; none for any other schema."""
    try:
        return variants(schema)
    except DefinitionError:
        return []


@lru_cache(maxsize=64)
def variants_of_text(text: str) -> tuple[Variant, ...]:
    """Cached for a schema as JSON: each step needs those of its role several times."""
    inlined = inline_refs(json.loads(text))
    found = analyse(inlined.schema)
    faults = [Fault(*fault) for fault in inlined.faults] or found.faults
    if faults:
        first = faults[0]
        place = "/".join(("", *(str(step) for step in first.path)))
        raise DefinitionError(first.message, where=f"#{place}", hint=first.hint or None)
    return found.variants


def objects_of(schema: Any) -> Iterator[tuple[Keys, dict[str, Any]]]:
    """The objects of a role's schema with their paths: itself, or those that it lists."""
    word = union_of(schema)
    if word is None:
        yield (), as_mapping(schema)
        return
    for index, each in enumerate(schema[word]):
        yield (word, index), as_mapping(each)


def keyword_faults(schema: Any) -> Iterator[Fault]:
    """Keywords by which a schema would have other objects than those that it lists."""
    whole, word = as_mapping(schema), union_of(schema)
    yield from _not_in_variants(whole, (), UNIONS[UNIONS.index(word) + 1 :] if word else ())
    if word is not None:
        for path, each in objects_of(whole):
            yield from _not_in_variants(each, path, UNIONS)
        if STATUS in properties_of(whole):
            message = f"$status is beside `{word}`, so all variants would have the same one"
            where = ("properties", STATUS)
            yield Fault(where, "variant-keyword", message, "give each variant its own $status")


def _not_in_variants(schema: dict[str, Any], path: Keys, unions: Iterable[str]) -> Iterator[Fault]:
    for key, instead in {**_INSTEAD, **dict.fromkeys(unions, _NESTED)}.items():
        if key in schema:
            message = f"`{key}` is not allowed here: a role delivers an object, or `oneOf` of some"
            yield Fault((*path, key), "variant-keyword", message, instead)


def analyse(schema: Any) -> Analysis:
    """The variants and errors of a schema without `$ref` (see `cas.inline`)."""
    if not isinstance(schema, dict):
        return Analysis((), (Fault((), "schema", "a role's schema must be a mapping"),))
    objects = [*objects_of(schema)]
    word = union_of(schema)
    shared = {key: each for key, each in schema.items() if key != word} if word else {}
    if len(objects) > MAX_ALTERNATIVES:
        message = f"the schema has more than {MAX_ALTERNATIVES} variants"
        return Analysis((), (Fault((), "too-many-variants", message),))
    wrong = (*keyword_faults(schema),)
    if wrong:
        return Analysis((), wrong)
    faults, warnings, twice = list[Fault](), list[Fault](), list[Fault]()
    by_status: dict[str, list[dict[str, Any]]] = {}
    complete = True
    faults += _reserved(shared, ())
    for path, own in objects:
        each = merged(shared, own)
        faults += _reserved(own, path)
        warnings += _undeclared(own, path, each)
        status = _status(each, path, faults)
        complete = complete and status is not None
        if status is None:
            continue
        if status in by_status:
            twice.append(_duplicate(status, path))
        by_status.setdefault(status, []).append(each)
    if word is not None:
        warnings += _undeclared(shared, (), merged(shared, *(own for _, own in objects)))
    found = [_variant(status, same) for status, same in by_status.items()]
    return Analysis(tuple(found), _unique(faults), _unique(warnings), complete, tuple(twice))


def _duplicate(status: str, path: Keys) -> Fault:
    return Fault(
        (*path, "properties", STATUS),
        "duplicate-status",
        f"another variant has the $status {status!r} already",
        "use another status, or one variant with the fields of both",
    )


def _undeclared(schema: dict[str, Any], path: Keys, whole: dict[str, Any]) -> Iterator[Fault]:
    """Keys that are required but not described: often one of two is misspelt."""
    if is_open(whole):
        return
    for index, name in enumerate(as_list(schema.get("required"))):
        if isinstance(name, str) and name not in {*properties_of(whole), STATUS, BODY}:
            yield Fault(
                (*path, "required", index),
                "required-undeclared",
                f"the field {name!r} is required but not in the properties",
                f"add `{name}: {{type: string}}` to the properties, or fix the name",
            )


def _unique(faults: Iterable[Fault]) -> tuple[Fault, ...]:
    return tuple(dict.fromkeys(faults))


def _reserved(schema: dict[str, Any], path: Keys) -> Iterator[Fault]:
    """Every key and type that no output can have."""
    types = schema.get("type", "object")
    if "object" not in (types if isinstance(types, list) else [types]):
        message = f"the type {types!r} does not allow a mapping, but every output is one"
        yield Fault((*path, "type"), "not-an-object", message, "write `type: object`")
    for name in (BODY, SUSPEND):
        if name in properties_of(schema):
            yield Fault(
                (*path, "properties", name),
                "reserved-field",
                f"{name} is reserved and cannot be a field of an output",
                _RESERVED[name],
            )
    for index, name in enumerate(as_list(schema.get("required"))):
        if name == BODY:
            where, message = (*path, "required", index), f"{BODY} is reserved and cannot be a field"
            yield Fault(where, "reserved-field", message, _RESERVED[BODY])


def _status(schema: dict[str, Any], path: Keys, faults: list[Fault]) -> str | None:
    """The status of a variant, or None and an error."""
    if STATUS not in properties_of(schema):
        faults.append(
            Fault(
                path,
                "status-missing",
                "this variant has no $status",
                "add `$status: {const: done}` to its properties and $status to its required",
            )
        )
        return None
    declared = as_mapping(properties_of(schema)[STATUS])
    found = [*_status_faults((*path, "properties", STATUS), declared)]
    faults += found
    if found:
        return None
    status: str = declared["const"]
    if STATUS not in required_of(schema):
        message = f"the variant {status} does not require $status"
        faults.append(Fault(path, "status-not-required", message, "add `required: [$status]`"))
    return status


def _status_faults(path: Keys, schema: dict[str, Any]) -> Iterator[Fault]:
    """The errors in a declaration of `$status`."""
    if "enum" in schema:
        yield _enum_fault((*path, "enum"), schema["enum"])
    elif "const" not in schema:
        yield Fault(
            path,
            "status-not-const",
            "$status is not a const, so the status of this variant is unknown",
            "write `$status: {const: done}`",
        )
    if "const" not in schema:
        return
    status = schema["const"]
    path = (*path, "const")
    if not isinstance(status, str):
        yield Fault(
            path,
            "status-not-text",
            "the const of $status is not text",
            "put it in quotes" if status is not None else "add the status",
        )
    elif status == SUSPEND:
        yield Fault(
            path,
            "reserved-status",
            "every role may use $SUSPEND without declaring it",
            "remove this variant",
        )
    elif status not in JOINED and (fault := name_fault(status)) is not None:
        yield Fault(path, "bad-name", f"the status {short(status)!r} {fault[0]}", fault[1])


def _enum_fault(path: Keys, values: Any) -> Fault:
    names = [value for value in as_list(values) if isinstance(value, str)] or ["done"]
    rewrite = ", ".join(
        f"{{properties: {{$status: {{const: {name}}}}}, required: [$status]}}" for name in names[:8]
    )
    return Fault(
        path,
        "status-enum",
        "$status is an enum; each status needs a separate variant",
        f"write `oneOf: [{rewrite}]`, each with the fields of its status",
    )


def _variant(status: str, objects: list[dict[str, Any]]) -> Variant:
    """The variant of `status`, which several objects may share."""
    properties: dict[str, list[Any]] = {}
    for each in objects:
        for name, schema in properties_of(each).items():
            known = properties.setdefault(name, [])
            if schema not in known:
                known.append(schema)
    required = [frozenset(required_of(each)) for each in objects]
    for name in sorted(frozenset().union(*required)):
        properties.setdefault(name, [{}])
    return Variant(
        status,
        _any_of(objects),
        {name: _any_of(schemas) for name, schemas in properties.items()},
        frozenset.intersection(*required),
        any(map(is_open, objects)),
    )


def _any_of(schemas: list[Any]) -> dict[str, Any]:
    return as_mapping(schemas[0]) if len(schemas) == 1 else {"anyOf": schemas}


Edges = Iterable[tuple[str, str, str]]
"""(role, status, target) of the edges of a graph."""


def result_schema(edges: Edges, variants: Mapping[str, Sequence[Variant]]) -> dict[str, Any] | None:
    """The JSON Schema of what a call of a workflow delivers; None if it can deliver nothing.

    Args:
        edges: of its graph.
        variants: the outputs of each role. A role that calls `$SELF` is left out: it delivers
            nothing that the others do not (the least fixpoint).
    """
    found: list[dict[str, Any]] = []
    for schema in _ending(edges, variants):
        if schema not in found:
            found.append(schema)
    if len(found) > 1:
        return {"anyOf": found}
    return found[0] if found else None


def _ending(edges: Edges, variants: Mapping[str, Sequence[Variant]]) -> Iterator[dict[str, Any]]:
    for role, status, target in edges:
        if target == END:
            for each in variants.get(role, ()):
                if each.status == status:
                    yield from each.schema.get("anyOf") or [each.schema]
