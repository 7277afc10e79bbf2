"""The backend: loose files for nodes, SQLite for what must move together or not at all.

A node exists when its row does. Its file is written before the row is committed, and synced before
the next durable commit of any process: another table lists the unsynced files.
"""

import sqlite3
from array import array
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import wraps
from pathlib import Path
from threading import RLock
from typing import Concatenate, ParamSpec, TypeVar

from uwf_core.api import Holder, Record, StoreError, Variable, number_of
from uwf_store_files.folder import Folder
from uwf_store_files.locks import LockFile
from uwf_store_files.variables import VariableTable

_SCHEMA = """
CREATE TABLE IF NOT EXISTS node (
    ref TEXT PRIMARY KEY, type TEXT NOT NULL, sha256 BLOB NOT NULL, edges BLOB NOT NULL,
    created_ms INTEGER NOT NULL, touched_ms INTEGER NOT NULL
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS node_by_type ON node (type);
CREATE TABLE IF NOT EXISTS unsynced (ref TEXT PRIMARY KEY) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS variable (
    name TEXT PRIMARY KEY, value TEXT NOT NULL, tags TEXT NOT NULL,
    created_ms INTEGER NOT NULL, updated_ms INTEGER NOT NULL, checksum BLOB NOT NULL
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS holder (
    name TEXT PRIMARY KEY, pid INTEGER NOT NULL, start TEXT NOT NULL, host TEXT NOT NULL,
    since_ms INTEGER NOT NULL
) WITHOUT ROWID;
"""
_SETUP = "setup of the store"
_BUSY_SECONDS = 30.0

_Given = ParamSpec("_Given")
_Result = TypeVar("_Result")


def open_files(url: str, home: str) -> "FilesStore":
    """The store of `files:FOLDER`; a relative folder is relative to `home`."""
    folder = url.partition(":")[2]
    if not folder:
        raise StoreError(f"{url!r} names no folder", hint="write files:store")
    return FilesStore(Path(home, folder))


def _guarded(
    method: Callable[Concatenate["FilesStore", _Given], _Result],
) -> Callable[Concatenate["FilesStore", _Given], _Result]:
    """One thread at a time; what the disk or SQLite refuses is a `StoreError`."""

    @wraps(method)
    def guarded(self: "FilesStore", /, *args: _Given.args, **kwargs: _Given.kwargs) -> _Result:
        with self._guard, _as_store_error(self._root):
            return method(self, *args, **kwargs)

    return guarded


@contextmanager
def _as_store_error(root: Path) -> Iterator[None]:
    try:
        yield
    except (sqlite3.Error, OSError) as error:
        hint = "the folder must be yours to write, and the disk must have room"
        raise StoreError(f"the store failed: {error}", where=str(root), hint=hint) from error


