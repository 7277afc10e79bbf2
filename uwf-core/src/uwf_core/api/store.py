"""The store contract: what a backend keeps. It never sees a schema or a payload.

The core's `Store` does CBOR, validation, SHA-256, collisions and references over any backend, so
that every backend gives the same promises.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Protocol, runtime_checkable

from uwf_core.named_tuple import NamedTuple

STORE_API_VERSION = "1.0"


class StoreSpec(NamedTuple):
    """A backend as its distribution announces it.

    Attributes:
        name: the URL scheme (`sqlite` in `sqlite:store.db`); equals the entry point's name.
        summary: one line for `uwf plugin list`.
        factory: `module:attribute`, called as `factory(url, home)`: the whole URL, and the folder
            that relative paths are relative to; gives a `StoreBackend`.
        capabilities: `persistent` (survives the process), `shared` (several processes at once).
        api: the version of this contract that the backend was written for.
    """

    name: str
    summary: str
    factory: str
    capabilities: frozenset[str] = frozenset(("persistent", "shared"))
    api: str = STORE_API_VERSION


class Record(NamedTuple):
    """A node as a backend keeps it.

    Attributes:
        ref: 13 characters. type: the schema node's reference.
        sha256: 32 bytes, digest of the same bytes that the reference hashes.
        data: the payload's CBOR alone.
        edges: references in the payload, and the type, as numbers (`ids.number_of`); sorted.
        created_ms: first put. touched_ms: last put (what gc sweeps by); both ms since 1970.
    """

    ref: str
    type: str
    sha256: bytes
    data: bytes
    edges: tuple[int, ...]
    created_ms: int
    touched_ms: int


class Variable(NamedTuple):
    """A name that moves. `checksum` is the core's own, over all other columns; a backend stores
    it and compares it, and computes nothing.
    """

    name: str
    value: str
    tags: Mapping[str, str]
    created_ms: int
    updated_ms: int
    checksum: bytes


class Holder(NamedTuple):
    """Who holds a lock: data for display; the lock itself is the system's."""

    pid: int
    start: str
    host: str
    since_ms: int


@runtime_checkable
class LockHandle(Protocol):
    """A lock that is held; freed by `release`, or by the system when the holder dies."""

    def release(self) -> None:
        """Let go. A second call does nothing."""


@runtime_checkable
class StoreBackend(Protocol):
    """Keeps records, variables and locks. Every method may raise `StoreError`.

    Within `transaction` all writes become visible and durable together or not at all; outside of
    one each write is a transaction of its own, durable. Transactions do not nest.
    """

    def transaction(self, durable: bool = True) -> AbstractContextManager[None]:
        """One writer at a time. `durable=False` commits without waiting for the disk: what it
        wrote survives kill -9, and is on the disk no later than the next durable commit.
        """

    def get(self, ref: str) -> Record | None:
        """The record, or None."""

    def present(self, refs: Collection[str]) -> set[str]:
        """Those of `refs` that are stored."""

    def put(self, record: Record) -> Record | None:
        """Insert, or where `record.ref` exists change nothing but `touched_ms`.

        Returns the record that was there before, None if it was inserted. The core compares.
        """

    def find(self, prefix: str, limit: int) -> list[str]:
        """References that begin with `prefix`, sorted, at most `limit`."""

    def records(self, type: str | None = None) -> Iterator[Record]:
        """All records (of one type), in any order; few of them in memory at a time."""

    def graph(self) -> Iterator[tuple[int, tuple[int, ...], int]]:
        """(reference as a number, edges in any order, touched_ms) of every record, without reading
        data: a collection goes over millions of them.
        """

    def delete(self, refs: Iterable[str], untouched_since_ms: int) -> int:
        """Remove those of `refs` whose `touched_ms` is below the bound; how many."""

    def variable(self, name: str) -> Variable | None:
        """The variable, or None."""

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
        """Variables whose name begins with `prefix`, sorted by name (bytewise).

        `tags`: for each key the tag's value must be one of the collection. `after`: only names
        beyond this one, in the order asked for. Then `offset` are skipped, `limit` given.
        """

    def set_variable(self, variable: Variable, expected: bytes | None) -> bool:
        """Compare-and-set: write it if the stored one has the checksum `expected` (None: if there
        is none). False, and no change, otherwise.
        """

    def delete_variable(self, name: str, expected: bytes) -> bool:
        """Compare-and-delete; False, and no change, if the checksum is another one."""

    def lock(self, name: str, holder: Holder) -> LockHandle | None:
        """Take the lock `name` now, or None if somebody holds it. Freed by the system when its
        holder dies; not inherited by child programs; other locks never conflict.
        """

    def holder(self, name: str) -> Holder | None:
        """Who holds the lock now, without ever taking it; None if nobody does."""

    def held(self) -> dict[str, Holder]:
        """All locks that are held now, by name."""

    def location(self) -> str:
        """Where the store is, for people (`/home/ada/.uwf/store.db`)."""

    def close(self) -> None:
        """Let go of everything. A second call does nothing."""


@runtime_checkable
class BatchBackend(Protocol):
    """What a `StoreBackend` may offer besides: many records in one call, which saves a statement or
    a round trip for each. The core calls `put` for each where a backend does not.
    """

    def put_all(self, records: Sequence[Record]) -> Mapping[str, Record]:
        """As `put` for each of `records`, whose references differ.

        Returns the records that were there before, by reference.
        """
