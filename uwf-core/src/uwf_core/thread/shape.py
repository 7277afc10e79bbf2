"""The JSON Schema of a node, and its references: both follow from the node's typed class."""

from collections.abc import Iterator, Mapping
from typing import Any

from uwf_core.shape.kinds import JsonSchema, Shape
from uwf_core.shape.shapes import payload_schema, shape_of
from uwf_core.thread.types import NODES


def schema_of(kind: str) -> JsonSchema:
    """The JSON Schema of a kind of node."""
    return payload_schema(NODES[kind], f"uwf {kind}")


def targets_of(kind: str, payload: Mapping[str, Any]) -> Iterator[tuple[str, str, tuple[str, ...]]]:
    """The references in a node of `kind`: key, reference, and the kinds it may lead to. None
    where the kind is not one of `NODES`.
    """
    if kind in NODES:
        shape = shape_of(NODES[kind])
        for name, value in payload.items():
            for ref, kinds in _targets(shape.at(name), value):
                yield name, ref, kinds


def _targets(shape: Shape | None, value: Any) -> Iterator[tuple[str, tuple[str, ...]]]:
    if value is None or shape is None:
        return
    if shape.to is not None:
        yield value, shape.to.kinds
        return
    for inner, part in shape.parts(value):
        yield from _targets(inner, part)
