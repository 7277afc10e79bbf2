"""Records from JSON mappings and back: camelCase outside, snake_case inside, strict about types.

A record is a dataclass, or another class that `uwf_core.shape.shapes` reads; its fields are of the
types that are listed there. `Annotated` adds rules: `Annotated[int, above(0)]`.
"""

from typing import Any, TypeVar, cast

from uwf_core.shape.mismatch import FieldFault, Path, Reading, nearest, shown
from uwf_core.shape.rules import NOT_BLANK, Rule, above, between
from uwf_core.shape.shapes import build, camel, payload_schema, plain, shape_of

__all__ = [
    "NOT_BLANK",
    "FieldFault",
    "Path",
    "Rule",
    "above",
    "between",
    "camel",
    "nearest",
    "payload_schema",
    "read_payload",
    "read_record",
    "shown",
    "write_record",
]

_Record = TypeVar("_Record")

write_record = plain
read_payload = build


def read_record(
    cls: type[_Record], mapping: Any, *, lenient: bool = False, path: Path = ()
) -> _Record:
    """Read a record of class `cls` from `mapping`.

    Args:
        cls: a dataclass.
        mapping: its fields by their camelCase names.
        lenient: unknown keys are ignored and null means a field's default, as a peer of another
            version may send them; otherwise both are rejected.
        path: the path of `mapping` itself, for errors.

    Raises:
        FieldFault: the first value that does not match.
        TypeError: `cls` has a field of a type that JSON cannot represent.
    """
    reading = Reading(closed=not lenient, null_unset=lenient)
    record = shape_of(cls).read(mapping, path, reading)
    if reading.mismatches:
        raise reading.mismatches[0].as_error()
    return cast(_Record, record)
