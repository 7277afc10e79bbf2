"""Buffer records and variables for the backend, and cache records that it is known to have.

A transaction writes its records at once, and nothing is asked for or written twice.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from functools import partial
from typing import Any

from uwf_core.api.store import (
    BatchBackend,
    Content,
    LockHandle,
    Record,
    StoreBackend,
    Variable,
    VariableChange,
)
from uwf_core.cas.hashing import META
from uwf_core.cas.records import check_same

_TYPE_FRESH_MS = 10 * 60 * 1000
"""For how long a type that was touched needs not be put again (gc usually waits far longer)."""

_MAX_BYTES = 4 * 1024 * 1024
_MAX_RECORD = 64 * 1024


class Buffer:
    """What a transaction has put and not written, and verified records of this process, the oldest
    forgotten first; large ones are not kept.

    Attributes:
        ahead: verified contents that were read before they are needed, by reference.
        locks: those that are held.
    """

    def __init__(self, backend: StoreBackend) -> None:
        self._backend = backend
        self._batches = backend if isinstance(backend, BatchBackend) else None
        self._pending: dict[str, Record] = {}
        self._known: dict[str, Record] = {}
        self.ahead: dict[str, Content] = {}
        self._bytes = 0
        self.locks: list[LockHandle] = []
        self._since_ms = 0

    def add(self, record: Record) -> None:
        """Have the record written by the next `flush`.

        Raises:
            CollisionError: another payload of this transaction has the reference.
        """
        before = self._pending.get(record.ref)
        if before is None:
            self._pending[record.ref] = record
        else:
            check_same(before, record)

    def flush(self) -> None:
        """Write what waits.

        Raises:
            CollisionError, CorruptNodeError: something else lies under one of the references.
        """
        if not self._pending:
            return
        records, self._pending = list(self._pending.values()), {}
        if self._batches is not None:
            found = self._batches.put_all(records)
        else:
            found = {e.ref: before for e in records if (before := self._backend.put(e))}
        for record in records:
            before = found.get(record.ref)
            if before is not None:
                check_same(before, record)
                record = before._replace(touched_ms=record.touched_ms)
            self.keep(record)

    def take(self) -> list[Record]:
        """What waits, for a caller that writes it."""
        records, self._pending = [*self._pending.values()], {}
        return records

    def pending(self, ref: str) -> Record | None:
        """The record if it waits."""
        return self._pending.get(ref)

    def waiting(self, refs: Collection[str]) -> set[str]:
        """Those of `refs` that wait."""
        return {ref for ref in refs if ref in self._pending} if self._pending else set()

    def known(self, ref: str) -> Record | None:
        """The record as it is in the backend, None where that would have to be asked."""
        return None if ref in self._pending else self._known.get(ref)

    def fresh(self, ref: str, now_ms: int) -> Record | None:
        """The record that the backend has, if no gc can free it meanwhile (`is_fresh`)."""
        known = None if ref in self._pending else self._known.get(ref)
        return known if known is not None and self._spares(known, now_ms) else None

    def is_fresh(self, ref: str, now_ms: int) -> bool:
        """Whether the record was touched so recently that no gc frees it: while a lock is held, gc
        spares what was touched since.
        """
        if ref in self._pending:
            return True
        known = self._known.get(ref)
        return known is not None and self._spares(known, now_ms)

    def _spares(self, known: Record, now_ms: int) -> bool:
        if known.touched_ms > now_ms:
            return False
        if known.type == META:
            return now_ms - known.touched_ms < _TYPE_FRESH_MS
        return bool(self.locks) and known.touched_ms >= self._since_ms

    def locked(self, handle: LockHandle, since_ms: int) -> LockHandle:
        """Remember that a lock is held since `since_ms`, until what this gives is released."""
        if not self.locks:
            self._since_ms = since_ms
        self.locks.append(handle)
        return _Lock(self.locks, handle)

    def keep(self, record: Record) -> None:
        """Remember a record of the backend whose reference and SHA-256 fit its bytes."""
        size = len(record.data)
        if size > _MAX_RECORD:
            return
        before = self._known.pop(record.ref, None)
        self._bytes += size - (len(before.data) if before else 0)
        self._known[record.ref] = record
        while self._bytes > _MAX_BYTES:
            oldest = self._known.pop(next(iter(self._known)))
            self._bytes -= len(oldest.data)

    def clear(self) -> None:
        """Drop everything: a transaction failed, records were deleted, the backend is closed."""
        self._pending.clear()
        self._known.clear()
        self.ahead.clear()
        self._bytes = 0


class _Lock:
    """A lock that the buffer counts on."""

    def __init__(self, held: list[LockHandle], handle: LockHandle) -> None:
        self._held, self._handle = held, handle

    def release(self) -> None:
        if self._handle in self._held:
            self._held.remove(self._handle)
        self._handle.release()


_change: Callable[[tuple[Any, ...]], VariableChange] = partial(tuple.__new__, VariableChange)
"""Twice as fast as the class, which also takes names."""


class Batch:
    """What a batch has written.

    Attributes:
        changes: what the backend is to write, by name.
    """

    def __init__(self) -> None:
        self.changes: dict[str, VariableChange] = {}

    def write(self, name: str, new: Variable | None, expected: bytes | None) -> bool:
        """Create, move or delete (None) a variable; False if this batch has moved it elsewhere."""
        if name not in self.changes:
            self.changes[name] = _change((name, new, expected))
            return True
        before = self.changes[name]
        if (before.variable and before.variable.checksum) != expected:
            return False
        if new is None and before.expected is None:
            del self.changes[name]  # created and deleted here
        else:
            self.changes[name] = VariableChange(name, new, before.expected)
        return True

    def touches(self, prefix: str) -> bool:
        """Whether it changes a name that begins with `prefix`."""
        return any(name.startswith(prefix) for name in self.changes)

    def rows(self, stored: Sequence[Variable], prefix: str, **choice: Any) -> list[Variable]:
        """The rows of `prefix` with the changes, chosen as `StoreBackend.variables` does."""
        found = {each.name: each for each in stored}
        for name, change in self.changes.items():
            if change.variable is not None and name.startswith(prefix):
                found[name] = change.variable
            else:
                found.pop(name, None)
        return chosen(found.values(), **choice)


def chosen(
    rows: Collection[Variable],
    *,
    tags: Mapping[str, Collection[str]] | None = None,
    after: str | None = None,
    limit: int | None = None,
    offset: int = 0,
    descending: bool = False,
) -> list[Variable]:
    """The variables that `StoreBackend.variables` returns of these."""
    found = sorted(rows, key=lambda each: each.name.encode(), reverse=descending)
    if after is not None:
        bound = after.encode()
        found = [each for each in found if (each.name.encode() < bound) == descending]
        found = [each for each in found if each.name != after]
    wanted = (tags or {}).items()
    found = [each for each in found if all(each.tags.get(tag) in some for tag, some in wanted)]
    return found[offset : None if limit is None else offset + limit]
