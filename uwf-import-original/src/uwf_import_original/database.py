"""The names in a database of ocas 0.4: read from a copy, which is all that they are read for."""

import sqlite3
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from uwf_core.errors import StoreError

_TABLES = "SELECT type, sql FROM sqlite_master WHERE name = 'vars'"
_ROWS = "SELECT name, value, tags FROM vars ORDER BY updated, name LIMIT ?"


def rows_of(content: bytes, log: bytes | None, most: int) -> Sequence[tuple[Any, Any, Any]]:
    """Name, value and tags (as JSON text) of the variables, those that were changed last at the
    end; values can be of any type.

    Args:
        content: the file. log: its write-ahead log, None without one.
        most: how many to read.

    Raises:
        StoreError: it is not such a database.
    """
    with TemporaryDirectory(prefix="uwf-names-") as folder:
        copy = Path(folder, "copy.db")
        copy.write_bytes(content)
        if log is not None:
            copy.with_name("copy.db-wal").write_bytes(log)
        try:
            with closing(sqlite3.connect(copy)) as database:
                return _rows(database, most)
        except sqlite3.Error as error:
            raise StoreError(f"cannot read the names: {error}") from error


def _rows(database: sqlite3.Connection, most: int) -> Sequence[tuple[Any, Any, Any]]:
    database.execute("PRAGMA trusted_schema = OFF")
    kinds = database.execute(_TABLES).fetchall()
    if not all(type_ == "table" and str(sql).startswith("CREATE TABLE") for type_, sql in kinds):
        raise StoreError("its names are not in a plain table")  # a view can run for ever
    return database.execute(_ROWS, (most,)).fetchall() if kinds else ()
