"""Commits as statements, and what the server may forget of them in a crash."""

from collections.abc import Iterable, Sequence
from typing import Any

import psycopg

from uwf_core.api import Committed, Record, ref_of_number
from uwf_store_postgres import rows
from uwf_store_postgres.arrays import bigints, texts
from uwf_store_postgres.place import Place
from uwf_store_postgres.queries import COMMIT
from uwf_store_postgres.session import Connection

_MOVED, _DIFFERS = "UW001", "UW002"
_MOST_BYTES = 64 * 1024 * 1024
_PRESENT = "SELECT ref FROM {s}.node WHERE ref = ANY(%s)"


def called(connection: Connection, sql: str, values: Sequence[Any]) -> Committed:
    """Call `commit_step`."""
    try:
        with connection.cursor(binary=True) as cursor:
            found = cursor.execute(sql, values).fetchall()
    except psycopg.Error as error:
        detail = error.diag.message_detail or ""
        if error.sqlstate == _MOVED:
            return Committed(moved=[detail])
        if error.sqlstate == _DIFFERS:
            return Committed(differing=[ref_of_number(int(detail))])
        raise
    return Committed(
        moved=[row[1] for row in found if row[0] == "moved"],
        lost=[row[1] for row in found if row[0] == "lost"],
        existing={ref_of_number(row[2]): row[3] for row in found if row[0] == "existing"},
    )


class Unsynced:
    """The records that were stored without a wait for the disk since the last commit that waited.
    A crash of the server forgets them, and later ones refer to them: after a broken connection,
    those that are gone are stored again.
    """

    def __init__(self, place: Place) -> None:
        self._place = place
        self._records: dict[str, Record] = {}
        self._bytes = 0
        self._seen_by: Connection | None = None

    @property
    def is_full(self) -> bool:
        """Whether the next commit should wait, since so much is kept here."""
        return self._bytes > _MOST_BYTES

    def add(self, records: Iterable[Record], connection: Connection | None) -> None:
        """Keep records that were stored over a connection."""
        for each in records:
            if self._records.setdefault(each.ref, each) is each:
                self._bytes += len(each.data)
        self._seen_by = connection

    def clear(self) -> None:
        """A commit has waited for the disk: all before it is there."""
        self._records.clear()
        self._bytes = 0

    def restore(self, connection: Connection) -> None:
        """Store again what is gone, within the transaction of the connection, if it is in one. A
        pooler may hide that the server has crashed, so behind one the server is always asked.
        """
        if not self._records or (connection is self._seen_by and not self._place.pooled):
            return
        numbers = [rows.number(ref) for ref in self._records]
        sql = _PRESENT.replace("{s}", self._place.schema)
        with connection.cursor(binary=True) as cursor:
            there = {ref_of_number(row[0]) for row in cursor.execute(sql, [numbers])}
        gone = [each for ref, each in self._records.items() if ref not in there]
        if gone:
            values = (
                *rows.columns_of_records(gone),
                *rows.columns_of_changes(()),
                *(texts([]), bigints([]), True, self._place.touch_ms),
            )
            called(connection, COMMIT.replace("{s}", self._place.schema), values)
