"""Nodes and their records, and what must be true of a stored one: its reference, its digest, one
payload to a name.
"""

from typing import Any

from uwf_core.api.store import Record
from uwf_core.cas.hashing import has_digests
from uwf_core.errors import CollisionError, CorruptNodeError
from uwf_core.ids import Ref
from uwf_core.named_tuple import NamedTuple


class Node(NamedTuple):
    """A node as stored: `created_ms` is its first put, in ms since 1970."""

    ref: Ref
    type: Ref
    payload: Any
    created_ms: int


def verify_record(record: Record, ref: str) -> None:
    """Check a record's reference and digest against its bytes.

    Raises:
        CorruptNodeError: they differ.
    """
    has_ref, has_sha256 = has_digests(record.type, record.data, ref, record.sha256)
    if record.ref != ref or not has_ref:
        raise damaged(ref, "its bytes do not match its reference")
    if not has_sha256:
        raise damaged(ref, "its bytes do not match its SHA-256")


def damaged(ref: str, why: str) -> CorruptNodeError:
    """The error for a node with damaged bytes."""
    return CorruptNodeError(
        f"the node {ref} is damaged: {why}",
        hint="restore the store from a copy",
    )


def check_same(before: Record, record: Record) -> None:
    """Detect a collision: the record of the reference must have the same bytes."""
    if before.type == record.type and before.data == record.data:
        if before.sha256 != record.sha256:
            raise damaged(record.ref, "its stored SHA-256 differs")
        return
    verify_record(before, record.ref)
    raise CollisionError(
        f"the reference {record.ref} belongs to another payload: the stored SHA-256 is "
        f"{before.sha256.hex()}, the new one {record.sha256.hex()}",
        hint="two payloads with one XXH64 do not occur by chance: this pair was made on purpose",
    )
