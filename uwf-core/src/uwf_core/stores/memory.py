"""A store in memory, of SQLite too: for tests and for programs that keep nothing."""

import sqlite3
from typing import Any

from uwf_core.api.store import Fact
from uwf_core.errors import StoreError
from uwf_core.stores.database import Database, connected, create
from uwf_core.stores.locks import LockFile
from uwf_core.stores.sqlite import SqliteBackend


def open_memory(url: str, home: str, **_: Any) -> SqliteBackend:
    """The factory of `memory:`. Each call creates a separate store, which ends with `close`.
    Threads may share it; processes cannot.
    """
    del url, home
    return MemoryBackend(_Memory())


class MemoryBackend(SqliteBackend):
    """A store of which nothing stays."""

    def changes(self) -> int:
        """How many rows were written: there is no other connection that could tell."""
        with self._lock, self._database.store_errors:
            return self._database.writer().total_changes

    def facts(self) -> dict[str, Fact]:
        """There is no file."""
        return {}


class _Memory(Database):
    """One connection, to a database without a file."""

    def __init__(self) -> None:
        super().__init__("memory", durable=False, locks=_OwnLocks(""))
        self._is_closed = False

    def reader(self) -> sqlite3.Connection:
        return self.writer()

    def writer(self) -> sqlite3.Connection:
        if self._is_closed:
            raise StoreError("the store in memory is closed", hint="open a new one")
        if self._writer is None:
            self._writer = connected("/", "memory")
            create(self._writer)
        return self._writer

    def close(self) -> None:
        super().close()
        self._is_closed = True

    def __del__(self) -> None:
        self.close()  # a draft is closed when nothing refers to it any more


class _OwnLocks(LockFile):
    """Locks that no other process asks for."""

    def take(self, offset: int) -> bool:
        is_free = offset not in self._own
        self._own.add(offset)
        return is_free

    def free(self, offset: int) -> None:
        self._own.discard(offset)

    def close(self) -> None:
        self._own.clear()

    def _opened_to_ask(self) -> None:
        """There is no file."""
