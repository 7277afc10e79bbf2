"""The outputs of a role: one variant per `$status`, from the role's JSON Schema.

The variants of a schema are its alternatives: `oneOf` and `anyOf` as union, `allOf` as product,
local `$ref`s resolved, at most 64. Each must require `$status` and fix it by a text `const`.
"""

import json
import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import Any, NamedTuple

from uwf_core.errors import DefinitionError
from uwf_core.shape.mismatch import short
from uwf_core.workflow.alternatives import (
    MAX_ALTERNATIVES,
    Branch,
    Fragment,
    Path,
    TooManyAlternatives,
    alternatives,
    as_list,
    as_mapping,
    conjunction,
    expand,
    inline_refs,
    is_open,
    merged_schemas,
    properties_of,
    required_of,
    subschemas,
)
from uwf_core.workflow.definition import SUSPEND
from uwf_core.workflow.names import name_fault

STATUS = "$status"
BODY = "_body"
INPUT = "input"
"""In templates, the typed input of the thread, if the workflow declares one."""
FOLDER = "$folder"
GIT_BRANCH = "$gitBranch"
"""In templates, the folder and the branch of the called thread, if it worked in a worktree."""
PLACE: dict[str, Any] = {FOLDER: {"type": "string"}, GIT_BRANCH: {"type": "string"}}
"""The types of these two."""
JOINED = ("$mixed", "$empty")
"""The statuses of a joint result that no role may declare: see `fan_out`."""
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*\Z")
"""The pattern of names of workflows."""
NAME_HINT = "use letters, digits, `.`, `_` and `-`, with a letter or digit first"

