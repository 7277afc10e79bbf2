"""Records from JSON mappings and back: camelCase outside, snake_case inside, strict about types.

A record is a dataclass. What a field may be is what its annotation says: `str`, `int`, `float`,
`bool`, `None`, `Any`, `Literal`, `X | None` and other unions, lists, tuples and sets of these,
mappings with text keys, and further records.
"""

import collections.abc
import math
import types
import typing
from collections.abc import Mapping
from dataclasses import MISSING, fields, is_dataclass
from functools import cache
from typing import Any, Literal, TypeVar, Union, get_args, get_origin

from uwf_core.named_tuple import NamedTuple

Path = tuple[str | int, ...]
_Record = TypeVar("_Record")

_SEQUENCES = (list, tuple, set, frozenset, collections.abc.Sequence, collections.abc.Collection)
_MAPPINGS = (dict, collections.abc.Mapping)
_NAMES = {
    str: "a text",
    int: "a whole number",
    float: "a number",
    bool: "true or false",
    type(None): "null",
}


class FieldFault(ValueError):
    """A value that does not fit its field; `path` leads to it from the outermost mapping."""

    def __init__(self, path: Path, message: str, hint: str | None = None) -> None:
        super().__init__(message)
        self.path = path
        self.message = message
        self.hint = hint

    def place(self) -> str:
        """The path as text: `turns.2.toolCalls`, "" for the whole."""
        return ".".join(map(str, self.path))


class _Field(NamedTuple):
    """A field of a record; `key` is its name in JSON."""

    name: str
    key: str
    annotation: Any
    required: bool
    takes_null: bool


@cache
def _fields_of(cls: Any) -> tuple[_Field, ...]:
    """The fields of a dataclass; resolving its annotations takes longer than all the rest."""
    hints = typing.get_type_hints(cls)
    return tuple(
        _Field(
            name=each.name,
            key=camel(each.name),
            annotation=hints[each.name],
            required=each.default is MISSING and each.default_factory is MISSING,
            takes_null=_takes_null(hints[each.name]),
        )
        for each in fields(cls)
        if each.init
    )


@cache
def _keys_of(cls: Any) -> frozenset[str]:
    return frozenset(each.key for each in _fields_of(cls))


@cache
def camel(name: str) -> str:
    """`max_turns` as `maxTurns`."""
    first, *others = name.rstrip("_").split("_")
    return first + "".join(word[:1].upper() + word[1:] for word in others)


@cache
def _names_of(cls: type) -> tuple[tuple[str, str], ...]:
    """The fields of a dataclass: names and keys."""
    return tuple((each.name, camel(each.name)) for each in fields(cls))


