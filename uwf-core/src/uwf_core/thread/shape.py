"""What follows from a node's typed class: its JSON Schema, and where its references lead."""

from collections.abc import Iterator, Mapping
from types import NoneType, UnionType
from typing import Annotated, Any, Final, Literal, Union, get_args, get_origin

from uwf_core.thread.types import NODES

JsonSchema = dict[str, Any]

_UNIONS: Final = (Union, UnionType)
_SIMPLE: Final[Mapping[Any, str]] = {
    str: "string",
    int: "integer",
    float: "number",
    bool: "boolean",
    NoneType: "null",
}


def schema_of(kind: str) -> JsonSchema:
    """The JSON Schema of a kind of node."""
    return {"title": f"uwf {kind}", **_schema(NODES[kind])}


def _schema(shape: Any) -> JsonSchema:
    origin = get_origin(shape)
    if shape in _SIMPLE:
        return {"type": _SIMPLE[shape]}
    if origin is Annotated:
        return {"type": "string", "format": "ocas_ref"}
    if origin is Literal:
        return {"type": "string", "enum": list(get_args(shape))}
    if origin is list:
        return {"type": "array", "items": _schema(get_args(shape)[0])}
    if origin is dict:
        return {"type": "object", "additionalProperties": _schema(get_args(shape)[1])}
    if origin in _UNIONS:
        return {"anyOf": [_schema(each) for each in get_args(shape)]}
    fields = {name: _schema(each) for name, each in shape.__annotations__.items()}
    return {
        "type": "object",
        "properties": fields,
        "required": list(fields),
        "additionalProperties": False,
    }


def targets_of(kind: str, payload: Mapping[str, Any]) -> Iterator[tuple[str, str, tuple[str, ...]]]:
    """The references in a node of `kind`: field, reference, and the kinds it may lead to. None
    where the kind is none of `NODES`.
    """
    shapes = NODES[kind].__annotations__ if kind in NODES else {}
    for name, shape in shapes.items():
        for ref, kinds in _targets(shape, payload.get(name)):
            yield name, ref, kinds


def _targets(shape: Any, value: Any) -> Iterator[tuple[str, tuple[str, ...]]]:
    if value is None:
        return
    origin, inner = get_origin(shape), get_args(shape)
    if origin is Annotated:
        yield value, shape.__metadata__[0].kinds
        return
    for each, part in _parts(shape, origin, inner, value):
        yield from _targets(each, part)


def _parts(shape: Any, origin: Any, inner: Any, value: Any) -> Iterator[tuple[Any, Any]]:
    """What a value consists of, each with its shape; of a union at most one takes the value."""
    if origin is list:
        yield from ((inner[0], each) for each in value)
    elif origin is dict:
        yield from ((inner[1], each) for each in value.values())
    elif origin in _UNIONS:
        yield from ((each, value) for each in inner)
    elif isinstance(value, dict):
        yield from ((each, value.get(name)) for name, each in shape.__annotations__.items())
