"""One node, looked at from all sides: what must be true of it whoever has stored it."""

from collections.abc import Callable, Mapping
from hashlib import sha256
from typing import Any

from uwf_core.api.store import Record
from uwf_core.cas.codec import decode, is_text
from uwf_core.cas.hashing import META, PRIMITIVES, number_of_hashed, ref_of, sha256_of
from uwf_core.cas.schemas import first_problem
from uwf_core.cas.types import KnownType
from uwf_core.errors import CorruptNodeError, PayloadError, StoreError
from uwf_core.ids import number_of

_TEXT = PRIMITIVES["string"]
_WRONG_COLUMNS = "its columns are not what their checksum says"
_WRONG_REFERENCE = "its bytes have another reference"
_WRONG_SHA256 = "its bytes have another SHA-256"


class NodeCheck:
    """Checks nodes; knows the types that it has met.

    Args:
        schema_of: the schema of a type.
    """

    def __init__(self, schema_of: Callable[[str], Mapping[str, Any]]) -> None:
        self._schema_of = schema_of
        self._types: dict[str, KnownType | None] = {}
        self._edges_of_text = _only(_TEXT)

    def edges(self, record: Record, number: int) -> tuple[int, ...]:
        """The references in a node and its type, sorted, after its reference, its SHA-256, its
        form and its schema were checked.

        A node whose type is missing or damaged is not checked against it, and its edges are
        believed: that is the type's damage, not the node's.

        Args:
            record: the node.
            number: its reference as a number.

        Raises:
            CorruptNodeError: something is wrong; the message says what.
        """
        if not record.sha256:
            raise CorruptNodeError(_WRONG_COLUMNS)
        if record.type == META:
            return self._edges_of_schema(record)
        type_ = self._type(record.type)
        hashed = (record.type.encode() if type_ is None else type_.prefix) + record.data
        if number_of_hashed(hashed) != number:
            raise CorruptNodeError(_WRONG_REFERENCE)
        if sha256(hashed).digest() != record.sha256:
            raise CorruptNodeError(_WRONG_SHA256)
        if record.type == _TEXT:
            if not is_text(record.data):
                raise CorruptNodeError("it is no text, though its type says so")
            return self._edges_of_text
        if type_ is None:
            decode(record.data)
            return record.edges or _only(record.type)
        return self._edges_by(type_, record.type, type_.decode(record.data))

    @staticmethod
    def _edges_by(type_: KnownType, name: str, payload: Any) -> tuple[int, ...]:
        """The edges of a payload that its type accepts."""
        try:
            found = type_.violations(payload)
        except PayloadError:  # its type is damaged, which is found where that is checked
            found = ()
        if found:
            place = f"{found[0].path}: " if found[0].path else ""
            raise CorruptNodeError(f"its type {name} refuses it: {place}{found[0].message}")
        try:
            return type_.edges(payload)
        except PayloadError as error:
            raise CorruptNodeError(error.message) from error

    def _edges_of_schema(self, record: Record) -> tuple[int, ...]:
        if ref_of(META, record.data) != record.ref:
            raise CorruptNodeError(_WRONG_REFERENCE)
        if sha256_of(META, record.data) != record.sha256:
            raise CorruptNodeError(_WRONG_SHA256)
        problem = first_problem(decode(record.data))
        if problem is not None:
            raise CorruptNodeError(f"it is no schema that can be a type: {problem.message}")
        return _only(META)

    def _type(self, ref: str) -> KnownType | None:
        if ref not in self._types:
            try:
                self._types[ref] = KnownType(ref, self._schema_of(ref))
            except PayloadError as error:
                raise CorruptNodeError(f"its type {ref} is no schema") from error
            except StoreError:
                self._types[ref] = None
        return self._types[ref]


def _only(type_: str) -> tuple[int, ...]:
    """The edges of a node that refers to its type alone."""
    number = number_of(type_)
    return () if number is None else (number,)
