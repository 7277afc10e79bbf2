"""Create, open and close the SQLite file; convert its errors to ours.

A new file is written next to its place under a lock and then renamed, so no process
ever sees a partial one. Reading creates nothing and needs no write permission.
"""

# Every command opens a store, and pathlib takes as long to load as sqlite3.
# ruff: noqa: PTH104, PTH105, PTH108, PTH112, PTH116, PTH120

import os
import sqlite3
import stat
from contextlib import closing, suppress
from functools import partial
from typing import Any

from uwf_core.api.store import LAYOUT_VERSION
from uwf_core.errors import BusyError, CorruptNodeError, StoreError, StoreVersionError, UwfError
from uwf_core.ids import ref_of_number
from uwf_core.process import crash_points
from uwf_core.process.folders import make_lasting_folder, sync, sync_names
from uwf_core.stores import log
from uwf_core.stores.locks import BUSY_SECONDS, LockFile, WaitingConnection, offset_of, primary_code

VERSION = LAYOUT_VERSION
"""The version of `_TABLES` and of the nodes of threads, stored in PRAGMA user_version."""

_APPLICATION = 0x75776673
"""PRAGMA application_id of our files: "uwfs"."""

_PAGE_BYTES = 4096
_SIDES = ("-journal", "-wal", "-shm")
_MAKING = offset_of("\0making the store")

# `node.ref`, `type` and `edges` are references as 64-bit integers, moved by 2^63 so that they sort
# alike. Rows lie in the order of their first put, which packs pages full. `touched` counts from
# `created`; `edges` leaves the type out and is NULL when nothing is left; `guard` is a checksum
# over what no hash covers. `variable.status` repeats the tag of that name for its index. `holder`
# is for display, not the lock.
_TABLES = """
CREATE TABLE node (
    type INTEGER NOT NULL, ref INTEGER NOT NULL, created INTEGER NOT NULL,
    touched INTEGER NOT NULL, guard INTEGER NOT NULL, edges BLOB, sha256 BLOB NOT NULL,
    data BLOB NOT NULL);
CREATE UNIQUE INDEX node_ref ON node (ref);
CREATE TABLE variable (
    name TEXT NOT NULL, value TEXT NOT NULL, status TEXT, tags BLOB NOT NULL,
    created INTEGER NOT NULL, updated INTEGER NOT NULL, checksum BLOB NOT NULL);
CREATE UNIQUE INDEX variable_name ON variable (name);
CREATE INDEX variable_status ON variable (status, name) WHERE status IS NOT NULL;
CREATE TABLE holder (
    offset INTEGER PRIMARY KEY, name TEXT NOT NULL, pid INTEGER NOT NULL, start TEXT NOT NULL,
    host TEXT NOT NULL, since INTEGER NOT NULL);
"""


