"""Locks with their holders: the system knows whether a lock is held, a row knows by whom."""

from collections.abc import Callable, Sequence
from contextlib import suppress
from threading import RLock
from typing import Any

from uwf_core.api.store import Holder
from uwf_core.errors import UwfError
from uwf_core.stores.locks import LockFile, StoreLock, offset_of
from uwf_core.stores.queries import BATCH, marks
from uwf_core.stores.rows import HOLDER_COLUMNS, Row, holder_of_row

_UNKNOWN = Holder(0, "", "", 0)
"""The holder of a lock between acquiring and recording it."""

_SET = f"INSERT OR REPLACE INTO holder ({HOLDER_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?)"
_DROP = "DELETE FROM holder WHERE offset = ? AND pid = ? AND start = ? AND since = ?"


class HeldLocks:
    """The locks of a store. Usable from several threads.

    Args:
        guard: serializes the calls.
        file: the locks themselves.
        read: the rows of a statement. write: executes one, without waiting for the disk.
    """

    def __init__(
        self,
        guard: RLock,
        file: LockFile,
        read: Callable[[str, Sequence[Any]], list[Row]],
        write: Callable[[str, Sequence[Any]], None],
    ) -> None:
        self._guard, self._file, self._read, self._write = guard, file, read, write

    def take(self, name: str, holder: Holder) -> StoreLock | None:
        """Acquire the lock, or return None if it is held."""
        offset = offset_of(name)
        with self._guard:
            if not self._file.take(offset):
                return None
            try:
                self._write(_SET, (offset, name, *holder))
            except BaseException:
                self._file.free(offset)
                raise
        return StoreLock(name, lambda: self.free(name, holder))

    def free(self, name: str, holder: Holder) -> None:
        """Release a lock; then delete its holder, which is only for display."""
        offset = offset_of(name)
        with self._guard:
            if not self._file.owns(offset):
                return
            self._file.free(offset)
            # The row is no longer used, so a full disk need not fail a finished step.
            with suppress(UwfError):
                self._write(_DROP, (offset, holder.pid, holder.start, holder.since_ms))

    def holder(self, name: str) -> Holder | None:
        """The current holder of a lock."""
        offset = offset_of(name)
        with self._guard:
            if not self._file.is_held(offset):
                return None
            return self._holders([offset]).get(name, _UNKNOWN)

    def held(self) -> dict[str, Holder]:
        """All held locks by name; one that is being acquired may be missing."""
        with self._guard:
            return self._holders(sorted(self._file.held()))

    def _holders(self, offsets: Sequence[int]) -> dict[str, Holder]:
        found: dict[str, Holder] = {}
        for start in range(0, len(offsets), BATCH):
            batch = offsets[start : start + BATCH]
            sql = f"SELECT {HOLDER_COLUMNS} FROM holder WHERE offset IN ({marks(batch)})"
            found.update(holder_of_row(row) for row in self._read(sql, batch))
        return found
