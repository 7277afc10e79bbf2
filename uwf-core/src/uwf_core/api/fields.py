"""Records from JSON mappings and back: camelCase outside, snake_case inside, strict about types.

A record is a dataclass, or another class that `uwf_core.shape.shapes` reads; its fields are of the
types that are listed there. `Annotated` adds rules: `Annotated[int, above(0)]`. A plugin's options
are read in the same way, with the place of an error in the configuration.
"""

from collections.abc import Iterable, Mapping
from typing import Any, TypeVar, cast

from uwf_core.api.sums import LARGEST
from uwf_core.errors import ConfigError
from uwf_core.shape.mismatch import (
    NOT_BLANK,
    FieldFault,
    Path,
    Reading,
    Rule,
    above,
    between,
    nearest,
    shown,
)
from uwf_core.shape.shapes import build, camel, payload_schema, plain, shape_of

__all__ = [
    "LARGEST",
    "LONGEST_INTEGER",
    "NOT_BLANK",
    "FieldFault",
    "Path",
    "Rule",
    "above",
    "between",
    "camel",
    "doubled",
    "integer",
    "nearest",
    "payload_schema",
    "read_options",
    "read_payload",
    "read_record",
    "shown",
    "write_record",
]

_Record = TypeVar("_Record")
_Options = TypeVar("_Options")

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


def read_options(cls: type[_Options], mapping: Mapping[str, Any], *, where: str) -> _Options:
    """Read options of class `cls` from `mapping`.

    A key of the configuration is the camelCase form of the field's name (`maxTurns` for
    `max_turns`) and nothing else. A `ValueError` of the class's `__post_init__` becomes a
    `ConfigError` too.

    Args:
        cls: a (frozen) dataclass; its fields are of the types that `uwf_core.api.fields` names.
        mapping: the options in the configuration.
        where: the place of `mapping`, such as `agents -> hermes`.

    Raises:
        ConfigError: an unknown key (with the nearest name), a wrong type, a missing option; its
            `where` is the whole path, such as `agents -> hermes -> timeout`.
        TypeError: `cls` is not such a dataclass.
    """
    try:
        return read_record(cls, mapping)
    except FieldFault as fault:
        place = " -> ".join((where, *map(str, fault.path)))
        subject = f"{fault.path[-1]} " if fault.path else ""
        raise ConfigError(subject + fault.message, where=place, hint=fault.hint) from fault


# -- what `json.loads` accepts and uwf does not ---------------------------------------------------

LONGEST_INTEGER = 250
"""In characters. A longer one becomes an infinity, as in JavaScript: neither can be stored, and
Python raises an error for the text of an integer beyond 4300 digits.
"""


def integer(text: str) -> int | float:
    """Parse a text of digits (`parse_int` of `json.loads`)."""
    return int(text) if len(text) <= LONGEST_INTEGER else float(text)


def doubled(pairs: Iterable[tuple[str, Any]]) -> str | None:
    """The first key of an object that came before in it (`object_pairs_hook` of `json.loads`)."""
    seen = set[str]()
    for key, _ in pairs:
        if key in seen:
            return key
        seen.add(key)
    return None
