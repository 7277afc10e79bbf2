"""The file of a store, changed behind uwf's back."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path


@contextmanager
def opened_store(path: Path) -> Iterator[sqlite3.Connection]:
    """A connection whose changes are committed at the end.

    The store keeps its log, as after a command of uwf: SQLite deletes it when the last connection
    closes that may write, and this one is not the last.
    """
    with closing(sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True)) as reader:
        reader.execute("SELECT 1 FROM sqlite_master").fetchone()
        with closing(sqlite3.connect(path)) as connection, connection:
            yield connection


def settle(path: Path) -> None:
    """Copy the log into the file and begin a new one, as uwf does with a long one."""
    with opened_store(path) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        connection.execute("UPDATE log SET number = number + 1")
