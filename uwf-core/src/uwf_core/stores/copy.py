"""A whole store as a new SQLite file."""

import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING

from uwf_core.errors import StoreError
from uwf_core.stores.sqlite import SqliteBackend

if TYPE_CHECKING:
    from uwf_core.api.store import StoreBackend


def copy_all(backend: "StoreBackend", path: str) -> None:
    """Write all that an SQLite store holds into a new file at `path` (absolute); no log lies beside
    it, so that it may be copied as any file.

    Raises:
        StoreError: it cannot be written, or the store is of another kind.
    """
    if not isinstance(backend, SqliteBackend):
        raise StoreError(
            "only an SQLite store can be copied into a file",
            where=backend.location(),
            hint="set `store` to `sqlite:PATH`",
        )
    try:
        with closing(sqlite3.connect(backend.location())) as source:
            source.execute("VACUUM INTO ?", (path,))
        with closing(sqlite3.connect(path)) as copy:
            copy.execute("PRAGMA journal_mode = WAL").fetchall()  # that of a copy is another
    except sqlite3.Error as error:
        raise StoreError(
            f"the store cannot be copied: {error}",
            where=path,
            hint="the file must not exist yet, its folder be yours, and the disk have room",
        ) from error
