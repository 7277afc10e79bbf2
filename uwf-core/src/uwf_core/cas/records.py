"""Nodes and their records, and what must be true of a stored one: its reference, its digest, one
payload to a name. What a backend checks when it commits a step.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, Protocol

from uwf_core.api.store import Commit, Committed, LockHandle, Record, Variable, VariableChange
from uwf_core.cas.hashing import has_digests
from uwf_core.errors import CollisionError, CorruptNodeError
from uwf_core.ids import Ref


class Node(NamedTuple):
    """A node as stored: `created_at_ms` is its first put, in ms since 1970."""

    ref: Ref
    type: Ref
    payload: Any
    created_at_ms: int


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


STORED = Committed()
"""Everything was written, and no record existed before."""


class _Backend(Protocol):
    def put_all(self, records: Sequence[Record]) -> Mapping[str, Record]: ...


class ConflictError(Exception):
    """Ends the transaction. `found`: what `commit` returns."""

    def __init__(self, found: Committed) -> None:
        super().__init__()
        self.found = found


def first_lost(leases: Sequence[LockHandle]) -> Sequence[str]:
    """The first of these locks of a built-in backend that is not held any more."""
    for lease in leases:
        if not getattr(lease, "is_held", False):
            return [getattr(lease, "name", "a lock")]
    return ()


def put_checked(backend: _Backend, commit: Commit) -> Mapping[str, int]:
    """Put the records; `created_ms` of those that existed. Within a transaction.

    Raises:
        ConflictError: a reference has another record.
    """
    before = backend.put_all(commit.records) if commit.records else None
    if not before:
        return STORED.existing
    for record in commit.records:
        there = before.get(record.ref, record)
        if (there.type, there.sha256, there.data) != (record.type, record.sha256, record.data):
            raise ConflictError(Committed(differing=[record.ref]))
    return {ref: each.created_ms for ref, each in before.items()}


def write_changes(
    changes: Sequence[VariableChange], write: Callable[[str, Variable | None, bytes | None], bool]
) -> None:
    """Write the variables. `write`: compares and writes one, or returns False.

    Raises:
        ConflictError: one of them has moved.
    """
    for change in changes:
        if not write(*change):
            raise ConflictError(Committed(moved=[change.name]))