class FilesStore:
    """A store in the folder `root`."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._guard = RLock()
        self._folder = Folder(root)
        self._within = False
        self._added: dict[str, list[str]] = {}
        self._removed: dict[str, str] = {}
        with _as_store_error(root):
            self._folder.make()
            self._locks = LockFile(str(root / "locks"))
            self._locks.wait(_SETUP)
            try:
                self._database = _opened(root / "store.db")
            finally:
                self._locks.free(_SETUP)
        self._variables = VariableTable(self._database)

    # -- transactions ----------------------------------------------------------------------------

    @contextmanager
    def transaction(self, durable: bool = True) -> Iterator[None]:
        """All writes within it or none; a transaction within another is an error of the caller."""
        with self._guard:
            if self._within:
                raise RuntimeError("transactions do not nest")
            with _as_store_error(self._root):
                self._database.execute(f"PRAGMA synchronous={'FULL' if durable else 'NORMAL'}")
                self._database.execute("BEGIN IMMEDIATE")
            self._within = True
            try:
                yield
                with _as_store_error(self._root):
                    self._commit(durable)
            except BaseException:
                self._database.rollback()
                raise
            finally:
                self._within = False
                self._added, self._removed = {}, {}

    # --8<-- [start:commit]
    def _commit(self, durable: bool) -> None:
        new = [ref for refs in self._added.values() for ref in refs]
        self._database.executemany("INSERT OR IGNORE INTO unsynced VALUES (?)", zip(new))
        if durable:
            self._folder.sync(
                [ref for (ref,) in self._database.execute("SELECT ref FROM unsynced")]
            )
            self._database.execute("DELETE FROM unsynced")
        self._folder.add_lines(self._added)
        self._database.commit()
        # Only now: until here everything could have been taken back.
        self._folder.remove(set(self._removed), set(self._removed.values()))

    # --8<-- [end:commit]

    @contextmanager
    def _writing(self) -> Iterator[None]:
        """The current transaction; if there is none, a new durable one."""
        if self._within:
            yield
        else:
            with self.transaction():
                yield

    # -- nodes -----------------------------------------------------------------------------------

    @_guarded
    def get(self, ref: str) -> Record | None:
        """The record, or None."""
        row = self._database.execute("SELECT * FROM node WHERE ref = ?", (ref,)).fetchone()
        return None if row is None else self._record(row)

    @_guarded
    def present(self, refs: Collection[str]) -> set[str]:
        """Those of `refs` that are stored."""
        ask = "SELECT 1 FROM node WHERE ref = ?"
        return {ref for ref in refs if self._database.execute(ask, (ref,)).fetchone()}

    @_guarded
    def put(self, record: Record) -> Record | None:
        """Insert, or only touch what is there; what was there before."""
        with self._writing():
            before = self.get(record.ref)
            if before is not None:
                self._database.execute(
                    "UPDATE node SET touched_ms = ? WHERE ref = ?", (record.touched_ms, record.ref)
                )
                return before
            self._folder.write(record)
            self._database.execute(
                "INSERT INTO node VALUES (?, ?, ?, ?, ?, ?)",
                (
                    record.ref,
                    record.type,
                    record.sha256,
                    array("q", record.edges).tobytes(),
                    record.created_ms,
                    record.touched_ms,
                ),
            )
            self._removed.pop(record.ref, None)
            self._added.setdefault(record.type, []).append(record.ref)
            return None

    @_guarded
    def find(self, prefix: str, limit: int) -> list[str]:
        """References that begin with `prefix`, sorted."""
        rows = self._database.execute(
            "SELECT ref FROM node WHERE ref >= ? AND ref < ? ORDER BY ref LIMIT ?",
            (prefix, prefix + "\U0010ffff", limit),
        )
        return [ref for (ref,) in rows]

    def records(self, type: str | None = None) -> Iterator[Record]:
        """All records (of one type)."""
        for ref in self._refs(type):
            record = self.get(ref)
            if record is not None:  # not deleted meanwhile
                yield record

    @_guarded
    def _refs(self, type_: str | None) -> list[str]:
        condition, given = ("", ()) if type_ is None else (" WHERE type = ?", (type_,))
        return [ref for (ref,) in self._database.execute(f"SELECT ref FROM node{condition}", given)]

    def graph(self) -> Iterator[tuple[int, tuple[int, ...], int]]:
        """(reference as a number, edges, touched_ms) of every record; reads no file."""
        for ref, edges, touched_ms in self._graph_rows():
            number = number_of(ref)
            assert number is not None  # the core puts no other references
            yield number, _numbers(edges), touched_ms

    @_guarded
    def _graph_rows(self) -> list[tuple[str, bytes, int]]:
        return self._database.execute("SELECT ref, edges, touched_ms FROM node").fetchall()

    @_guarded
    def delete(self, refs: Iterable[str], untouched_since_ms: int) -> int:
        """Remove those of `refs` that nobody has touched since; how many."""
        gone = 0
        with self._writing():
            for ref in refs:
                row = self._database.execute(
                    "DELETE FROM node WHERE ref = ? AND touched_ms < ? RETURNING type",
                    (ref, untouched_since_ms),
                ).fetchone()
                if row is not None:
                    gone += 1
                    self._removed[ref] = row[0]
                    self._database.execute("DELETE FROM unsynced WHERE ref = ?", (ref,))
                    if ref in self._added.get(row[0], ()):
                        self._added[row[0]].remove(ref)
        return gone

    def _record(self, row: tuple[str, str, bytes, bytes, int, int]) -> Record:
        ref, type_, sha256, edges, created_ms, touched_ms = row
        data = self._folder.read(ref)
        return Record(ref, type_, sha256, data, _numbers(edges), created_ms, touched_ms)

    # -- variables -------------------------------------------------------------------------------

    @_guarded
    def variable(self, name: str) -> Variable | None:
        """The variable, or None."""
        return self._variables.get(name)

    @_guarded
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
        """Variables by prefix and tags, sorted by name."""
        found = self._variables.select(prefix, after, descending)
        wanted = (each for each in found if _has(each.tags, tags or {}))
        chosen = []
        for position, each in enumerate(wanted):
            if limit is not None and position >= offset + limit:
                break
            if position >= offset:
                chosen.append(each)
        return chosen

    @_guarded
    def set_variable(self, variable: Variable, expected: bytes | None) -> bool:
        """Compare-and-set."""
        with self._writing():
            return self._variables.set(variable, expected)

    @_guarded
    def delete_variable(self, name: str, expected: bytes) -> bool:
        """Compare-and-delete."""
        with self._writing():
            return self._variables.delete(name, expected)

    # -- locks -----------------------------------------------------------------------------------

    @_guarded
    def lock(self, name: str, holder: Holder) -> "HeldLock | None":
        """Take the lock now, or None if somebody holds it."""
        if not self._locks.take(name):
            return None
        self._database.execute(
            "INSERT OR REPLACE INTO holder VALUES (?, ?, ?, ?, ?)", (name, *holder)
        )
        return HeldLock(self, name)

    @_guarded
    def holder(self, name: str) -> Holder | None:
        """Who holds the lock, without ever taking it."""
        if not self._locks.is_held(name):
            return None
        row = self._database.execute(
            "SELECT pid, start, host, since_ms FROM holder WHERE name = ?", (name,)
        ).fetchone()
        return Holder(*row) if row else Holder(0, "", "", 0)  # it is just being taken

    @_guarded
    def held(self) -> dict[str, Holder]:
        """All locks that are held."""
        rows = self._database.execute("SELECT * FROM holder ORDER BY name").fetchall()
        return {name: Holder(*who) for name, *who in rows if self._locks.is_held(name)}

    @_guarded
    def release(self, name: str) -> None:
        """Let go of a lock that was taken here."""
        self._database.execute("DELETE FROM holder WHERE name = ?", (name,))
        self._locks.free(name)

    # -- the rest --------------------------------------------------------------------------------

    def location(self) -> str:
        """The folder."""
        return str(self._root)

    def close(self) -> None:
        """Let go of everything. A second call does nothing."""
        with self._guard:
            if self._database is not None:
                self._database.close()
                self._locks.close()
                self._database = None  # type: ignore[assignment]


class HeldLock:
    """A lock that is held; a second `release` does nothing."""

    def __init__(self, store: FilesStore, name: str) -> None:
        self._store: FilesStore | None = store
        self._name = name

    def release(self) -> None:
        """Let go."""
        if self._store is not None:
            store, self._store = self._store, None
            store.release(self._name)


def _opened(file: Path) -> sqlite3.Connection:
    database = sqlite3.connect(
        file, timeout=_BUSY_SECONDS, isolation_level=None, check_same_thread=False
    )
    file.chmod(0o600)
    database.execute("PRAGMA journal_mode=WAL")
    database.executescript(_SCHEMA)
    return database


def _numbers(edges: bytes) -> tuple[int, ...]:
    numbers = array("q")
    numbers.frombytes(edges)
    return tuple(numbers)


def _has(tags: Mapping[str, str], wanted: Mapping[str, Collection[str]]) -> bool:
    return all(tags.get(key) in values for key, values in wanted.items())
