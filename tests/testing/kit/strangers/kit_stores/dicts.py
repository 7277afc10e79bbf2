"""A right store in dictionaries: what the wrong ones change, and a simple one for tests."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from threading import RLock
from typing import TypeVar

from uwf_core.api.store import Commit, Committed, Holder, LockHandle, Record, Variable
from uwf_core.cas.records import (
    STORED,
    ConflictError,
    first_lost,
    put_checked,
    write_changes,
)
from uwf_core.errors import StoreError
from uwf_core.ids import number_of
from uwf_core.stores.queries import has_tags

_Kept = TypeVar("_Kept", Record, Variable)


class DictBackend:
    """Keep everything in dictionaries. Threads may share it; processes cannot."""

    def __init__(self) -> None:
        self._lock = RLock()
        self._records: dict[str, Record] = {}
        self._variables: dict[str, Variable] = {}
        self._held: dict[str, Holder] = {}
        self._undo: list[Callable[[], None]] | None = None

    @contextmanager
    def transaction(self, durable: bool = True) -> Iterator[None]:
        """See the contract; there is no disk to wait for."""
        del durable
        with self._lock:
            if self._undo is not None:
                raise RuntimeError("transactions do not nest")
            self._undo = []
            try:
                yield
            except BaseException:
                for step in reversed(self._undo):
                    step()
                raise
            finally:
                self._undo = None

    def get(self, ref: str) -> Record | None:
        """The record, or None."""
        with self._lock:
            return self._records.get(ref)

    def present(self, refs: Collection[str]) -> set[str]:
        """Those of `refs` that are stored."""
        with self._lock:
            return {ref for ref in refs if ref in self._records}

    def put(self, record: Record) -> Record | None:
        """Insert the record, or touch the existing one."""
        if number_of(record.ref) is None:
            raise StoreError(f"{record.ref!r} is not a reference and cannot be stored")
        with self._lock:
            before = self._records.get(record.ref)
            new = before._replace(touched_ms=record.touched_ms) if before else record
            self._write_record(record.ref, new)
            return before

    def put_all(self, records: Sequence[Record]) -> dict[str, Record]:
        """Like `put` for each."""
        found = ((each.ref, self.put(each)) for each in records)
        return {ref: before for ref, before in found if before is not None}

    def commit(self, commit: Commit) -> Committed:
        """A whole step in one transaction."""
        if lost := first_lost(commit.leases):
            return Committed(lost=lost)
        try:
            with self.transaction():
                existing = put_checked(self, commit)
                write_changes(commit.changes, self._write_change)
        except ConflictError as conflict:
            return conflict.found
        return Committed(existing=existing) if existing else STORED

    def _write_change(self, name: str, variable: Variable | None, expected: bytes | None) -> bool:
        if variable is not None:
            return self.set_variable(variable, expected)
        return expected is not None and self.delete_variable(name, expected)

    def find(self, prefix: str, limit: int) -> list[str]:
        """References that begin with `prefix`, sorted."""
        with self._lock:
            return sorted(ref for ref in self._records if ref.startswith(prefix))[:limit]

    def records(self, type: str | None = None) -> Iterator[Record]:
        """All records as they are now."""
        with self._lock:
            found = list(self._records.values())
        return (each for each in found if type in (None, each.type))

    def graph(self) -> Iterator[tuple[int, tuple[int, ...], int]]:
        """(reference, edges, touched_ms) of every record as they are now, as numbers."""
        with self._lock:
            found = list(self._records.values())
        for each in found:
            number = number_of(each.ref)
            assert number is not None, "put ensures this"
            yield number, each.edges, each.touched_ms

    def delete(self, refs: Iterable[str], untouched_since_ms: int) -> int:
        """Delete those of `refs` that were not touched since."""
        with self._lock:
            old = [
                ref
                for ref in dict.fromkeys(refs)
                if ref in self._records and self._records[ref].touched_ms < untouched_since_ms
            ]
            for ref in old:
                self._write_record(ref, None)
            return len(old)

    def variable(self, name: str) -> Variable | None:
        """The variable, or None."""
        with self._lock:
            return self._variables.get(name)

    def variables(
        self,
        prefix: str,
        *,
        tags: Mapping[str, Collection[str]] | None = None,
        after: str | None = None,
        limit: int | None = None,
        offset: int = 0,
        descending: bool = False,
    ) -> list[Variable]:
        """Variables by prefix and tags, sorted by name."""
        with self._lock:
            names = sorted((name for name in self._variables if name.startswith(prefix)), key=_utf8)
            found = [self._variables[name] for name in (reversed(names) if descending else names)]
        if after is not None:
            found = [each for each in found if _is_beyond(each.name, after, descending)]
        chosen = [each for each in found if has_tags(each.tags, tags or {})]
        return chosen[offset : None if limit is None else offset + limit]

    def set_variable(self, variable: Variable, expected: bytes | None) -> bool:
        """Compare-and-set."""
        with self._lock:
            before = self._variables.get(variable.name)
            if (before.checksum if before else None) != expected:
                return False
            self._write_variable(variable.name, variable._replace(tags=dict(variable.tags)))
            return True

    def delete_variable(self, name: str, expected: bytes) -> bool:
        """Compare-and-delete."""
        with self._lock:
            before = self._variables.get(name)
            if before is None or before.checksum != expected:
                return False
            self._write_variable(name, None)
            return True

    def lock(self, name: str, holder: Holder) -> LockHandle | None:
        """Acquire the lock, or return None if it is held."""
        with self._lock:
            if name in self._held:
                return None
            self._held[name] = holder
            return DictLock(self._held, name, holder)

    def holder(self, name: str) -> Holder | None:
        """The current holder of the lock."""
        return self._held.get(name)

    def held(self) -> dict[str, Holder]:
        """All locks that are currently held."""
        return dict(self._held)

    def location(self) -> str:
        """The place of the store, for people."""
        return "memory"

    def close(self) -> None:
        """Do nothing: the data stays until the object is deleted."""

    def _write_record(self, ref: str, record: Record | None) -> None:
        before = self._records.get(ref)
        if self._undo is not None:
            self._undo.append(lambda: _write(self._records, ref, before))
        _write(self._records, ref, record)

    def _write_variable(self, name: str, variable: Variable | None) -> None:
        before = self._variables.get(name)
        if self._undo is not None:
            self._undo.append(lambda: _write(self._variables, name, before))
        _write(self._variables, name, variable)


class DictLock:
    """A lock of this process; releasing it twice is harmless."""

    def __init__(self, held: dict[str, Holder], name: str, holder: Holder) -> None:
        self._held, self.name, self._holder = held, name, holder

    @property
    def is_held(self) -> bool:
        return self._held.get(self.name) is self._holder

    def release(self) -> None:
        if self.is_held:
            del self._held[self.name]


def _write(table: dict[str, _Kept], key: str, value: _Kept | None) -> None:
    if value is None:
        table.pop(key, None)
    else:
        table[key] = value


def _utf8(name: str) -> bytes:
    return name.encode()


def _is_beyond(name: str, after: str, descending: bool) -> bool:
    return _utf8(name) < _utf8(after) if descending else _utf8(name) > _utf8(after)
