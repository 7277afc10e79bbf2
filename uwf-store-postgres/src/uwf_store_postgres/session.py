"""One connection to the database, which is opened when needed and again when it breaks."""

import os
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from typing import Any, TypeVar

import psycopg

from uwf_core.api import UwfError
from uwf_store_postgres import schema
from uwf_store_postgres.arrays import register_arrays
from uwf_store_postgres.faults import translated
from uwf_store_postgres.place import Place

RETRY_SECONDS = 15.0
"""How long to try to reach a server that was reachable before: it may be starting again."""

_PAUSE_SECONDS = 0.1
_STARTING = ("57P03", "57P01", "57P02", "08")

Row = tuple[Any, ...]
Connection = psycopg.Connection[Row]
_Result = TypeVar("_Result")


class Session:
    """Not thread-safe: its owner serializes calls.

    Attributes:
        version: of the tables; 0 before the first connection.
    """

    def __init__(self, place: Place, retry_seconds: float = RETRY_SECONDS) -> None:
        self._place, self._retry_seconds = place, retry_seconds
        self._connection: Connection | None = None
        self._within = False
        self._pid = 0
        self._parents: list[Connection] = []
        self.version = 0

    def run(self, action: Callable[[Connection], _Result]) -> _Result:
        """Call `action` with the connection. If that breaks outside of a transaction, open another
        one and call it again: whether the first call was committed is unknown, so `action` must be
        one that may be repeated.

        Raises:
            UwfError: the statement failed, or the server was not reachable for `retry_seconds`.
        """
        until = time.monotonic() + self._retry_seconds
        while True:
            was_reachable = bool(self.version)
            if self._within and self._connection is None:
                error = psycopg.OperationalError("the connection broke within the transaction")
                raise translated(error, self._place.shown)
            try:
                return action(self.connection())
            except (psycopg.Error, UnicodeEncodeError, OSError) as error:
                again = _is_broken(error, self._connection) and was_reachable and not self._within
                if _is_broken(error, self._connection):
                    self.close()
                if not again or time.monotonic() > until:
                    raise translated(error, self._place.shown) from error
                time.sleep(_PAUSE_SECONDS)

    def rows(self, sql: str, values: Sequence[Any] | None = None) -> list[Row]:
        """The rows of a statement that may be repeated. `{s}` is the schema."""
        text = sql.replace("{s}", self._place.schema)
        return self.run(lambda connection: _fetched(connection, text, values))

    def connection(self) -> Connection:
        """The connection, opened and its schema checked."""
        if self._pid != os.getpid():  # after a fork the connection is that of the parent
            if self._connection is not None:
                self._parents.append(self._connection)
            self._connection, self._pid = None, os.getpid()
        if self._connection is None:
            connection = self._opened()
            try:
                self.version = schema.checked_version(connection, self._place)
            except BaseException:
                connection.close()
                raise
            self._connection = connection
        return self._connection

    @contextmanager
    def opened(self) -> Iterator[Connection]:
        """Another connection, whose schema is not checked."""
        with self.faults(), closing(self._opened()) as connection:
            yield connection

    def _opened(self) -> Connection:
        connection = psycopg.connect(
            self._place.conninfo,
            autocommit=True,
            prepare_threshold=None if self._place.pooled else 5,
        )
        register_arrays(connection.adapters)
        return connection

    @contextmanager
    def transaction(self, *begin: str) -> Iterator[Connection]:
        """A transaction that begins with these statements; it is not repeated.

        Raises:
            UwfError: a statement failed, and nothing was stored, or the connection broke at the
                commit, and nobody knows.
        """
        if self._within:
            raise RuntimeError("transactions do not nest")
        statements = "; ".join(each.replace("{s}", self._place.schema) for each in begin)
        connection = self.run(lambda each: (each.execute(statements), each)[1])
        self._within = True
        try:
            yield connection
            with self.faults():
                connection.execute("COMMIT")
        except BaseException:
            self._roll_back(connection)
            raise
        finally:
            self._within = False

    def _roll_back(self, connection: Connection) -> None:
        try:
            if not connection.closed:
                connection.execute("ROLLBACK")
        except psycopg.Error:  # then the server rolls back by itself
            self.close()
        if connection.closed:
            self.close()

    @contextmanager
    def faults(self) -> Iterator[None]:
        """Convert errors to those of uwf."""
        try:
            yield
        except (psycopg.Error, UnicodeEncodeError, OSError) as error:
            raise translated(error, self._place.shown) from error

    def close(self) -> None:
        """Close the connection; the next call opens another one."""
        if self._connection is not None and self._pid == os.getpid():
            self._connection.close()
        self._connection = None


def _fetched(connection: Connection, sql: str, values: Sequence[Any] | None) -> list[Row]:
    with connection.cursor(binary=True) as cursor:
        cursor.execute(sql, values)
        return cursor.fetchall() if cursor.description else []


def _is_broken(error: Exception, connection: Connection | None) -> bool:
    """Whether it was the connection that failed, not the statement."""
    if isinstance(error, UwfError):
        return False
    state = getattr(error, "sqlstate", None) or ""
    if state.startswith(_STARTING):
        return True
    is_operational = isinstance(error, psycopg.OperationalError | OSError)
    return is_operational and (connection is None or connection.closed)