_CHOICES = ("oneOf", "anyOf", "allOf")
_CONDITIONAL = ("if", "then", "else", "not", "dependentSchemas")


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
        loose: the keys that only some alternatives of the status declare, where another one may
            have any value for them.
    """

    status: str
    schema: dict[str, Any]
    properties: dict[str, dict[str, Any]]
    required: frozenset[str]
    open: bool
    loose: frozenset[str] = frozenset()

    @property
    def widened(self) -> "Variant":
        """The variant in which loose keys may have any value."""
        wide = {name: {"anyOf": [self.properties[name], {}]} for name in self.loose}
        return self._replace(properties={**self.properties, **wide}) if wide else self


class Fault(NamedTuple):
    """The reason why a schema has no clear statuses; `path` is the place in the schema."""

    path: Path
    code: str
    message: str
    hint: str = ""


class Analysis(NamedTuple):
    """The statuses of a schema.

    `variants` are the valid ones, `faults` the errors, `warnings` possible errors.
    `complete`: the schema has no statuses except those of `variants`.
    `duplicates`: alternatives with the same status; an error in a workflow, not in a form.
    """

    variants: tuple[Variant, ...]
    faults: tuple[Fault, ...]
    warnings: tuple[Fault, ...] = ()
    complete: bool = False
    duplicates: tuple[Fault, ...] = ()


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


def analyse(schema: Any) -> Analysis:
    """The variants and errors of a schema without `$ref` (see `local_refs.inline_refs`)."""
    if not isinstance(schema, dict):
        return Analysis((), (Fault((), "schema", "a role's schema must be a mapping"),))
    faults = list(_misplaced(schema, (), conditional=False))
    warnings: list[Fault] = []
    complete = True
    try:
        branches = expand(schema, ())
    except TooManyAlternatives as error:
        message = f"the schema has more than {MAX_ALTERNATIVES} variants, or too many parts in them"
        return Analysis((), (*faults, Fault(error.path, "too-many-variants", message)))
    by_status: dict[str, list[Branch]] = {}
    for branch in branches:
        warnings += _undeclared(branch)
        before = len(faults)
        status = _status(branch, faults)
        complete = complete and (status is not None or len(faults) == before)
        if status is not None:
            by_status.setdefault(status, []).append(branch)
    found = [_variant(schema, status, same) for status, same in by_status.items()]
    if not found and not faults:
        faults.append(Fault((), "no-variant", "no output can satisfy this schema"))
    twice = [fault for status, same in by_status.items() for fault in _duplicates(status, same)]
    return Analysis(tuple(found), _unique(faults), _unique(warnings), complete, tuple(twice))


def _duplicates(status: str, branches: list[Branch]) -> Iterator[Fault]:
    """Alternatives that declare the same status each by itself. Those that differ only in their
    other fields share one declaration.
    """
    declared = [
        {fragment.path for fragment in branch if STATUS in properties_of(fragment)}
        for branch in branches
    ]
    for place in declared[1:]:
        if place.isdisjoint(declared[0]):
            yield Fault(
                (*min(place, key=str), "properties", STATUS),
                "duplicate-status",
                f"another variant has the $status {status!r} already",
                "use another status, or one variant with the fields of both",
            )


def _undeclared(branch: Branch) -> Iterator[Fault]:
    """Keys that are required but not described: often one of two is misspelt."""
    declared = {name for fragment in branch for name in properties_of(fragment)}
    declared |= {STATUS, BODY}
    if any(is_open(fragment.schema) for fragment in branch):
        return
    for fragment in branch:
        for index, name in enumerate(as_list(fragment.schema.get("required"))):
            if isinstance(name, str) and name not in declared:
                yield Fault(
                    (*fragment.path, "required", index),
                    "required-undeclared",
                    f"the field {name!r} is required but not in the properties",
                    f"add `{name}: {{type: string}}` to the properties, or fix the name",
                )


def _unique(faults: Iterable[Fault]) -> tuple[Fault, ...]:
    return tuple(dict.fromkeys(faults))


def _misplaced(schema: Any, path: Path, *, conditional: bool) -> Iterator[Fault]:
    """Every `$status` under a condition, and every key that no role may declare."""
    properties = as_mapping(as_mapping(schema).get("properties"))
    if conditional and STATUS in properties:
        yield Fault(
            (*path, "properties", STATUS),
            "conditional-status",
            "$status is under a condition (if, then, else, not, dependentSchemas)",
            "write one oneOf variant for each status instead",
        )
    for name in (BODY, SUSPEND):
        if name in properties:
            yield Fault(
                (*path, "properties", name),
                "reserved-field",
                f"{name} is reserved and cannot be a field of an output",
                _RESERVED[name],
            )
    for index, name in enumerate(as_list(as_mapping(schema).get("required"))):
        if name == BODY:
            where = (*path, "required", index)
            yield Fault(
                where,
                "reserved-field",
                f"{BODY} is reserved and cannot be a field",
                _RESERVED[BODY],
            )
    for where, inner in subschemas(schema):
        if where[0] in (*_CHOICES, *_CONDITIONAL):
            below = conditional or where[0] in _CONDITIONAL
            yield from _misplaced(inner, (*path, *where), conditional=below)


def _status(branch: Branch, faults: list[Fault]) -> str | None:
    """The status of an alternative, or None: an error, or one that no output can satisfy."""
    declared = [
        (fragment, _flat(properties_of(fragment)[STATUS]))
        for fragment in branch
        if STATUS in properties_of(fragment)
    ]
    path = branch[-1].path if branch else ()
    faults.extend(_type_faults(branch))
    if not declared:
        faults.append(
            Fault(
                path,
                "status-missing",
                "this variant has no $status",
                "add `$status: {const: done}` to its properties and $status to its required",
            )
        )
        return None
    found = [fault for fragment, schema in declared for fault in _status_faults(fragment, schema)]
    faults.extend(found)
    constants = _constants(declared)
    if not found and not constants:
        faults.append(
            Fault(
                (*declared[-1][0].path, "properties", STATUS),
                "status-not-const",
                "$status is not a const, so the status of this variant is unknown",
                "write `$status: {const: done}`",
            )
        )
    if found or len(set(constants)) != 1:
        return None
    if not any(STATUS in required_of(fragment) for fragment in branch):
        faults.append(
            Fault(
                declared[-1][0].path,
                "status-not-required",
                f"the variant {constants[0]} does not require $status",
                "add `required: [$status]`",
            )
        )
    return constants[0]


def _flat(schema: Any) -> Any:
    """A schema of `$status` without the `allOf` that a `$ref` leaves behind."""
    flat = alternatives(schema)
    return flat[0] if len(flat) == 1 else schema


def _type_faults(branch: Branch) -> Iterator[Fault]:
    """Fragments that do not allow a mapping, which every output is."""
    for fragment in branch:
        types = fragment.schema.get("type", "object")
        if "object" not in (types if isinstance(types, list) else [types]):
            yield Fault(
                (*fragment.path, "type"),
                "not-an-object",
                f"the type {types!r} does not allow a mapping, but every output is one",
                "write `type: object`",
            )


def _constants(declared: list[tuple[Fragment, Any]]) -> list[str]:
    return [
        schema["const"]
        for _, schema in declared
        if isinstance(schema, dict) and isinstance(schema.get("const"), str)
    ]


def _status_faults(fragment: Fragment, schema: Any) -> Iterator[Fault]:
    """The errors in one declaration of `$status`."""
    path = (*fragment.path, "properties", STATUS)
    if not isinstance(schema, dict):
        return
    if "enum" in schema:
        yield _enum_fault((*path, "enum"), schema["enum"])
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


def _enum_fault(path: Path, values: Any) -> Fault:
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


def _variant(whole: dict[str, Any], status: str, branches: list[Branch]) -> Variant:
    """The variant of `status`, which several alternatives may share."""
    properties: dict[str, list[Any]] = {}
    for branch in branches:
        for fragment in branch:
            for name, schema in properties_of(fragment).items():
                known = properties.setdefault(name, [])
                if schema not in known:
                    known.append(schema)
    required = [
        frozenset(name for fragment in branch for name in required_of(fragment))
        for branch in branches
    ]
    for name in sorted(frozenset().union(*required) - {STATUS}):
        properties.setdefault(name, [{}])
    several = len(branches) > 1
    return Variant(
        status,
        _of_status(whole, status) if several else conjunction(branches[0]),
        {name: merged_schemas(schemas, several) for name, schemas in properties.items()},
        frozenset.intersection(*required),
        any(is_open(fragment.schema) for branch in branches for fragment in branch),
        frozenset(name for name in properties if _is_loose(name, branches)),
    )


def _is_loose(name: str, branches: list[Branch]) -> bool:
    """Whether an alternative neither declares nor excludes a key that another one declares."""
    return len(branches) > 1 and any(
        all(name not in properties_of(fragment) for fragment in branch)
        and all(fragment.schema.get("additionalProperties") is not False for fragment in branch)
        for branch in branches
    )


def _of_status(whole: dict[str, Any], status: str) -> dict[str, Any]:
    """The whole schema, narrowed to one status: for alternatives that share theirs."""
    return {"properties": {STATUS: {"const": status}}, "required": [STATUS], "allOf": [whole]}
