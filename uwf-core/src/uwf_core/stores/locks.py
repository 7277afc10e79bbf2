"""Locks that the system releases when their holder dies: byte ranges of one file.

Each name selects one byte far out in the file, at an offset that is a hash of the name: no file
per lock, so no litter, and nothing is ever unlinked, so no race. Linux has *open file
description* locks: they conflict between two openings within one process as well, and readers ask
for them (`F_OFD_GETLK`) without ever taking one, so that a watcher cannot make a lock fail.

macOS has only the classic locks: two openings within one process do not conflict there, and
closing either releases the locks of both. Between processes it is the same.
"""

import fcntl
import os
import sqlite3
import struct
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from threading import RLock
from typing import Any, Final, NoReturn

from xxhash import xxh64_intdigest

from uwf_core.api.store import Holder
from uwf_core.errors import BusyError, StoreError, UwfError
from uwf_core.process import crash_points
from uwf_core.process.cancel import current_cancel
from uwf_core.stores.queries import BATCH, marks
from uwf_core.stores.rows import HOLDER_COLUMNS, Row, holder_of_row

_SET = getattr(fcntl, "F_OFD_SETLK", fcntl.F_SETLK)
_ASK = getattr(fcntl, "F_OFD_GETLK", fcntl.F_GETLK)
_END = 1 << 62
"""All offsets lie below; the system counts in 63 bits."""

_RETRY_SECONDS = 0.005

# struct flock: (type, whence, start, length, pid) on Linux, (start, length, pid, type, whence)
# on macOS; see fcntl(2).
_FLOCK = struct.Struct("@qqihh" if sys.platform == "darwin" else "@hhqqi4x")


_UNKNOWN = Holder(0, "", "", 0)
"""The holder of a lock between acquiring and recording it."""

_SET_HOLDER = f"INSERT OR REPLACE INTO holder ({HOLDER_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?)"
_DROP_HOLDER = "DELETE FROM holder WHERE offset = ? AND pid = ? AND start = ? AND since = ?"


def offset_of(name: str) -> int:
    """The byte of the lock `name`."""
    return xxh64_intdigest(name.encode()) % _END


class LockFile:
    """One file of locks. Not thread-safe: its owner serializes calls.

    Args:
        path: the file; created (0600) when the first lock is acquired, never by a query.
    """

    def __init__(self, path: str) -> None:
        self._path = path
        self._file: int | None = None
        self._writable = False
        self._own: set[int] = set()

    def take(self, offset: int) -> bool:
        """Acquire the lock at `offset` now; False if it is held."""
        if offset in self._own:
            return False
        try:
            fcntl.fcntl(self._opened_to_take(), _SET, _flock(fcntl.F_WRLCK, offset, 1))
        except (BlockingIOError, PermissionError):
            return False
        except OSError as error:
            self._fail(error)
        self._own.add(offset)
        crash_points.reach("locked")
        return True

    def wait(self, offset: int, seconds: float) -> None:
        """Wait for the lock at `offset` and acquire it, for a short operation.

        Raises:
            BusyError: it was not free within `seconds`.
        """
        until = time.monotonic() + seconds
        while not self.take(offset):
            if time.monotonic() > until or is_cancelled():
                raise BusyError(
                    "another process holds the lock of the store",
                    where=self._path,
                    hint="wait for it to finish, or stop it",
                )
            time.sleep(_RETRY_SECONDS)

    def free(self, offset: int) -> None:
        """Release the lock at `offset`, if it is ours."""
        if offset in self._own and self._file is not None:
            self._own.discard(offset)
            fcntl.fcntl(self._file, _SET, _flock(fcntl.F_UNLCK, offset, 1))

    def owns(self, offset: int) -> bool:
        """Whether this object holds the lock at `offset`."""
        return offset in self._own

    def is_held(self, offset: int) -> bool:
        """Whether any process holds the lock at `offset`. Never acquires it."""
        return offset in self._own or self._first_within(offset, offset + 1) is not None

    def held(self) -> set[int]:
        """The offsets of all held locks: two system calls for each."""
        found = set(self._own)
        spans = [(0, _END)]
        while spans:
            start, end = spans.pop()
            hit = self._first_within(start, end)
            if hit is not None:
                found.add(hit)
                spans += [each for each in ((start, hit), (hit + 1, end)) if each[0] < each[1]]
        return found

    def close(self) -> None:
        """Release all locks."""
        if self._file is not None:
            os.close(self._file)
            self._file = None
            self._writable = False
            self._own.clear()

    def _first_within(self, start: int, end: int) -> int | None:
        """A lock of another process within start..end, or None."""
        file = self._opened_to_ask()
        if file is None:
            return None
        try:
            answer = fcntl.fcntl(file, _ASK, _flock(fcntl.F_WRLCK, start, end - start))
        except OSError as error:
            self._fail(error)
        kind, offset = _kind_and_start(answer)
        return None if kind == fcntl.F_UNLCK else max(offset, start)

    def _opened_to_ask(self) -> int | None:
        if self._file is None:
            try:
                self._file = os.open(self._path, os.O_RDONLY)
            except (FileNotFoundError, NotADirectoryError):
                return None
            except OSError as error:
                self._fail(error)
        return self._file

    def _opened_to_take(self) -> int:
        if self._file is not None and self._writable:
            return self._file
        self.close()
        try:
            self._file = os.open(self._path, os.O_RDWR | os.O_CREAT, 0o600)
        except OSError as error:
            self._fail(error)
        self._writable = True
        return self._file

    def _fail(self, error: OSError) -> NoReturn:
        raise StoreError(
            f"cannot use the lock file of the store: {error.strerror}",
            where=self._path,
            hint="check the write permission of the folder and file; the disk must support locks",
        ) from error


