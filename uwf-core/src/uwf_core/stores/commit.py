"""`CommitBackend.commit` of the built-in backends: a transaction, rolled back at a conflict."""

from collections.abc import Callable, Mapping, Sequence
from typing import Protocol

from uwf_core.api.store import Change, Commit, Committed, LockHandle, Record, Variable

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
    changes: Sequence[Change], write: Callable[[str, Variable | None, bytes | None], bool]
) -> None:
    """Write the variables. `write`: compares and writes one, or returns False.

    Raises:
        ConflictError: one of them has moved.
    """
    for change in changes:
        if not write(*change):
            raise ConflictError(Committed(moved=[change.name]))
