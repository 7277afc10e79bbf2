"""The default store: one embedded SQLite file, in WAL mode, with one sync per durable commit.

While one process writes, others read the previous state. Writers wait for each other.
"""

# Every command opens a store, and pathlib takes as long to load as sqlite3.
# ruff: noqa: PTH100, PTH111, PTH114, PTH118, PTH120

import os
import sqlite3
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from functools import partial
from itertools import chain, islice
from threading import RLock
from typing import Any

from uwf_core.api.store import (
    Commit,
    Committed,
    Content,
    Fact,
    Holder,
    LockHandle,
    Record,
    Variable,
    WantedVariables,
)  # fmt: skip
from uwf_core.cas.records import STORED, ConflictError, first_lost, put_checked, write_changes
from uwf_core.errors import StoreError
from uwf_core.ids import number_of, ref_of_number
from uwf_core.process import crash_points
from uwf_core.stores import rows
from uwf_core.stores.database import Database, damaged_file, damaged_row
from uwf_core.stores.locks import HeldLocks
from uwf_core.stores.queries import (
    BATCH,
    batches,
    has_tags,
    marks,
    nodes_before,
    query,
    write_variable,
)
from uwf_core.stores.rows import (
    GRAPH_COLUMNS,
    RECORD_COLUMNS,
    RECORD_COLUMNS_OF_SMALL,
    TEXT_COLUMNS,
    VARIABLE_COLUMNS,
    Row,
    range_of,
)

_GET = f"SELECT {RECORD_COLUMNS} FROM node WHERE ref = ?"
_GET_BY_PLACE = f"SELECT {RECORD_COLUMNS} FROM node WHERE rowid = ?"
_PUT = (
    f"INSERT INTO node ({RECORD_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?) "
    "ON CONFLICT (ref) DO NOTHING"
)
_TOUCH = "UPDATE node SET touched = ?, guard = ? WHERE ref = ?"
_GET_VARIABLE = f"SELECT {VARIABLE_COLUMNS} FROM variable WHERE name = ?"


def open_sqlite(url: str, home: str, *, durable: bool = True) -> "SqliteBackend":
    """The factory of `sqlite:PATH`; a relative path is relative to `home`.

    The first write creates folders (0700), if they are `home` or within it. Without
    `durable` nothing ever waits for the disk, whatever a transaction requests.

    Raises:
        StoreError: `url` has no path.
    """
    path = url.partition(":")[2]
    if path in ("", ":memory:"):
        hint = "write `sqlite:PATH`, such as `sqlite:store.db`; or `memory:` to keep nothing"
        raise StoreError(f"the store {url!r} has no file", hint=hint)
    home = os.path.abspath(home)
    full = os.path.normpath(os.path.join(home, os.path.expanduser(path)))
    full = os.path.realpath(full) if os.path.islink(full) else full  # the log is beside the file
    folder = os.path.dirname(full)
    within = folder == home or folder.startswith(home.rstrip("/") + "/")
    return SqliteBackend(Database(full, may_make_folder=within, durable=durable))