def write_record(value: Any) -> Any:
    """A record as a JSON mapping, all fields in their order; other JSON values as they are."""
    if value is None or isinstance(value, str | int | float):
        return value
    if is_dataclass(value) and not isinstance(value, type):
        names = _names_of(type(value))
        return {key: write_record(getattr(value, name)) for name, key in names}
    if isinstance(value, Mapping):
        return {key: write_record(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [write_record(item) for item in value]
    return value


def read_record(
    cls: type[_Record], mapping: Any, *, lenient: bool = False, path: Path = ()
) -> _Record:
    """The record of class `cls` that `mapping` says.

    Args:
        cls: a dataclass.
        mapping: its fields by their camelCase names.
        lenient: unknown keys are passed over and null stands for a field's default, as a peer
            of another version may send them; otherwise both are faults.
        path: where `mapping` itself lies, for the faults.

    Raises:
        FieldFault: the first thing that does not fit.
        TypeError: `cls` has a field of a type that JSON cannot say.
    """
    if not isinstance(mapping, Mapping):
        raise FieldFault(path, f"is {shown(mapping)}; wanted a mapping")
    kind = typing.cast(collections.abc.Hashable, cls)
    known = _fields_of(kind)
    if not (lenient or _keys_of(kind).issuperset(mapping)):
        _refuse_unknown(mapping, [each.key for each in known], path)
    values = {}
    for each in known:
        value = mapping.get(each.key)
        absent = value is None and (each.key not in mapping or (lenient and not each.takes_null))
        if not absent:
            values[each.name] = _convert(each.annotation, value, (*path, each.key), lenient)
        elif each.required:
            raise FieldFault((*path, each.key), "is missing")
    try:
        return cls(**values)
    except FieldFault as fault:
        raise FieldFault((*path, *fault.path), fault.message, fault.hint) from fault
    except ValueError as fault:
        raise FieldFault(path, str(fault)) from fault


def nearest(word: str, names: collections.abc.Iterable[str]) -> str | None:
    """The name that somebody who typed `word` probably meant."""
    from difflib import get_close_matches

    by_lower = {name.lower().replace("_", ""): name for name in names}
    close = get_close_matches(word.lower().replace("_", ""), by_lower, n=1, cutoff=0.6)
    return by_lower[close[0]] if close else None


def shown(value: Any) -> str:
    """A value as a message shows it, short."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, Mapping):
        return "a mapping"
    if isinstance(value, list | tuple):
        return "a list"
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."


def _refuse_unknown(mapping: Mapping[Any, Any], known: list[str], path: Path) -> None:
    for key in mapping:
        if key not in known:
            close = nearest(str(key), known)
            if close:
                hint = f"did you mean {close}?"
            elif known:
                hint = f"there are: {', '.join(known)}"
            else:
                hint = "there are none"
            raise FieldFault((*path, str(key)), "is no known key", hint)


def _takes_null(annotation: Any) -> bool:
    return annotation in (Any, None, type(None)) or type(None) in get_args(annotation)


def _convert(annotation: Any, value: Any, path: Path, lenient: bool) -> Any:
    """`value` as `annotation` wants it."""
    if annotation in _NAMES:
        return _convert_scalar(annotation, value, path)
    _, origin, arguments = _taken_apart(annotation)
    if origin is Any or origin is object:
        return value
    if origin in (Union, types.UnionType):
        return _convert_union(arguments, value, path, lenient)
    if origin is Literal:
        return _convert_literal(arguments, value, path)
    if origin in _SEQUENCES:
        return _convert_sequence(origin, arguments, value, path, lenient)
    if origin in _MAPPINGS:
        return _convert_mapping(arguments, value, path, lenient)
    if is_dataclass(origin):
        return read_record(typing.cast(type, origin), value, lenient=lenient, path=path)
    raise TypeError(f"the type {annotation!r} of the field {path[-1]!r} cannot be said in JSON")


_APART: dict[int, tuple[Any, Any, tuple[Any, ...]]] = {}


def _taken_apart(annotation: Any) -> tuple[Any, Any, tuple[Any, ...]]:
    """The annotation, its generic type (or itself) and its arguments. Known by its identity, since
    unions of the same members in another order are equal; those of fields are few, and stay.
    """
    found = _APART.get(id(annotation))
    if found is None:
        origin = get_origin(annotation) or annotation
        found = _APART[id(annotation)] = (annotation, origin, get_args(annotation))
    return found


def _convert_scalar(kind: Any, value: Any, path: Path) -> Any:
    if kind is float:
        fits = isinstance(value, int | float) and not isinstance(value, bool)
        if fits and (isinstance(value, int) or math.isfinite(value)) and abs(value) < 1e308:
            return float(value)
    elif isinstance(value, kind) and (kind is not int or not isinstance(value, bool)):
        return value
    raise FieldFault(path, f"is {shown(value)}; wanted {_NAMES[kind]}")


def _convert_literal(allowed: tuple[Any, ...], value: Any, path: Path) -> Any:
    for each in allowed:
        if type(each) is type(value) and each == value:
            return value
    wanted = ", ".join(map(str, allowed))
    close = nearest(value, map(str, allowed)) if isinstance(value, str) else None
    hint = f"did you mean {close}?" if close else None
    raise FieldFault(path, f"is {shown(value)}; wanted one of {wanted}", hint)


def _convert_union(members: tuple[Any, ...], value: Any, path: Path, lenient: bool) -> Any:
    if value is None and type(None) in members:
        return None
    others = [member for member in members if member is not type(None)]
    faults = []
    for member in others:
        try:
            return _convert(member, value, path, lenient)
        except FieldFault as fault:
            faults.append(fault)
    if len(faults) == 1:
        raise faults[0]
    wanted = " or ".join(_named(member) for member in members)
    raise FieldFault(path, f"is {shown(value)}; wanted {wanted}") from faults[0]


def _convert_sequence(
    origin: Any, arguments: tuple[Any, ...], value: Any, path: Path, lenient: bool
) -> Any:
    if not isinstance(value, list | tuple):
        raise FieldFault(path, f"is {shown(value)}; wanted a list")
    if origin is tuple and arguments and arguments[-1] is not Ellipsis:
        if len(value) != len(arguments):
            raise FieldFault(path, f"has {len(value)} items; wanted {len(arguments)}")
        kinds = arguments
    else:
        kinds = (arguments or (Any,))[:1] * len(value)
    items = [
        _convert(kind, item, (*path, index), lenient)
        for index, (kind, item) in enumerate(zip(kinds, value, strict=True))
    ]
    if origin in (list, set, frozenset):
        return origin(items)
    return tuple(items)


def _convert_mapping(
    arguments: tuple[Any, ...], value: Any, path: Path, lenient: bool
) -> dict[str, Any]:
    if not isinstance(value, Mapping):
        raise FieldFault(path, f"is {shown(value)}; wanted a mapping")
    kind = (arguments or (str, Any))[1]
    converted = {}
    for key, item in value.items():
        if not isinstance(key, str):
            raise FieldFault(path, f"has the key {shown(key)}; wanted text keys")
        converted[key] = _convert(kind, item, (*path, key), lenient)
    return converted


def _named(annotation: Any) -> str:
    """A type as a message names it."""
    origin = get_origin(annotation) or annotation
    if origin in _SEQUENCES:
        return "a list"
    if origin in _MAPPINGS or is_dataclass(origin):
        return "a mapping"
    if origin is Literal:
        return f"one of {', '.join(map(str, get_args(annotation)))}"
    return _NAMES.get(origin, str(origin))