class StoreLock:
    """A lock of this process; releasing it twice is harmless. `free`: releases it."""

    def __init__(self, name: str, free: Callable[[], None]) -> None:
        self.name, self._free, self.is_held = name, free, True

    def release(self) -> None:
        """Release it, once."""
        if self.is_held:
            self.is_held = False
            self._free()


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
                self._write(_SET_HOLDER, (offset, name, *holder))
            except BaseException:
                self._file.free(offset)
                raise
        return StoreLock(name, lambda: self._release(offset, holder))

    def _release(self, offset: int, holder: Holder) -> None:
        """Release a lock; then delete its holder, which is only for display."""
        with self._guard:
            if not self._file.owns(offset):
                return
            self._file.free(offset)
            # The row is no longer used, so a full disk need not fail a finished step.
            with suppress(UwfError):
                self._write(_DROP_HOLDER, (offset, holder.pid, holder.start, holder.since_ms))

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


def _flock(kind: int, start: int, length: int) -> bytes:
    if sys.platform == "darwin":
        return _FLOCK.pack(start, length, 0, kind, os.SEEK_SET)
    return _FLOCK.pack(kind, os.SEEK_SET, start, length, 0)


def _kind_and_start(flock: bytes) -> tuple[int, int]:
    fields = _FLOCK.unpack(flock)
    return (fields[3], fields[0]) if sys.platform == "darwin" else (fields[0], fields[2])


# -- waiting for other processes that write to the store ------------------------------------------

BUSY_SECONDS: Final = 60.0


class WaitingConnection(sqlite3.Connection):
    """A connection whose statements wait for other writers: at most `busy_seconds`, and only until
    the run is cancelled. SQLite itself would wait without returning to Python, which handles no
    signal meanwhile.
    """

    busy_seconds = BUSY_SECONDS

    def execute(self, sql: str, parameters: Any = (), /) -> sqlite3.Cursor:
        """As that of sqlite3. Within a transaction nothing is repeated."""
        deadline = None
        while True:
            try:
                return super().execute(sql, parameters)
            except sqlite3.OperationalError as error:
                if primary_code(error) != sqlite3.SQLITE_BUSY or self.in_transaction:
                    raise
                deadline = deadline or time.monotonic() + self.busy_seconds
                if time.monotonic() > deadline or is_cancelled():
                    raise
                time.sleep(_RETRY_SECONDS)


def is_cancelled() -> bool:
    """Whether the run to which this code belongs may not wait any longer."""
    cancel = current_cancel()
    return cancel is not None and cancel.is_over()


def primary_code(error: sqlite3.Error) -> int:
    """The code of an error of SQLite, without its details."""
    code: int = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR)
    return code & 0xFF
