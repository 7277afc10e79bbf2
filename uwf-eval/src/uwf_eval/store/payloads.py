"""Records as payloads of typed nodes: their JSON Schema, and a fast reader.

A payload is the complete record in camelCase. The store has validated it against its type, so the
reader validates nothing: 10,000 trials must be read in less than a second.
"""

import collections.abc
import types
import typing
from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass
from functools import cache
from operator import itemgetter
from typing import Any, Literal, TypeVar, get_args, get_origin

from uwf_core.api.fields import camel
from uwf_core.api.record import made

_Record = TypeVar("_Record")
_Convert = Callable[[Any], Any]

_SCALARS: Mapping[Any, str] = {
    str: "string", int: "integer", float: "number", bool: "boolean", type(None): "null",
}  # fmt: skip


def schema_of(cls: type, title: str) -> dict[str, Any]:
    """The JSON Schema of a record's payload: a closed object with required properties."""
    return {"title": title, **_object(cls)}


def _object(cls: type) -> dict[str, Any]:
    hints = typing.get_type_hints(cls)
    properties = {camel(each.name): _schema(hints[each.name]) for each in fields(cls)}
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def _schema(annotation: Any) -> dict[str, Any]:
    if annotation in _SCALARS:
        return {"type": _SCALARS[annotation]}
    origin, arguments = get_origin(annotation) or annotation, get_args(annotation)
    if origin is Any:
        return {}
    if origin is Literal:
        return {"type": "string", "enum": list(arguments)}
    if origin in (typing.Union, types.UnionType):
        return _union([_schema(each) for each in arguments])
    if origin is collections.abc.Sequence:
        return {"type": "array", "items": _schema(arguments[0])}
    if origin is collections.abc.Mapping:
        return {"type": "object"}
    if is_dataclass(origin):
        return _object(typing.cast(type, origin))
    raise TypeError(f"a payload cannot hold {annotation!r}")


def _union(schemas: list[dict[str, Any]]) -> dict[str, Any]:
    if all(list(each) == ["type"] for each in schemas):
        return {"type": [each["type"] for each in schemas]}
    return {"anyOf": schemas}


def read_payload(cls: type[_Record], payload: Mapping[str, Any]) -> _Record:
    """Read a record from a payload of its type.

    Raises:
        KeyError: a field is missing, so the payload has another type.
    """
    return typing.cast(_Record, _reader(typing.cast(Any, cls))(payload))


@cache
def _reader(cls: Any) -> _Convert:
    hints = typing.get_type_hints(cls)
    names = tuple(each.name for each in fields(cls))
    values_of = _getter([camel(name) for name in names])
    found = {name: _converter(hints[name]) for name in names}
    converted = [(name, convert) for name, convert in found.items() if convert is not None]

    def read(payload: Mapping[str, Any]) -> Any:
        values = dict(zip(names, values_of(payload), strict=True))
        for name, convert in converted:
            values[name] = convert(values[name])
        return made(cls, values)

    return read


def _getter(keys: list[str]) -> Callable[[Mapping[str, Any]], tuple[Any, ...]]:
    """A function that gets the values of all keys at once."""
    if len(keys) == 1:
        return lambda payload: (payload[keys[0]],)
    return itemgetter(*keys)


def _converter(annotation: Any) -> _Convert | None:
    """A function that converts a payload's value to the field's; None if they are equal."""
    origin, arguments = get_origin(annotation) or annotation, get_args(annotation)
    if is_dataclass(origin):
        return _reader(typing.cast(Any, origin))
    if origin in (typing.Union, types.UnionType):
        inner = [found for each in arguments if (found := _converter(each))]
        return _or_none(inner[0]) if inner else None
    if origin is collections.abc.Sequence:
        return _each(_converter(arguments[0]))
    return None


def _or_none(convert: _Convert) -> _Convert:
    return lambda value: None if value is None else convert(value)


def _each(convert: _Convert | None) -> _Convert:
    if convert is None:
        return tuple
    return lambda values: tuple(map(convert, values))
