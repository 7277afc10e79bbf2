"""Verify one node completely, whatever program stored it."""

from collections.abc import Callable, Mapping
from hashlib import sha256
from typing import Any, NamedTuple

from uwf_core.api.store import Record
from uwf_core.cas.codec import decode, is_text
from uwf_core.cas.graph import GraphNode
from uwf_core.cas.hashing import META, PRIMITIVES, number_of_hashed, ref_of, sha256_of
from uwf_core.cas.schemas import first_problem
from uwf_core.cas.types import KnownType
from uwf_core.errors import CorruptNodeError, PayloadError, StoreError
from uwf_core.ids import number_of

_META, _TEXT = str(META), str(PRIMITIVES["string"])
"""Plain texts, which are compared in half the time."""


class _Kind(NamedTuple):
    """How nodes of one type are checked.

    Attributes:
        prefix: the bytes before the payload in what is hashed.
        edges: the references in a payload and the type, sorted, after its form and its schema
            were checked; None if they are unknown.
    """

    prefix: bytes
    edges: Callable[[bytes], tuple[int, ...] | None]


class NodeCheck:
    """Check nodes; cache their types.

    Args:
        schema_of: the schema of a type.
        has_edges: whether records come with edges, which are checked then.
    """

    def __init__(self, schema_of: Callable[[str], Mapping[str, Any]], has_edges: bool) -> None:
        self._schema_of = schema_of
        self._has_edges = has_edges
        self._kinds: dict[str, _Kind] = {
            _META: _Kind(_META.encode(), _edges_of_schema),
            _TEXT: _Kind(_TEXT.encode(), _edges_of_text),
        }

    def node(self, record: Record) -> GraphNode:
        """A node for the graph (without its time), after its reference, its SHA-256, its form, its
        schema and its edges were checked.

        A node whose type is missing or damaged is not checked against it, and its edges are
        trusted: the type is damaged, not the node.

        Raises:
            CorruptNodeError: with the reason.
        """
        ref, type_, digest, data, stored, _, _ = record
        if not digest:
            raise CorruptNodeError("its columns do not match their checksum")
        kind = self._kinds.get(type_) or self._kind(type_)
        hashed = kind.prefix + data
        number = number_of(ref)
        if (
            type_ == _META  # one of its nodes has no prefix
            or number_of_hashed(hashed) != number
            or sha256(hashed).digest() != digest
        ):
            number = _checked_number(record)
        edges = kind.edges(data)
        if edges is None:
            edges = stored or _only(type_)
        if edges != stored and self._has_edges:
            raise CorruptNodeError("its edges do not match its references")
        return number, edges, 0

    def _kind(self, type_: str) -> _Kind:
        try:
            known = KnownType(type_, self._schema_of(type_))
        except PayloadError as error:
            raise CorruptNodeError(f"its type {type_} is not a schema") from error
        except StoreError:
            kind = _Kind(type_.encode(), _edges_of_unknown)
        else:
            kind = _Kind(known.prefix, _edges_by(known, type_))
        self._kinds[type_] = kind
        return kind


def _checked_number(record: Record) -> int:
    """The reference as a number, computed by the definition.

    Raises:
        CorruptNodeError: a digest is wrong.
    """
    number = number_of(record.ref)
    if number is None:
        raise CorruptNodeError("its reference is invalid")
    if ref_of(record.type, record.data) != record.ref:
        raise CorruptNodeError("its bytes do not match its reference")
    if sha256_of(record.type, record.data) != record.sha256:
        raise CorruptNodeError("its bytes do not match its SHA-256")
    return number


def _edges_of_schema(data: bytes) -> tuple[int, ...]:
    problem = first_problem(decode(data))
    if problem is not None:
        raise CorruptNodeError(f"it is not a valid schema of a type: {problem.message}")
    return _EDGES_OF_SCHEMA


def _edges_of_text(data: bytes) -> tuple[int, ...]:
    if not is_text(data):
        raise CorruptNodeError("it is not text, but its type is string")
    return _EDGES_OF_TEXT


def _edges_of_unknown(data: bytes) -> None:
    decode(data)


def _edges_by(type_: KnownType, name: str) -> Callable[[bytes], tuple[int, ...]]:
    """The edges of a payload that its type accepts."""
    decoded, edges_of = type_.decode, type_.edges
    try:
        accepts = type_.compiled.accepts
    except PayloadError:  # its type is damaged, which is found where that is checked
        accepts = _anything

    def edges(data: bytes) -> tuple[int, ...]:
        payload = decoded(data)
        if not accepts(payload):
            found = type_.violations(payload)[0]
            place = f"{found.path}: " if found.path else ""
            raise CorruptNodeError(f"its type {name} rejects it: {place}{found.message}")
        try:
            return edges_of(payload)
        except PayloadError as error:
            raise CorruptNodeError(error.message) from error

    return edges


def _anything(_payload: Any) -> bool:
    return True


def _only(type_: str) -> tuple[int, ...]:
    """The edges of a node that refers to its type alone."""
    number = number_of(type_)
    return () if number is None else (number,)


_EDGES_OF_SCHEMA = _only(META)
_EDGES_OF_TEXT = _only(_TEXT)
