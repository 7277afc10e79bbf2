"""Shapes: a typed class declares the keys of a mapping and the values that each may have.

The class is a NamedTuple, a dataclass or a TypedDict; a key is the camelCase form of a field's
name. A field may be `str`, `int`, `float`, `bool`, `None`, `Any`, a `Literal`, a union, a list,
tuple or set, a mapping with text keys, and a further such class. `Annotated` adds to it: a text
describes the field, a `Rule` restricts it, `SPAN` lets it be a duration, `To` makes it a
reference to a node.

From the class follow the reader, which finds every mismatch with its path (`read_record`;
`read_options` for the options of a plugin), the JSON Schema (`Shape.schema`), the quick way back
from a stored payload (`read_payload`), and the reference page (`RecordOf.fields`).
"""

import collections.abc
import json
import types
import typing
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from uwf_core.errors import ConfigError, UsageError
from uwf_core.fields.durations import Duration
from uwf_core.fields.kinds import (
    SCALARS,
    AnyOf,
    Anything,
    Field,
    JsonSchema,
    ListOf,
    MapOf,
    OneOf,
    RecordOf,
    Scalar,
    Shape,
    Unsayable,
)
from uwf_core.fields.mismatch import ABSENT, SPAN, FieldFault, Names, Path, Reading, Rule, To

_Object = typing.TypeVar("_Object")
_SEQUENCES = (list, tuple, set, frozenset, collections.abc.Sequence, collections.abc.Collection)
_MAPPINGS = (dict, collections.abc.Mapping)


def _fields_of(cls: Any) -> Iterator[Field]:
    annotations = {
        name: each for base in reversed(cls.__mro__) for name, each in _annotations(base).items()
    }
    if any(isinstance(each, str) for each in annotations.values()):
        annotations = typing.get_type_hints(cls, include_extras=True)
    defaults = _defaults(cls) if _is_dataclass(cls) else getattr(cls, "_field_defaults", {})
    for name in _names_of(cls):
        default = defaults.get(name, ABSENT)
        extras = _extras(annotations[name])
        about = next((each for each in extras if isinstance(each, str)), "")
        shape = shape_of(annotations[name])
        yield Field(name, camel(name), shape, default is ABSENT, write_record(default), about)


def _defaults(cls: Any) -> dict[str, Any]:
    from dataclasses import MISSING, fields  # loaded already by the module of the class

    return {
        each.name: each.default if each.default_factory is MISSING else each.default_factory()
        for each in fields(cls)
        if each.default is not MISSING or each.default_factory is not MISSING
    }


def _is_dataclass(cls: Any) -> bool:
    return hasattr(cls, "__dataclass_fields__")


def _annotations(cls: Any) -> Mapping[str, Any]:
    found: Mapping[str, Any] = getattr(cls, "__annotations__", {})
    return found


def _extras(annotation: Any) -> tuple[Any, ...]:
    return annotation.__metadata__ if get_origin(annotation) is Annotated else ()


_KNOWN: dict[int, tuple[Any, Shape]] = {}


def shape_of(annotation: Any) -> Shape:
    """The shape that a type says. Known by its identity, since unions of the same members in
    another order are equal; the types of fields are few, and stay.
    """
    found = _KNOWN.get(id(annotation))
    if found is None:
        found = _KNOWN[id(annotation)] = (annotation, _shape(annotation, ()))
    return found[1]


def _shape(annotation: Any, extras: tuple[Any, ...]) -> Shape:
    extras = (*extras, *_extras(annotation))
    if get_origin(annotation) is Annotated:
        annotation = get_args(annotation)[0]
    shape = _of_type(annotation, get_origin(annotation) or annotation, get_args(annotation), extras)
    shape.rules = tuple(each for each in extras if isinstance(each, Rule))
    shape.to = next((each for each in extras if isinstance(each, To)), None)
    return shape


def _of_type(
    annotation: Any, origin: Any, inner: tuple[Any, ...], extras: tuple[Any, ...]
) -> Shape:
    if origin is float and SPAN in extras:
        return Duration()
    if annotation is None or origin in SCALARS:
        return Scalar(origin if annotation is not None else type(None))
    if origin is Any or origin is object:
        return Anything()
    if origin in (Union, types.UnionType):
        return AnyOf(tuple(_shape(each, () if each is type(None) else extras) for each in inner))
    if origin is Literal:
        return OneOf(inner)
    if origin in _SEQUENCES:
        exactly = origin is tuple and bool(inner) and inner[-1] is not Ellipsis
        items = inner if exactly else (inner or (Any,))[:1]
        make = origin if origin in (list, set, frozenset) else tuple
        return ListOf(make, tuple(map(shape_of, items)), exactly)
    if origin in _MAPPINGS:
        what = next((each.what for each in extras if isinstance(each, Names)), None)
        return MapOf(shape_of((inner or (str, Any))[1]), what)
    if _is_dataclass(origin) or hasattr(origin, "_fields") or typing.is_typeddict(origin):
        return RecordOf(origin, _fields_of)
    return Unsayable(annotation)


