"""The alternatives of a JSON Schema, each made flat.

`oneOf` and `anyOf` are a union, `allOf` is a product, at most 64 in all. Nothing here expects a
schema to be valid: a value that is not a mapping or list where one belongs counts as absent.
"""

from typing import Any

from uwf_core.named_tuple import NamedTuple
from uwf_core.workflow.local_refs import Path

MAX_ALTERNATIVES = 64
MAX_FRAGMENTS = 10_000
"""The limit of fragments in all alternatives together."""
_UNIONS = ("oneOf", "anyOf")
_MERGEABLE = ("type", "properties", "required", "title", "description", "additionalProperties")


class Fragment(NamedTuple):
    """A schema without alternatives, and its path in the source."""

    path: Path
    schema: dict[str, Any]


Branch = tuple[Fragment, ...]
"""Fragments that apply together: one alternative of the whole schema."""


class TooManyAlternatives(Exception):
    """More alternatives than are allowed, in the schema at `path`."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self.path = path


def expand(schema: Any, path: Path) -> list[Branch]:
    """The alternatives of `schema`, each as its fragments."""
    if not isinstance(schema, dict):
        return [()]
    flat = {key: schema[key] for key in schema if key not in (*_UNIONS, "allOf")}
    branches: list[Branch] = [(Fragment(path, flat),) if flat else ()]
    for index, inner in enumerate(as_list(schema.get("allOf"))):
        branches = _product(branches, expand(inner, (*path, "allOf", index)), path)
    for key in _UNIONS:
        inner_branches = [
            branch
            for index, inner in enumerate(as_list(schema.get(key)))
            for branch in expand(inner, (*path, key, index))
        ]
        if inner_branches:
            branches = _product(branches, inner_branches, path)
    return branches


def alternatives(schema: Any) -> tuple[dict[str, Any], ...]:
    """The alternatives of any schema, each flat; none if there are too many."""
    try:
        return tuple(conjunction(branch) for branch in expand(schema, ()))
    except TooManyAlternatives:
        return ()


def _product(left: list[Branch], right: list[Branch], path: Path) -> list[Branch]:
    fragments = len(left) * sum(map(len, right)) + len(right) * sum(map(len, left))
    if len(left) * len(right) > MAX_ALTERNATIVES or fragments > MAX_FRAGMENTS:
        raise TooManyAlternatives(path)
    return [one + other for one in left for other in right]


def properties_of(fragment: Fragment) -> dict[str, Any]:
    """The properties that a fragment declares."""
    return as_mapping(fragment.schema.get("properties"))


def required_of(fragment: Fragment) -> set[str]:
    """The properties that a fragment requires."""
    return {name for name in as_list(fragment.schema.get("required")) if isinstance(name, str)}


def is_open(schema: dict[str, Any]) -> bool:
    """Whether a schema explicitly allows properties that it does not name."""
    more = schema.get("additionalProperties", False)
    return bool(schema.get("patternProperties")) or more is True or isinstance(more, dict)


def conjunction(branch: Branch) -> dict[str, Any]:
    """The fragments as one schema: merged if that changes nothing, else under `allOf`."""
    merged: dict[str, Any] = {}
    apart: list[dict[str, Any]] = []
    for fragment in branch:
        if _can_merge(merged, fragment.schema):
            merged = _merge(merged, fragment.schema)
        else:
            apart.append(fragment.schema)
    return {**merged, "allOf": apart} if apart else merged


def _can_merge(one: dict[str, Any], other: dict[str, Any]) -> bool:
    if not one:
        return True
    if _depends_on_its_own(one) and _depends_on_its_own(other):
        return False
    if one.get("type", "") != other.get("type", "") and "type" in one and "type" in other:
        return False
    return _same_scope(one, other) and _same_scope(other, one)


def _depends_on_its_own(schema: dict[str, Any]) -> bool:
    """Whether keywords depend on each other (`if` and `then`, for example)."""
    return any(key not in _MERGEABLE for key in schema)


def _same_scope(closed: dict[str, Any], other: dict[str, Any]) -> bool:
    """Whether the `additionalProperties` of one schema keeps its meaning when merged."""
    if "additionalProperties" not in closed:
        return True
    beyond = set(as_mapping(other.get("properties"))) - set(as_mapping(closed.get("properties")))
    return not beyond and not other.get("patternProperties") and "additionalProperties" not in other


def _merge(one: dict[str, Any], other: dict[str, Any]) -> dict[str, Any]:
    merged = {**one, **other}
    mine, others = as_mapping(one.get("properties")), as_mapping(other.get("properties"))
    if mine and others:
        both = {
            name: merged_schemas([mine[name], schema], False)
            for name, schema in others.items()
            if name in mine and mine[name] != schema
        }
        merged["properties"] = {**mine, **others, **both}
    required = (*as_list(one.get("required")), *as_list(other.get("required")))
    if required:
        merged["required"] = list(dict.fromkeys(name for name in required if isinstance(name, str)))
    return merged


def merged_schemas(schemas: list[Any], several: bool) -> dict[str, Any]:
    """The schemas of one property as one: any of them (`several` alternatives), or all."""
    if len(schemas) == 1:
        return schemas[0] if isinstance(schemas[0], dict) else {}
    return {"anyOf" if several else "allOf": schemas}


def as_list(value: Any) -> list[Any]:
    """`value` if it is a list, else an empty one."""
    return value if isinstance(value, list) else []


def as_mapping(value: Any) -> dict[str, Any]:
    """`value` if it is a mapping, else an empty one."""
    return value if isinstance(value, dict) else {}