class Database:
    """The connections to one file: one to read, and one to write, opened at the first write.

    Args:
        path: absolute.
        may_make_folder: whether the first write creates a missing folder (0700).
        durable: False for a temporary file, which has only one connection.
        locks: those of the store; default: a lock file next to it.

    Attributes:
        store_errors: a context that converts an error of SQLite to a `StoreError` with place and
            hint.
        writing: the same; its value is the connection to write.
    """

    def __init__(
        self, path: str, locks: LockFile | None = None, *,
        may_make_folder: bool = False, durable: bool = True,
    ) -> None:  # fmt: skip
        self.path = path
        self.store_errors = _StoreErrors(path)
        self.writing = _Writing(self)
        self.locks = locks or LockFile(path + ".lock")
        self.durable = durable
        self._may_make_folder = may_make_folder
        self._reader: sqlite3.Connection | None = None
        self._writer: WaitingConnection | None = None
        self._log = log.Log(path)

    def reader(self) -> sqlite3.Connection | None:
        """The connection to read; None while there is no store."""
        if self._writer is not None:
            return self._writer
        if self._reader is None and self._exists():
            if not self.durable:
                return self.writer()
            self._reader = self._opened_to_read()
        return self._reader

    def writer(self) -> sqlite3.Connection:
        """The connection to write; creates the store if there is none."""
        if self._writer is None:
            if not self._exists():
                self._make()
            self._writer = self._checked(connected(self.path, "rw"))
            if self.durable:
                self._writer.execute("PRAGMA wal_autocheckpoint = 0")  # see `log.Log`
                log.begin(self._writer, self.path)
            else:
                log.end(self._writer)
            self._writer.execute("PRAGMA fullfsync = 1")  # on macOS fsync alone does not wait
        return self._writer

    def log_fault(self, *, thorough: bool = False) -> str | None:
        """What is wrong with the log; unless `thorough`, only whether it is missing."""
        if not self.durable or (log.exists(self.path) and not thorough):
            return None
        with self.store_errors:
            if thorough and self._reader is self._writer is None and self._exists():
                alone = partial(connected, self.path, "ro&immutable=1")
                if found := log.mismatch(self.path, alone, self._opened_to_read):
                    return found
            return log.fault(self.reader(), self.path)

    def shorten_log(self) -> None:
        """Copy the log into the file if it is long. Not within a transaction."""
        if self._writer is not None and self.durable:
            self._log.shorten(self._writer)

    def close(self) -> None:
        """Close both, leaving the log (`-wal`) where it is.

        The last connection that closes would copy the log into the file and wait twice for the
        disk: too much for a process that has written one step. While the reader is open, the
        writer is not the last; and the reader may not write. The log is copied when it is long,
        and one of a huge transaction goes: every later command would read all of it.
        """
        if self._writer is not None:
            if self.durable:
                self.shorten_log()
                with suppress(sqlite3.Error, OSError):  # then closing copies the log: as safe
                    self._reader = self._reader or connected(self.path, "ro")
                    self._reader.execute("SELECT 1 FROM node LIMIT 1").fetchone()
            self._writer.close()
            self._writer = None
        if self._reader is not None:
            self._reader.close()
            self._reader = None

    def _exists(self) -> bool:
        try:
            found = os.stat(self.path)
        except FileNotFoundError:
            self._check_folder()
            return False
        except OSError as error:
            raise StoreError(
                f"cannot open the store: {error.strerror}",
                where=self.path,
                hint="check the path in `store` and the read permission of its folders",
            ) from error
        if stat.S_ISDIR(found.st_mode):
            hint = "set `store` to a file, such as `sqlite:store.db`"
            raise StoreError("the store is a folder, not a file", where=self.path, hint=hint)
        return found.st_size > 0

    def _check_folder(self) -> None:
        folder = os.path.dirname(self.path)
        if not self._may_make_folder and not os.path.isdir(folder):
            raise StoreError(
                "the folder of the store does not exist",
                where=folder,
                hint=f"next: mkdir -p {folder} (or set `store` to another place)",
            )

    def _opened_to_read(self) -> sqlite3.Connection:
        """Open to read; without write permission without locks, the index of the log in memory."""
        try:
            return self._checked(connected(self.path, "ro"))
        except sqlite3.OperationalError as error:
            if not _lacks_leave(error):
                raise
            mode = "ro&vfs=unix-none" if log.size(self.path) else "ro&immutable=1"
            connection = connected(self.path, mode)
            connection.execute("PRAGMA locking_mode = EXCLUSIVE")
            return self._checked(connection)

    def _checked(self, connection: WaitingConnection) -> WaitingConnection:
        try:
            self._check(connection)
        except BaseException:
            connection.close()
            raise
        return connection

    def _check(self, connection: sqlite3.Connection) -> None:
        """Verify that the file is a store of a supported version."""
        application = connection.execute("PRAGMA application_id").fetchone()[0]
        version = connection.execute("PRAGMA user_version").fetchone()[0]
        connection.execute("SELECT 1 FROM sqlite_master").fetchone()
        if application != _APPLICATION:
            hint = "set `store` to another file"
            raise StoreError("this database is not a store of uwf", where=self.path, hint=hint)
        if version != VERSION:
            age, cure = ("newer", "upgrade uwf, or") if version > VERSION else ("older", "")
            raise StoreVersionError(
                f"this store was written by {'an' if age == 'older' else 'a'} {age} uwf (layout "
                f"{version}; this one knows {VERSION})",
                where=self.path,
                hint=f"{cure} set `store` to another file".strip(),
            )

    def _make(self) -> None:
        try:
            if self._may_make_folder:
                make_lasting_folder(os.path.dirname(self.path))
            self.locks.wait(_MAKING, BUSY_SECONDS)
            try:
                if not self._exists():
                    self._make_alone()
            finally:
                self.locks.free(_MAKING)
        except OSError as error:
            raise StoreError(
                f"cannot create the store: {error.strerror}",
                where=self.path,
                hint="check the write permission of the folder and the free disk space",
            ) from error

    def _make_alone(self) -> None:
        draft = self.path + ".new"
        _remove_store(draft)  # left by a process that died here
        try:
            _write_empty(draft)
            _remove_store(draft, *_SIDES)  # SQLite reports no error if it cannot
            with suppress(FileNotFoundError):  # the log of a removed store is not that of this one
                os.replace(self.path + "-wal", self.path + "-wal.orphan")
            _remove(self.path + "-shm")
            sync(draft)
            crash_points.reach("store-draft")
            os.rename(draft, self.path)
        except BaseException:
            _remove_store(draft)
            raise
        crash_points.reach("store-made")
        sync_names(os.path.dirname(self.path))


def _write_empty(path: str) -> None:
    """Create an empty store, written but not synced."""
    os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
    with closing(connected(path, "rw")) as connection:
        connection.execute(f"PRAGMA page_size = {_PAGE_BYTES}")
        connection.execute("PRAGMA synchronous = OFF")  # it is synced once, when complete
        connection.execute("PRAGMA journal_mode = WAL")
        create(connection)
        # Closing does this too, but reports no error if the disk fails halfway.
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()