class SqliteBackend:
    """A store in a file, opened and created only when needed; or in memory."""

    def __init__(self, database: Database) -> None:
        self._lock = RLock()
        self._database = database
        self.log_fault = database.log_fault
        self._held = HeldLocks(self._lock, database.locks, self._rows, self._write_lightly)
        self._in_transaction = False
        self._waits = (
            {True: "FULL", False: "NORMAL"} if database.durable else {True: "OFF", False: "OFF"}
        )
        self._synchronous: str | None = None

    # -- transactions ----------------------------------------------------------------------------

    @contextmanager
    def transaction(self, durable: bool = True) -> Iterator[None]:
        """See the contract. Waits for other writers, at most a minute."""
        with self._lock:
            if self._in_transaction:
                raise RuntimeError("transactions do not nest")
            with self._database.store_errors:
                connection = self._writer(durable)
                connection.execute("BEGIN IMMEDIATE")
            self._in_transaction = True
            try:
                crash_points.reach("transaction")
                yield
                crash_points.reach("commit")
                with self._database.store_errors:
                    connection.execute("COMMIT")
                crash_points.reach("committed")
                self._database.shorten_log()
            finally:
                self._in_transaction = False
                if connection.in_transaction:
                    with self._database.store_errors:
                        connection.execute("ROLLBACK")

    def _writer(self, durable: bool) -> sqlite3.Connection:
        connection = self._database.writer()
        wanted = self._waits[durable]
        if self._synchronous != wanted:
            connection.execute(f"PRAGMA synchronous = {wanted}")
            self._synchronous = wanted
        return connection

    def _writing(self) -> AbstractContextManager[sqlite3.Connection]:
        """The current transaction, or a new durable one. The lock is held."""
        return self._database.writing if self._in_transaction else self._alone()

    @contextmanager
    def _alone(self) -> Iterator[sqlite3.Connection]:
        with self.transaction(), self._database.writing as connection:
            yield connection

    def _rows(self, sql: str, values: Sequence[Any] = ()) -> list[Row]:
        with self._lock, self._database.store_errors:
            connection = self._database.reader()
            return [] if connection is None else connection.execute(sql, values).fetchall()

    # -- nodes -----------------------------------------------------------------------------------

    def get(self, ref: str) -> Record | None:
        """The record, or None."""
        found = self._rows(_GET, (number_of(ref),))
        return rows.record_of_row(found[0]) if found else None

    def contents(self, refs: Sequence[str]) -> list[Content]:
        """Those of `refs` that are stored, small and intact."""
        found = list[Content]()
        for batch in batches(map(number_of, refs)):
            sql = f"SELECT {RECORD_COLUMNS_OF_SMALL} FROM node WHERE ref IN ({marks(batch)})"
            found += rows.contents_of_rows(self._rows(sql, batch))
        return found

    def contents_before(self, ref: str, limit: int) -> list[Content]:
        """The record, and those of its type in the rows before: a thread's steps lie close."""
        return rows.contents_of_rows(self._rows(*nodes_before(ref, limit)))

    def changes(self) -> int:
        """The version of the data, as the connection to read sees it."""
        return sum(row[0] for row in self._rows("PRAGMA data_version"))

    def present(self, refs: Collection[str]) -> set[str]:
        """Those of `refs` that are stored. Most often all are: to count takes half the time."""
        names = {number_of(ref): ref for ref in refs}
        those = [(f"FROM node WHERE ref IN ({marks(each)})", each) for each in batches(names)]
        whole = (self._rows(f"SELECT count(*) {sql}", of) == [(len(of),)] for sql, of in those)
        if None not in names and all(whole):
            return set(refs)
        found = (self._rows(f"SELECT ref {sql}", of) for sql, of in those)
        return {names[number] for (number,) in chain.from_iterable(found)}

    def put(self, record: Record) -> Record | None:
        """Insert the record, or touch the existing one."""
        return self.put_all((record,)).get(record.ref)

    def put_all(self, records: Sequence[Record]) -> dict[str, Record]:
        """Like `put` for each, in one statement if all of them are new."""
        new = [rows.row_of_record(each) for each in records]
        for _ in new:
            crash_points.reach("node")
        with self._lock, self._writing() as connection:
            if connection.executemany(_PUT, new).rowcount == len(new):
                return {}
            return {
                record.ref: before
                for record, row in zip(records, new, strict=True)
                if (before := self._touched(connection, record, row[1])) is not None
            }

    def commit(self, commit: Commit) -> Committed:
        """A whole step in one transaction."""
        if lost := first_lost(commit.leases):
            return Committed(lost=lost)
        try:
            with self.transaction(commit.durable):
                existing = put_checked(self, commit)
                with self._database.writing as connection:
                    write_changes(commit.changes, partial(write_variable, connection))
        except ConflictError as conflict:
            return conflict.found
        return Committed(existing=existing) if existing else STORED

    def _touched(
        self, connection: sqlite3.Connection, record: Record, number: int
    ) -> Record | None:
        """Touch the stored record of a reference and return it; None if it equals this record."""
        row = connection.execute(_GET, (number,)).fetchone()
        before = rows.record_of_row(row)
        if before == record:
            return None
        if before.sha256:  # a damaged row must not get a matching guard
            type_, ref, created, _, _, edges, *_ = row
            touched = record.touched_ms - created
            guard = rows.guard_of(type_, ref, created, touched, edges)
            connection.execute(_TOUCH, (touched, guard, ref))
        return before

    def find(self, prefix: str, limit: int) -> list[str]:
        """References that begin with `prefix`, sorted."""
        span = range_of(prefix)
        if span is None:
            return []
        sql = "SELECT ref FROM node WHERE ref BETWEEN ? AND ? ORDER BY ref LIMIT ?"
        return [ref_of_number(row[0]) for row in self._rows(sql, (*span, limit))]

    def records(self, type: str | None = None) -> Iterator[Record]:
        """All records (of one type) in the order of their first put."""
        condition = "" if type is None else f" AND type = {number_of(type)}"
        found = self._in_order(RECORD_COLUMNS_OF_SMALL, condition, BATCH)
        return chain.from_iterable(rows.records_of_rows(each, self._at) for each in found)

    def _at(self, place: int) -> Iterator[Record]:
        return map(rows.record_of_row, self._rows(_GET_BY_PLACE, (place,)))

    def graph(self) -> Iterator[tuple[int, tuple[int, ...], int]]:
        """(reference, edges, touched_ms) of every record as numbers, without reading data."""
        found = self._in_order(GRAPH_COLUMNS, "", BATCH)
        damaged = partial(damaged_row, self.location())
        return chain.from_iterable(rows.nodes_of_rows(each, damaged) for each in found)

    def _in_order(self, columns: str, condition: str, size: int) -> Iterator[list[Row]]:
        """All rows of nodes with their place first, in the order of that."""
        sql = (
            f"SELECT rowid, {columns} FROM node WHERE rowid > ?{condition} "
            f"ORDER BY rowid LIMIT {size}"
        )
        last = -1
        while batch := self._rows(sql, (last,)):
            yield batch
            if batch[-1][0] <= last:  # a damaged file may have cycles
                raise damaged_file(self.location(), "its rows are out of order")
            last = batch[-1][0]

    def delete(self, refs: Iterable[str], untouched_since_ms: int) -> int:
        """Delete those of `refs` that were not touched since."""
        removed = 0
        with self._lock, self._writing() as connection:
            for batch in batches(map(number_of, refs)):
                sql = f"DELETE FROM node WHERE created + touched < ? AND ref IN ({marks(batch)})"
                removed += connection.execute(sql, (untouched_since_ms, *batch)).rowcount
        return removed

    # -- variables -------------------------------------------------------------------------------

    def variable(self, name: str) -> Variable | None:
        """The variable, or None."""
        found = self._rows(_GET_VARIABLE, (name,))
        return rows.variable_of_row(found[0]) if found else None

    def variables(
        self,
        prefix: str,
        *,
        tags: Mapping[str, Collection[str]] | None = None,
        after: str | None = None,
        limit: int | None = None,
        offset: int = 0,
        descending: bool = False,
    ) -> list[Variable]:
        """Variables by prefix and tags, sorted by name; `status` is the tag with an index."""
        wanted = tags or {}
        sql, values = query(VARIABLE_COLUMNS, prefix, wanted.get("status"), after, descending)
        with self._lock, self._database.store_errors:
            connection = self._database.reader()
            if connection is None:
                return []
            found: Iterator[Variable] = map(rows.variable_of_row, connection.execute(sql, values))
            if wanted:
                found = filter(lambda each: has_tags(each.tags, wanted), found)
            return list(islice(found, offset, None if limit is None else offset + limit))

    def variable_texts(
        self, prefix: str, *, one_of: WantedVariables | None = None, after: str | None = None,
        limit: int | None = None, descending: bool = False,
    ) -> list[tuple[bytes, bytes]]:  # fmt: skip
        """Variables by prefix, each as one text."""
        sql, values = query(TEXT_COLUMNS, prefix, None, after, descending, one_of)
        found: Any = self._rows(f"{sql} LIMIT ?", (*values, -1 if limit is None else limit))
        return found  # type: ignore[no-any-return]

    def set_variable(self, variable: Variable, expected: bytes | None) -> bool:
        """Compare-and-set."""
        with self._lock, self._writing() as connection:
            return write_variable(connection, variable.name, variable, expected)

    def delete_variable(self, name: str, expected: bytes) -> bool:
        """Compare-and-delete."""
        with self._lock, self._writing() as connection:
            return write_variable(connection, name, None, expected)

    # -- locks -----------------------------------------------------------------------------------

    def lock(self, name: str, holder: Holder) -> LockHandle | None:
        """Acquire the lock, or return None if it is held."""
        with self._lock, self._database.store_errors:
            self._database.writer()  # creates a missing folder
        return self._held.take(name, holder)

    def _write_lightly(self, sql: str, values: Sequence[Any]) -> None:
        with ExitStack() as stack:
            if not self._in_transaction:
                stack.enter_context(self.transaction(durable=False))
            stack.enter_context(self._writing()).execute(sql, values)

    def holder(self, name: str) -> Holder | None:
        """The current holder of the lock."""
        return self._held.holder(name)

    def held(self) -> dict[str, Holder]:
        """All held locks by name; one that is being acquired may be missing."""
        return self._held.held()

    @contextmanager
    def snapshot(self) -> Iterator[None]:
        """All reads within see one state."""
        with self._lock, self._database.store_errors:
            connection = self._database.reader()
            if connection is None:
                yield
                return
            connection.execute("BEGIN")
            try:
                yield
            finally:
                connection.execute("ROLLBACK")

    def migrate(self) -> list[str]:
        """Create the file, or take it as it is if its log was lost."""
        known = self.facts()
        with self._lock, self._database.writing as connection:
            from uwf_core.stores.manage import migrated  # for `uwf store` alone

            return migrated(connection, known)

    def facts(self) -> dict[str, Fact]:
        """What is known of the file."""
        with self._lock, self._database.store_errors:
            from uwf_core.stores.manage import facts_of  # for `uwf store` alone

            return facts_of(self._database)

    def seal(self, successor: str) -> None:
        """Refuse every later write, of all processes."""
        with self._lock, self._writing() as connection:
            from uwf_core.stores.manage import seal  # for `uwf store` alone

            seal(connection, successor)

    def location(self) -> str:
        """The path of the file."""
        return self._database.path

    def close(self) -> None:
        """Close the file and release all locks."""
        with self._lock, self._database.store_errors:
            self._database.close()
            self._database.locks.close()
            self._synchronous = None
