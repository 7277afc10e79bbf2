"""A store on a PostgreSQL server.

Steps are committed by a function of the database, one round trip each and many at a time. What must
be alone (`transaction`) holds a lock that they share.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from hashlib import blake2b
from threading import RLock
from time import time
from typing import Any

from uwf_core.api import (
    Commit,
    Committed,
    Content,
    Holder,
    LockHandle,
    Record,
    Variable,
    VariableChange,
    number_of,
    ref_of_number,
)
from uwf_core.api.store import Fact
from uwf_store_postgres import rows, schema
from uwf_store_postgres.arrays import bigints, texts
from uwf_store_postgres.commits import Unsynced, called
from uwf_store_postgres.dispatch import DispatchTable, columns_of_dispatch
from uwf_store_postgres.facts import facts_of
from uwf_store_postgres.leases import Leases, own_and_foreign
from uwf_store_postgres.place import Place, place_of
from uwf_store_postgres.queries import (
    COMMIT,
    COMMIT_AND_DISPATCH,
    GET,
    GET_MANY,
    GET_SMALL,
    GET_SMALL_BEFORE,
    PAGE,
    VARIABLES,
    has_tags,
    range_of,
)
from uwf_store_postgres.session import Connection, Row, Session

_LARGE = 1024 * 1024
"""Nodes of more bytes are stored before the step that needs them."""

_DAY_MS = 24 * 60 * 60 * 1000

_READ = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
_QUICK = "SELECT set_config('synchronous_commit', 'off', true)"
_WAIT = "SELECT set_config('lock_timeout', '60s', true)"
_ALONE = f"SELECT pg_advisory_xact_lock({schema.LOCK_CLASS}, hashtext('{{s}}'))"


def open_postgres(url: str, home: str) -> "PostgresBackend":
    """The factory of `postgresql://…`; it connects when it is first used.

    Raises:
        StoreError: `url` is none of this store.
    """
    del home
    return PostgresBackend(place_of(url))


class PostgresBackend(DispatchTable):
    """A store in one schema of a database. Any thread may use it, one call after the other."""

    def __init__(self, place: Place) -> None:
        self._place = place
        self._lock = RLock()
        self._session = Session(place)
        self._leases = Leases(place, self._session, self._lock)
        self._alone = False
        self._written: list[Record] = []
        self._unsynced = Unsynced(place)

    # -- transactions ----------------------------------------------------------------------------

    @contextmanager
    def transaction(self, durable: bool = True) -> Iterator[None]:
        """Alone: nobody else commits until its end. Waits for others, at most a minute."""
        with self._lock:
            self._check_writable()
            durable = durable or self._unsynced.is_full
            begin = ("BEGIN", _WAIT, _ALONE) if durable else ("BEGIN", _QUICK, _WAIT, _ALONE)
            with self._session.transaction(*begin) as connection:
                self._alone, self._written = True, []
                with self._session.faults():
                    self._unsynced.restore(connection)
                try:
                    yield
                finally:
                    self._alone = False
            self._synced(self._written, connection, durable=durable)

    def _synced(
        self, records: Sequence[Record], connection: Connection | None, *, durable: bool
    ) -> None:
        if durable:
            self._unsynced.clear()
        else:
            self._unsynced.add(records, connection)

    @contextmanager
    def snapshot(self) -> Iterator[None]:
        """All reads within see one state."""
        with self._lock, self._session.transaction(_READ):
            yield

    @contextmanager
    def _writing(self) -> Iterator[None]:
        """The current transaction, or a new durable one."""
        if self._alone:
            yield
        else:
            with self.transaction():
                yield

    def _check_writable(self) -> None:
        self._session.run(lambda connection: connection)
        schema.check_writable(self._session.version, self._place)

    def _rows(self, sql: str, values: Sequence[Any] | None = None) -> list[Row]:
        with self._lock:
            return self._session.rows(sql, values)

    # -- commits ---------------------------------------------------------------------------------

    def commit(self, commit: Commit) -> Committed:
        """A whole step in one statement; see `commit_step` in `sql/`."""
        with self._lock:
            if self._alone:
                raise RuntimeError("a commit within a transaction")
            if not (commit.records or commit.changes):
                return Committed()
            self._check_writable()
            large = [each for each in commit.records if len(each.data) > _LARGE]
            existing = dict[str, int]()
            for each in large:  # not within the transaction of the step, which should be short
                before = self._stored(Commit([each], (), commit.leases, durable=False))
                if before.lost or before.differing:
                    return before
                existing |= before.existing
            small = [each for each in commit.records if len(each.data) <= _LARGE]
            done = self._stored(commit._replace(records=small))
            return done._replace(existing={**existing, **done.existing}) if large else done

    def _stored(self, commit: Commit) -> Committed:
        """What `commit_step` did. If the connection breaks, the call is repeated: then a conflict
        may be with our own first call, which was stored after all.
        """
        own, foreign = own_and_foreign(commit.leases)
        if foreign:
            return Committed(lost=foreign)
        with self._session.faults():
            columns = [
                *rows.columns_of_records(commit.records),
                *rows.columns_of_changes(commit.changes),
                texts([each.name for each in own]),
                bigints([each.token for each in own]),
            ]
        durable = commit.durable or self._unsynced.is_full
        values = (
            *columns,
            durable,
            self._place.touch_ms,
            *(columns_of_dispatch(commit.dispatch) if commit.dispatch else ()),
        )
        sql = COMMIT_AND_DISPATCH if commit.dispatch else COMMIT
        calls, used = 0, None

        def call(connection: Connection) -> Committed:
            nonlocal calls, used
            calls, used = calls + 1, connection
            if not self._alone:
                self._unsynced.restore(connection)
            return called(connection, sql.replace("{s}", self._place.schema), values)

        done = self._session.run(call)
        if self._alone:
            self._written += commit.records
        elif not (done.moved or done.lost or done.differing):
            self._synced(commit.records, used, durable=durable)
        is_refused = done.moved or done.lost
        if is_refused and calls > 1 and commit.changes and self._is_done(commit.changes):
            return Committed()
        return done

    def _is_done(self, changes: Sequence[VariableChange]) -> bool:
        """Whether every variable is as the changes leave it."""
        sql = "SELECT name, checksum FROM {s}.variable WHERE name = ANY(%s)"
        rows_found = self._session.rows(sql, ([each.name for each in changes],))
        found: dict[str, bytes] = dict(rows_found)
        return all(
            found.get(each.name) == (each.variable.checksum if each.variable else None)
            for each in changes
        )

    def put(self, record: Record) -> Record | None:
        """Insert the record, or touch the existing one."""
        return self.put_all((record,)).get(record.ref)

    def put_all(self, records: Sequence[Record]) -> dict[str, Record]:
        """Like `put` for each."""
        with self._lock, self._writing():
            found = self._rows(GET_MANY, ([rows.number(each.ref) for each in records],))
            before = {each.ref: each for each in map(rows.record_of_row, found)}
            fitting = [each for each in records if rows.is_same(before.get(each.ref, each), each)]
            self._stored(Commit(fitting, (), (), durable=True))
        return before

    def set_variable(self, variable: Variable, expected: bytes | None) -> bool:
        """Compare-and-set."""
        return self._change(VariableChange(variable.name, variable, expected))

    def delete_variable(self, name: str, expected: bytes) -> bool:
        """Compare-and-delete."""
        return self._change(VariableChange(name, None, expected))

    def _change(self, change: VariableChange) -> bool:
        with self._lock:
            self._check_writable()
            return not self._stored(Commit((), (change,), (), durable=True)).moved

    def delete(self, refs: Iterable[str], untouched_since_ms: int) -> int:
        """Delete those of `refs` that were not touched since, as far as their stored time tells;
        none that was touched within twice the time that it may be late, by the server's clock.
        """
        lag = self._place.touch_ms
        is_forced = untouched_since_ms > int(time() * 1000) + _DAY_MS
        sql = "DELETE FROM {s}.node WHERE ref = ANY(%s) AND touched + %s < %s"
        if lag and not is_forced:
            sql += " AND touched < extract(epoch FROM clock_timestamp()) * 1000 - 2 * %s"
        numbers = sorted(each for each in map(number_of, refs) if each is not None)
        late = 0 if is_forced else lag
        removed = 0
        with self._lock, self._writing():
            for start in range(0, len(numbers), PAGE):
                batch = numbers[start : start + PAGE]
                values = [batch, late, untouched_since_ms]
                values += [lag] if lag and not is_forced else []
                removed += len(self._rows(f"{sql} RETURNING ref", values))
        return removed

    # -- nodes -----------------------------------------------------------------------------------

    def get(self, ref: str) -> Record | None:
        """The record, or None."""
        number = number_of(ref)
        found = self._rows(GET, (number,)) if number is not None else []
        return rows.record_of_row(found[0]) if found else None

    def present(self, refs: Collection[str]) -> set[str]:
        """Those of `refs` that are stored."""
        numbers = {number_of(ref): ref for ref in refs}
        numbers.pop(None, None)
        sql = "SELECT ref FROM {s}.node WHERE ref = ANY(%s)"
        found = self._rows(sql, ([*numbers],)) if numbers else []
        return {numbers[number] for (number,) in found}

    def find(self, prefix: str, limit: int) -> list[str]:
        """References that begin with `prefix`, sorted."""
        span = range_of(prefix)
        if span is None:
            return []
        sql = "SELECT ref FROM {s}.node WHERE ref BETWEEN %s AND %s ORDER BY ref LIMIT %s"
        return [ref_of_number(number) for (number,) in self._rows(sql, (*span, limit))]

    def contents(self, refs: Sequence[str]) -> list[Content]:
        """Those of `refs` that are stored and small."""
        numbers = [each for each in map(number_of, refs) if each is not None]
        found = self._rows(GET_SMALL, (numbers,)) if numbers else []
        return [rows.content_of_row(row) for row in found if row[3] is not None]

    def contents_before(self, ref: str, limit: int) -> list[Content]:
        """The record, and those of its type that were put before it."""
        found = self._rows(GET_SMALL_BEFORE, (number_of(ref), limit))
        return [rows.content_of_row(row) for row in found if row[3] is not None]

    def records(self, type: str | None = None) -> Iterator[Record]:
        """All records (of one type) in the order of their references."""
        condition = "" if type is None else f" AND type = {rows.number(type)}"
        for row in self._pages(rows.RECORD_OF_SMALL, condition, PAGE // 10):
            if row[3] is not None:
                yield rows.record_of_row(row)
            elif (record := self.get(ref_of_number(row[0]))) is not None:
                yield record

    def graph(self) -> Iterator[tuple[int, tuple[int, ...], int]]:
        """(reference, edges, touched_ms) of every record as numbers; the time may be later than
        that of the last put, never earlier.
        """
        lag = self._place.touch_ms
        for ref, edges, touched in self._pages("ref, edges, touched", "", PAGE):
            yield ref, rows.numbers_of(edges), touched + lag

    def _pages(self, columns: str, condition: str, size: int) -> Iterator[Row]:
        """All rows of nodes, by the key: no statement runs for long."""
        ask = f"SELECT {columns} FROM {{s}}.node WHERE ref >= %s{condition} ORDER BY ref LIMIT %s"
        least = -(1 << 63)
        while page := self._rows(ask, (least, size)):
            yield from page
            if page[-1][0] == (1 << 63) - 1:
                return
            least = page[-1][0] + 1

    # -- variables -------------------------------------------------------------------------------

    def variable(self, name: str) -> Variable | None:
        """The variable, or None."""
        sql = f"SELECT {rows.VARIABLE} FROM {{s}}.variable WHERE name = %s"
        found = self._rows(sql, (name,))
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
        wanted, found = tags or {}, list[Variable]()
        need = None if limit is None else offset + limit
        statuses = wanted.get("status")
        known = None if statuses is None else [rows.indexed(each) for each in statuses]
        size = PAGE if need is None or wanted else min(need, PAGE)
        sql = VARIABLES[descending]
        while need is None or len(found) < need:
            bounds = after, after, known, known
            page = self._rows(sql, (prefix, prefix + "\U0010ffff", *bounds, size))
            read = [rows.variable_of_row(row) for row in page]
            found += [each for each in read if has_tags(each.tags, wanted)]
            if len(page) < size:
                break
            after = read[-1].name
        return found[offset:need]

    # -- locks -----------------------------------------------------------------------------------

    def lock(self, name: str, holder: Holder) -> LockHandle | None:
        """Acquire the lock, or return None if it is held."""
        with self._lock:
            self._check_writable()
        return self._leases.take(name, holder)

    def keep(self, locks: Sequence[LockHandle]) -> list[str]:
        """Those that others have; the rest stays until the end of the transaction."""
        return self._leases.keep(locks)

    def holder(self, name: str) -> Holder | None:
        """The current holder of the lock."""
        return self._leases.holder(name)

    def held(self) -> dict[str, Holder]:
        """All locks that are held."""
        return self._leases.held()

    # -- the store itself ------------------------------------------------------------------------

    def changes(self) -> int:
        """A number that differs once any transaction of the server has ended."""
        (text,) = self._rows("SELECT pg_current_snapshot()::text")[0]
        return int.from_bytes(blake2b(text.encode(), digest_size=7).digest())

    def migrate(self) -> list[str]:
        """Create the tables, or bring them to the newest version; what was applied."""
        with self._lock, self._session.opened() as connection:
            self._session.close()  # what it knows of the tables
            return schema.migrate(connection, self._place)

    def facts(self) -> dict[str, Fact]:
        """What is known of the server, the tables, and the rights of the role."""
        with self._lock:
            return self._session.run(lambda connection: facts_of(connection, self._place))

    def seal(self, successor: str) -> None:
        """Refuse every later write, of all processes."""
        with self._lock, self._writing(), self._session.faults():
            schema.seal(self._session.connection(), self._place, successor)

    def location(self) -> str:
        """The URL, without the password."""
        return self._place.shown

    def close(self) -> None:
        """Release all locks and close the connection."""
        self._leases.close()
        with self._lock:
            self._session.close()