def create(connection: sqlite3.Connection) -> None:
    """Create the tables of a store."""
    connection.executescript(
        f"BEGIN; {_TABLES} {log.TABLE} PRAGMA application_id = {_APPLICATION}; "
        f"PRAGMA user_version = {VERSION}; COMMIT"
    )


class _StoreErrors:
    """See `Database.store_errors`. It is reentrant."""

    def __init__(self, path: str) -> None:
        self._path = path

    def __enter__(self) -> Any:
        pass

    def __exit__(self, _type: object, error: BaseException | None, _traceback: object) -> None:
        if error is None:
            return
        if isinstance(error, sqlite3.Error):
            raise _translated(error, self._path) from error
        if isinstance(error, UnicodeDecodeError):  # a message of SQLite that quotes damaged bytes
            what = "the store file is damaged"
            raise CorruptNodeError(what, where=self._path, hint=_CORRUPT_HINT) from error
        if isinstance(error, UnicodeEncodeError):
            raise StoreError("a text for the store is not Unicode", where=self._path) from error


class _Writing(_StoreErrors):
    """See `Database.writing`. It is reentrant."""

    def __init__(self, database: Database) -> None:
        super().__init__(database.path)
        self._database = database

    def __enter__(self) -> sqlite3.Connection:
        return self._database.writer()


def connected(path: str, mode: str) -> WaitingConnection:
    """A connection to the file at `path`, in a mode of SQLite."""
    escaped = path.replace("%", "%25").replace("?", "%3f").replace("#", "%23")
    connection = sqlite3.connect(
        f"file://{escaped}?mode={mode}",
        uri=True,
        timeout=0,
        factory=WaitingConnection,
        isolation_level=None,
        check_same_thread=False,
    )
    connection.text_factory = bytes  # damaged text must be detected row by row
    return connection


def _remove_store(path: str, *endings: str) -> None:
    """Remove the file, and what SQLite has beside it; or what has these endings."""
    for ending in endings or ("", *_SIDES):
        _remove(path + ending)


def _remove(path: str) -> None:
    with suppress(FileNotFoundError):
        os.unlink(path)


def _lacks_leave(error: sqlite3.Error) -> bool:
    return primary_code(error) in (
        sqlite3.SQLITE_CANTOPEN,
        sqlite3.SQLITE_READONLY,
        sqlite3.SQLITE_IOERR,
        sqlite3.SQLITE_FULL,
        sqlite3.SQLITE_PERM,
    )


SEALED = "this store was moved to "
"""The beginning of the error of a sealed store."""

_CORRUPT_HINT = "restore the store from a copy"
_FAULTS: dict[int, tuple[type[UwfError], str, str]] = {
    sqlite3.SQLITE_BUSY: (
        BusyError,
        "another process is writing to the store",
        "wait for it to finish, or stop it",
    ),
    sqlite3.SQLITE_FULL: (
        StoreError,
        "the disk is full; nothing was stored",
        "free disk space and repeat; all stored data is safe",
    ),
    sqlite3.SQLITE_READONLY: (
        StoreError,
        "the store is read-only",
        "give yourself write permission for the file and its folder",
    ),
    sqlite3.SQLITE_CANTOPEN: (
        StoreError,
        "cannot open the store",
        "check the read and write permission of the file and its folder",
    ),
    sqlite3.SQLITE_NOTADB: (
        StoreError,
        "this file is not a store: it is not an SQLite database",
        "set `store` to another file, or restore this one from a copy",
    ),
    sqlite3.SQLITE_CORRUPT: (CorruptNodeError, "the store file is damaged", _CORRUPT_HINT),
    sqlite3.SQLITE_IOERR: (
        StoreError,
        "the disk reported a read or write error",
        "check its free space and its health",
    ),
}
for _like, _other in (
    (sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_BUSY),
    (sqlite3.SQLITE_PROTOCOL, sqlite3.SQLITE_BUSY),
    (sqlite3.SQLITE_PERM, sqlite3.SQLITE_CANTOPEN),
    (sqlite3.SQLITE_AUTH, sqlite3.SQLITE_CANTOPEN),
):
    _FAULTS[_like] = _FAULTS[_other]


def _translated(error: sqlite3.Error, path: str) -> UwfError:
    if str(error).startswith(SEALED):
        hint = "the configuration names the new one; `uwf store check` prints which is used"
        return BusyError(str(error), where=path, hint=hint)
    kind, message, hint = _FAULTS.get(
        primary_code(error), (StoreError, "the store failed", "next: uwf doctor")
    )
    return kind(f"{message} ({error})", where=path, hint=hint)


def damaged_row(place: str, number: Any) -> CorruptNodeError:
    """The error for a row of the node `number` whose columns do not match their checksum."""
    name = ref_of_number(number) if isinstance(number, int) else "without a name"
    text = f"the node {name} is damaged: its columns do not match their checksum"
    return CorruptNodeError(text, where=place, hint=_CORRUPT_HINT)


def damaged_file(place: str, why: str) -> CorruptNodeError:
    """The error for a file that SQLite can read although it is damaged."""
    return CorruptNodeError(f"the store file is damaged: {why}", where=place, hint=_CORRUPT_HINT)
