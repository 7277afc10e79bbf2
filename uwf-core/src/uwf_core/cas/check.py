"""One node, looked at from all sides: what must be true of it whoever has stored it."""

from collections.abc import Callable, Mapping
from typing import Any

from uwf_core.api.store import Record
from uwf_core.cas.codec import decode
from uwf_core.cas.hashing import META, PRIMITIVES, ref_of, sha256_of
from uwf_core.cas.references import references_in
from uwf_core.cas.schemas import schema_problems
from uwf_core.cas.types import Types
from uwf_core.errors import CorruptNodeError, PayloadError, StoreError
from uwf_core.ids import Ref

_TEXT = PRIMITIVES["string"]
_TEXT_EDGES = (str(_TEXT),)


class NodeCheck:
    """Checks nodes; knows the schemas that it has met.

    Args:
        schema_of: the schema of a type.
    """

    def __init__(self, schema_of: Callable[[str], Mapping[str, Any]]) -> None:
        self._schema_of = schema_of
        self._types = Types()

    def edges(self, record: Record) -> tuple[str, ...]:
        """The references in a node and its type, sorted, after its reference, its SHA-256, its
        form and its schema were checked.

        A node whose type is missing or damaged is not checked against it: that is the type's
        damage, not the node's.

        Raises:
            CorruptNodeError: something is wrong; the message says what.
        """
        self._check_bytes(record)
        payload = decode(record.data)
        if record.type == _TEXT:
            if not isinstance(payload, str):
                raise CorruptNodeError("it is no text though it is typed as one")
            return _TEXT_EDGES
        if record.type == META:
            problems = schema_problems(payload)
            if problems:
                raise CorruptNodeError(f"it is no schema that can be a type: {problems[0].message}")
            return (str(META),)
        try:
            schema = self._schema_of(record.type)
            compiled = self._types.compiled(record.type, schema)
        except (StoreError, PayloadError):
            return (record.type,)
        found = compiled.violations_of_plain(payload)
        if found:
            place = f"{found[0].path}: " if found[0].path else ""
            raise CorruptNodeError(f"its type {record.type} refuses it: {place}{found[0].message}")
        references = references_in(self._types.places(record.type, schema), payload)
        return tuple(sorted({record.type, *references}))

    @staticmethod
    def _check_bytes(record: Record) -> None:
        if not record.sha256:
            raise CorruptNodeError("its columns are not what their checksum says")
        if not Ref.matches(record.type) or ref_of(record.type, record.data) != record.ref:
            raise CorruptNodeError("its bytes have another reference")
        if sha256_of(record.type, record.data) != record.sha256:
            raise CorruptNodeError("its bytes have another SHA-256")
