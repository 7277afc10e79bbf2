"""The log of an SQLite store, `store.db-wal`. What was stored last is in it alone, so the file
without it is an older store, or an empty one.

SQLite does not notice a missing log. The table `log` therefore has the store's id, the number of
its log, whether a process had to continue without one, and `follows`: whether a log follows that is
not in the file. When uwf begins a log, or copies one into the file, the file says that one follows,
and at least the beginning of it is there. When another program ends the log (the last one that
closes the store, or one that makes a backup), the file has all of it, and says that none follows.
"""

# Every command opens a store: pathlib is not imported for that.
# ruff: noqa: PTH116

import os
import sqlite3
from collections.abc import Callable
from contextlib import suppress

TABLE = """
CREATE TABLE log (
    id BLOB NOT NULL, number INTEGER NOT NULL, follows INTEGER NOT NULL, lost INTEGER NOT NULL);
INSERT INTO log VALUES (randomblob(16), 1, 0, 0);
"""
_HEADER_BYTES = 32
_LONG_BYTES = 1 << 22
"""The size at which the log is copied into the file: it takes a millisecond to read."""
_NEXT = "UPDATE log SET number = number + 1, follows = 0"


def size(path: str) -> int:
    """The size of the log of the store at `path`."""
    try:
        return os.stat(f"{path}-wal").st_size
    except OSError:
        return 0


def exists(path: str) -> bool:
    """Whether a log is beside the store at `path`."""
    return size(path) >= _HEADER_BYTES


def begin(connection: sqlite3.Connection, path: str) -> None:
    """Write the beginning of the log, if there is none, before the first change by this process."""
    if exists(path) or not _knows(connection):
        return
    connection.execute("PRAGMA synchronous = NORMAL")  # without it there is nothing to lose
    connection.execute("PRAGMA journal_mode = WAL")  # the copy of a tool may have another mode
    connection.execute("BEGIN IMMEDIATE")
    begins = not exists(path)  # no other process has begun it meanwhile
    if begins:
        connection.execute(f"{_NEXT}, lost = lost OR follows AND EXISTS (SELECT 1 FROM node)")
    connection.execute("COMMIT")
    if begins:
        _announce(connection, "PASSIVE")


def end(connection: sqlite3.Connection) -> None:
    """State that no log follows: what is written without waiting for the disk is in the file."""
    connection.execute("PRAGMA synchronous = OFF")
    if _knows(connection):
        connection.execute("UPDATE log SET follows = 0")


class Log:
    """The log of the store at `path` while it becomes longer.

    SQLite would copy it into the file by itself, without saying there that a log follows.
    """

    def __init__(self, path: str) -> None:
        self._path = path
        self._most = _LONG_BYTES

    def shorten(self, connection: sqlite3.Connection) -> None:
        """Copy a long log into the file, and begin a short one unless others still read it."""
        found = size(self._path)
        if found < self._most:
            return
        with suppress(sqlite3.Error, OSError):  # the log stays long: as safe
            _copy(connection)
        left = size(self._path)
        self._most = _LONG_BYTES if left < found else left + _LONG_BYTES


def _copy(connection: sqlite3.Connection) -> None:
    connection.execute(f"PRAGMA journal_size_limit = {_LONG_BYTES // 4}")
    if not _knows(connection):
        connection.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchall()
        return
    _announce(connection, "RESTART")


def _announce(connection: sqlite3.Connection, checkpoint: str) -> None:
    """Copy the log into the file, which records that a log follows, and begin the next one."""
    connection.execute("UPDATE log SET follows = 1")
    try:
        connection.execute(f"PRAGMA wal_checkpoint({checkpoint})").fetchall()
    finally:
        connection.execute(_NEXT)


def fault(connection: sqlite3.Connection | None, path: str) -> str | None:
    """What is wrong with the log, None if nothing is known to be."""
    name = f"{os.path.basename(path)}-wal"  # noqa: PTH119
    if connection is None or not _knows(connection):
        return None
    lost, follows = connection.execute("SELECT lost, follows FROM log").fetchone()
    if follows and not exists(path):
        return f"its log ({name}) is missing beside it: what was stored last is in the log alone"
    if lost:
        return f"its log ({name}) was missing when it was changed: older changes may be lost"
    return None


def mismatch(path: str, *ways: Callable[[], sqlite3.Connection]) -> str | None:
    """Why the log is not that of this file, or is older than it; None if it may be. `ways`: open
    the file alone, and with its log.

    Opens and closes the file, which ends the locks of this process on it: nothing else of the
    process may use the store.
    """
    found = []
    for connect in ways:
        connection = connect()
        try:
            if not _knows(connection):
                return None
            found.append(connection.execute("SELECT id, number FROM log").fetchone())
        finally:
            connection.close()
    (own, number), (of_log, last) = found
    name = f"{os.path.basename(path)}-wal"  # noqa: PTH119
    if own != of_log:
        return f"the log beside it ({name}) is that of another store"
    return f"the log beside it ({name}) is older than it" if last < number else None


def accept(connection: sqlite3.Connection) -> None:
    """Take the store as it is, without the log that was lost."""
    if _knows(connection):
        connection.execute(f"{_NEXT}, lost = 0")


def _knows(connection: sqlite3.Connection) -> bool:
    """Whether this store has the table; older ones do not."""
    text = "SELECT 1 FROM pragma_table_info('log') WHERE name = 'follows'"
    return connection.execute(text).fetchone() is not None