def payload_schema(cls: Any, title: str) -> JsonSchema:
    """The JSON Schema of a node that holds a whole object of class `cls`."""
    return {"title": title, **shape_of(cls).schema(stored=True)}


@cache
def constant_schemas() -> Mapping[str, JsonSchema]:
    """The schemas of the nodes of threads and workflows, by title. They are derived once, when
    uwf is made (`uwf_testing.operations`): to do so in each process takes longer than to read them.
    """
    with open(f"{__file__.rpartition('/')[0]}/generated.json", encoding="utf-8") as file:
        found: Mapping[str, JsonSchema] = json.load(file)
    return found


def read_payload(cls: type[_Object], payload: Mapping[str, Any]) -> _Object:
    """The object of class `cls` that a payload of its type holds; nothing is checked.

    Raises:
        KeyError: a field is missing: the payload is of another type.
    """
    make = shape_of(cls).build
    assert make is not None  # every class can be built
    return typing.cast(_Object, make(payload))


def read_record(
    cls: type[_Object], mapping: Any, *, lenient: bool = False, path: Path = ()
) -> _Object:
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
    return typing.cast(_Object, record)


def read_options(
    cls: type[_Object],
    mapping: Mapping[str, Any],
    *,
    where: str,
    error: type[UsageError] = ConfigError,
) -> _Object:
    """Read options of class `cls` from `mapping`.

    A key of the configuration is the camelCase form of the field's name (`maxTurns` for
    `max_turns`) and nothing else. A `ValueError` of the class's `__post_init__` becomes a
    `ConfigError` too.

    Args:
        cls: a (frozen) dataclass; its fields are of the types that this module names.
        mapping: the options in the configuration.
        where: the place of `mapping`, such as `agents -> hermes`.
        error: what to raise in place of a `ConfigError`, for what comes from elsewhere.

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
        raise error(subject + fault.message, where=place, hint=fault.hint) from fault


_PLAIN = frozenset((str, int, float, bool))


@cache
def camel(name: str) -> str:
    """`max_turns` as `maxTurns`."""
    first, *others = name.rstrip("_").split("_")
    return first + "".join(word[:1].upper() + word[1:] for word in others)


def write_record(value: Any) -> Any:
    """An object of a shape's class as a JSON mapping, all fields in their order; other JSON values
    as they are.
    """
    if value is None or type(value) in _PLAIN or isinstance(value, str | int | float):
        return value
    if _is_dataclass(value) or hasattr(value, "_fields"):
        names: Iterable[str] = _names_of(type(value))  # type: ignore[arg-type]
        return {camel(name): write_record(getattr(value, name)) for name in names}
    if isinstance(value, Mapping):
        return {key: write_record(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [write_record(each) for each in value]
    return sorted(value) if isinstance(value, frozenset) else value


@cache
def _names_of(cls: Any) -> tuple[str, ...]:
    if _is_dataclass(cls):
        return tuple(each.name for each in cls.__dataclass_fields__.values() if each.init)
    return tuple(getattr(cls, "_fields", None) or _annotations(cls))


# -- what `json.loads` accepts and uwf does not ---------------------------------------------------

LONGEST_INTEGER = 250
"""In characters. A longer one becomes an infinity, as in JavaScript: neither can be stored, and
Python raises an error for the text of an integer beyond 4300 digits.
"""


def integer(text: str) -> int | float:
    """Parse a text of digits (`parse_int` of `json.loads`)."""
    return int(text) if len(text) <= LONGEST_INTEGER else float(text)


def without_doubles(pairs: Iterable[tuple[str, Any]]) -> dict[str, Any]:
    """An object (`object_pairs_hook` of `json.loads`). Raises ValueError if it has a key twice."""
    found: dict[str, Any] = {}
    for key, value in pairs:
        if key in found:
            raise ValueError(f"it has the key {key!r} twice")
        found[key] = value
    return found
