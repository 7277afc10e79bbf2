"""The typed input of a call: what it takes from an output, and whether the types fit. Pure."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from uwf_core.workflow.alternatives import (
    alternatives,
    as_list,
    as_mapping,
    is_open,
    presence,
)
from uwf_core.workflow.variants import STATUS, Variant
from uwf_core.workflow.yaml_nodes import at, types_of

_DEEPEST = 8
"""Levels of nested fields that are compared; deeper ones count as unknown."""
_MOST_COMPARED = 5_000
"""Fields that are compared in one file, each with each alternative."""


class InputFault(NamedTuple):
    """A field of an input that an output cannot fill, or (`certain` is False) may not fill."""

    field: str
    message: str
    certain: bool


def reduced_input(output: Mapping[str, Any], schema: Mapping[str, Any]) -> dict[str, Any]:
    """The part of an output that the schema of an input declares: all fields but `$status` if the
    schema allows further fields.
    """
    every = alternatives(schema)
    declared = {name for each in every for name in as_mapping(each.get("properties"))}
    takes_all = any(is_open(each) for each in every)
    return {
        name: value
        for name, value in output.items()
        if name in declared or (takes_all and name != STATUS)
    }


def output_schema(variant: Variant | None) -> dict[str, Any]:
    """A variant of an output as one flat schema; that of $START (None) has no field."""
    return {
        "type": "object",
        "properties": {} if variant is None else variant.properties,
        "required": [] if variant is None else sorted(variant.required),
        "additionalProperties": variant is not None and variant.open,
    }


class InputWork:
    """What the comparisons of one file may still take; `left` counts fields."""

    def __init__(self) -> None:
        self.left = _MOST_COMPARED


def input_faults(given: Any, wanted: Any, work: InputWork | None = None) -> list[InputFault]:
    """Why values of the schema `given` may not fill an input of the schema `wanted`. What `work`
    does not allow to compare is a doubt; the values of patterns, lengths and ranges are left out.
    """
    work = work or InputWork()
    faults = _fewest(given, alternatives(wanted), "", _DEEPEST, work)
    if work.left > 0:
        return faults
    return [*faults, InputFault("", "is too complex to be compared with the output", False)]


def _fewest(
    given: Any, wanted: Sequence[Mapping[str, Any]], path: str, depth: int, work: InputWork
) -> list[InputFault]:
    """The reasons for the alternative that has the fewest."""
    tried = [list(_faults(given, each, path, depth, work)) for each in wanted]
    return min(tried, key=len, default=[])


def _faults(
    given: Any, wanted: Mapping[str, Any], path: str, depth: int, work: InputWork
) -> Iterator[InputFault]:
    work.left -= 1
    outputs = alternatives(given) if depth and work.left > 0 else ()
    if not outputs:
        return
    for name in as_list(wanted.get("required")):
        field = f"{path}{name}"
        presences = {presence(each, str(name)) for each in outputs}
        if presences == {"never"}:
            yield InputFault(field, "is not a field of the output", True)
        elif presences != {"always"}:
            yield InputFault(field, "is not required in the output", False)
    for name, schema in as_mapping(wanted.get("properties")).items():
        field = f"{path}{name}"
        if all(presence(each, name) in ("always", "perhaps") for each in outputs):
            yield from _of_field(at(given, name), schema, field, depth, work)


def _of_field(
    given: Any, wanted: Any, field: str, depth: int, work: InputWork
) -> Iterator[InputFault]:
    work.left -= 1
    if work.left <= 0:
        return
    mine, its = types_of(given), types_of(wanted)
    if mine and not mine & its:
        message = f"is {_words(mine)} in the output, and {_words(its)} in the input"
        yield InputFault(field, message, True)
        return
    if not mine <= its:
        message = f"can be {_words(mine - its)} in the output, and only {_words(its)} in the input"
        yield InputFault(field, message, False)
    values = _values(given)
    if values is not None and (allowed := _values(wanted)) is not None:
        if not any(each in allowed for each in values):
            yield InputFault(field, "has no value in the output that the input allows", True)
        return
    if "object" in mine & its:
        yield from _fewest(given, alternatives(wanted), f"{field}.", depth - 1, work)
    if "array" in mine & its and depth:
        yield from _of_field(at(given, 0), at(wanted, 0), f"{field}.0", depth - 1, work)


def _values(schema: Any) -> list[Any] | None:
    """The values that a schema lists, None if it lists none."""
    if not isinstance(schema, Mapping):
        return None
    if "const" in schema:
        return [schema["const"]]
    return schema["enum"] if isinstance(schema.get("enum"), list) else None


def _words(types: frozenset[str]) -> str:
    names = sorted(types - {"integer"} if "number" in types else types)
    return " or ".join(names) or "no value"
