"""The store contract: what a backend stores. It never handles a schema or a payload.

The core's `Store` handles CBOR, validation, SHA-256, collisions and references for every backend,
so all backends give the same guarantees.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple, Protocol, TypeAlias, runtime_checkable

if TYPE_CHECKING:
    from uwf_core.api.dispatch import Dispatch

STORE_API_VERSION = "1.1"
"""1.1 adds `CommitBackend`, `SnapshotBackend`, `DispatchBackend`, the capability `lease`, and
`one_of` of `TextBackend`.
"""


LAYOUT_VERSION = 11
"""The version of the nodes of threads. A store records it, and rejects another one."""

USUAL: frozenset[str] = frozenset(("persistent", "shared"))
"""What most backends have: they survive the process; several processes use them at once."""

CAPABILITIES: frozenset[str] = USUAL | {"lease"}
"""What a backend may announce. `lease`: a lock is a lease, which its holder renews. The lock of a
process that dies or stops on another machine becomes free when its lease expires.
"""


class StoreSpec(NamedTuple):
    """A backend as its distribution announces it.

    Attributes:
        name: the URL scheme (`sqlite` in `sqlite:store.db`); equals the entry point's name.
        summary: one line for `uwf plugin list`.
        factory: `module:attribute`, called as `factory(url, home)`: the whole URL, and the folder
            that relative paths start from; returns a `StoreBackend`.
        capabilities: the subset of `CAPABILITIES` that the backend has.
        api: the version of this contract that the backend was written for.
    """

    name: str
    summary: str
    factory: str
    capabilities: frozenset[str] = USUAL
    api: str = STORE_API_VERSION


class Record(NamedTuple):
    """A node as a backend stores it.

    Attributes:
        ref: 13 characters.
        type: the schema node's reference.
        sha256: 32 bytes, digest of the same bytes that the reference hashes.
        data: the payload's CBOR alone.
        edges: references in the payload, and the type, as numbers (`ids.number_of`); sorted.
        created_ms: first put, in ms since 1970.
        touched_ms: last put, in ms since 1970; gc sweeps by it.
    """

    ref: str
    type: str
    sha256: bytes
    data: bytes
    edges: tuple[int, ...]
    created_ms: int
    touched_ms: int


class Variable(NamedTuple):
    """A mutable name. The core computes `checksum` over all other columns; a backend only stores
    and compares it.

    Attributes:
        name: unique in the store.
        value: the reference of a node.
        tags: texts by name, to filter and list without reading nodes.
        created_ms, updated_ms: in ms since 1970.
        checksum: over all other columns.
    """

    name: str
    value: str
    tags: Mapping[str, str]
    created_ms: int
    updated_ms: int
    checksum: bytes


class Holder(NamedTuple):
    """The holder of a lock, for display only; the system holds the lock itself.

    Attributes:
        pid: its process.
        start: when that process began, as an opaque text to compare.
        host: the name of its machine.
        since_ms: when it took the lock, in ms since 1970.
    """

    pid: int
    start: str
    host: str
    since_ms: int


@runtime_checkable
class LockHandle(Protocol):
    """A lock that is held; freed by `release`, or by the system when the holder dies."""

    def release(self) -> None:
        """Release the lock. A second call does nothing."""


@runtime_checkable
class LeaseHandle(LockHandle, Protocol):
    """A lock that expires unless its holder renews it, which a thread of the backend does."""

    def on_lost(self, call: Callable[[], None]) -> None:
        """Call `call` once, from another thread, if the lease could not be renewed for so long that
        it is about to expire, or if another process has taken the lock.
        """


class VariableChange(NamedTuple):
    """A variable to create, move or delete by compare-and-set.

    Attributes:
        name: its name.
        variable: the new one; None deletes it.
        expected: the checksum of the stored one; None: there must be none.
    """

    name: str
    variable: Variable | None
    expected: bytes | None


class Commit(NamedTuple):
    """All writes of a step.

    Attributes:
        records: nodes to put; their references differ.
        changes: variables to write; their names differ.
        leases: locks of this backend that the caller must still hold.
        durable: whether to wait for the disk, as in `StoreBackend.transaction`.
        dispatch: rows for workers; empty unless the backend is a `DispatchBackend`.
    """

    records: Sequence[Record]
    changes: Sequence[VariableChange]
    leases: Sequence[LockHandle]
    durable: bool
    dispatch: "Sequence[Dispatch]" = ()


class Committed(NamedTuple):
    """What became of a commit. With a conflict nothing was written.

    Attributes:
        moved: names of variables whose checksum is not the expected one.
        differing: references that have another record in the store, which may be damaged.
        lost: names of locks that the caller does not hold any more.
        existing: `created_ms` of the records that existed before, by reference.
    """

    moved: Sequence[str] = ()
    differing: Sequence[str] = ()
    lost: Sequence[str] = ()
    existing: Mapping[str, int] = MappingProxyType({})


@runtime_checkable
class StoreBackend(Protocol):
    """Keeps records, variables and locks. Every method may raise `StoreError`.

    Within `transaction` all writes become visible and durable together or not at all; outside of
    one each write is a separate, durable transaction. Transactions do not nest.
    """

    def transaction(self, durable: bool = True) -> AbstractContextManager[None]:
        """One writer at a time. `durable=False` commits without waiting for the disk: its writes
        survive kill -9, and are on the disk no later than the next durable commit.
        """

    def get(self, ref: str) -> Record | None:
        """The record, or None."""

    def present(self, refs: Collection[str]) -> set[str]:
        """Those of `refs` that are stored."""

    def put(self, record: Record) -> Record | None:
        """Insert; if `record.ref` exists, change only `touched_ms`.

        Returns the record that existed before, None if it was inserted. The core compares them.
        """

    def find(self, prefix: str, limit: int) -> list[str]:
        """References that begin with `prefix`, sorted, at most `limit`."""

    def records(self, type: str | None = None) -> Iterator[Record]:
        """All records (of one type), in any order; few of them in memory at a time."""

    def graph(self) -> Iterator[tuple[int, tuple[int, ...], int]]:
        """(reference as a number, edges in any order, touched_ms) of every record, without reading
        data: a collection reads millions of them.
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
        after this one, in the requested order. Then `offset` are skipped and `limit` returned.
        """

    def set_variable(self, variable: Variable, expected: bytes | None) -> bool:
        """Compare-and-set: write it if the stored one has the checksum `expected` (None: if there
        is none). False, and no change, otherwise.
        """

    def delete_variable(self, name: str, expected: bytes) -> bool:
        """Compare-and-delete; False, and no change, if the checksum differs."""

    def lock(self, name: str, holder: Holder) -> LockHandle | None:
        """Acquire the lock `name`; None if it is held. The system releases it when its holder
        dies; child programs do not inherit it; other locks never conflict.
        """

    def holder(self, name: str) -> Holder | None:
        """The current holder of the lock, without acquiring it; None if it is free."""

    def held(self) -> dict[str, Holder]:
        """All held locks, by name."""

    def location(self) -> str:
        """The place of the store, for people (`/home/ada/.uwf/store.db`)."""

    def close(self) -> None:
        """Release all resources. A second call does nothing."""


@runtime_checkable
class CommitBackend(Protocol):
    """An optional extension of a `StoreBackend`: a whole step in one call. Without it the core
    calls `transaction`, and `put`, `set_variable` and `delete_variable` within it.
    """

    def commit(self, commit: Commit) -> Committed:
        """Write everything or nothing: nothing if a variable has moved, a reference has another
        record, or a lock is lost. Never called within `transaction`.
        """


@runtime_checkable
class LeaseBackend(Protocol):
    """An optional extension of a `StoreBackend` whose locks are leases."""

    def keep(self, locks: Sequence[LockHandle]) -> Collection[str]:
        """Within a transaction: those that others have, by name; the rest stays until its end."""


@runtime_checkable
class SnapshotBackend(Protocol):
    """An optional extension of a `StoreBackend`: one state of the whole store, to copy it."""

    def snapshot(self) -> AbstractContextManager[None]:
        """All reads within see the store as at the first of them; nothing is written within."""


Fact: TypeAlias = str | int | float | bool | None
"""One fact of a store in `ManagedBackend.facts`."""


@runtime_checkable
class ManagedBackend(Protocol):
    """An optional extension of a `StoreBackend`: what its owner does to it with `uwf store`."""

    def migrate(self) -> Sequence[str]:
        """Create the store, or bring it to the newest version; what was applied. Nothing, if it
        is there already.
        """

    def facts(self) -> Mapping[str, Fact]:
        """What tells whether the store works well, by camelCase names: versions, rights, times."""

    def seal(self, successor: str) -> None:
        """Refuse every later write, of all processes, because the store was moved to `successor`.
        Within a transaction.
        """


@runtime_checkable
class BatchBackend(Protocol):
    """An optional extension of a `StoreBackend`: many records in one call, which saves a statement
    or a round trip for each. Without it the core calls `put` for each record.
    """

    def put_all(self, records: Sequence[Record]) -> Mapping[str, Record]:
        """As `put` for each of `records`, whose references differ.

        Returns the records that existed before, by reference.
        """


class WantedVariables(NamedTuple):
    """Variables with one of these names or with one of these tags.

    Attributes:
        names: whole names.
        tags: the values of a tag by its key; None: any value.
    """

    names: Collection[str] = ()
    tags: Mapping[str, Collection[str] | None] = MappingProxyType({})


@runtime_checkable
class TextBackend(Protocol):
    """An optional extension of a `StoreBackend`: variables without a value for each column, for
    long lists. Without it the core calls `variables`.
    """

    def variable_texts(
        self,
        prefix: str,
        *,
        one_of: WantedVariables | None = None,
        after: str | None = None,
        limit: int | None = None,
        descending: bool = False,
    ) -> list[tuple[bytes, bytes]]:
        """As `variables`; each as the text that its checksum covers, and the checksum.

        With `one_of` those that match it, perhaps with others; `limit` counts what is returned.

        The text is name, value, `created_ms`, `updated_ms`, then the key and the value of each
        tag, sorted by key; all joined by NUL, in UTF-8. Damaged variables may be any values.
        """


@runtime_checkable
class ChangesBackend(Protocol):
    """An optional extension of a `StoreBackend`: whether others have written, for programs that
    watch the store.
    """

    def changes(self) -> int:
        """A number that differs from the previous one if another process or connection has
        committed in between.
        """


class Content(NamedTuple):
    """What a reader needs of a record.

    Attributes:
        ref: its reference.
        type: the reference of its schema.
        sha256: of the node, 32 bytes.
        data: the payload.
    """

    ref: str
    type: str
    sha256: bytes
    data: bytes


@runtime_checkable
class AheadBackend(Protocol):
    """An optional extension of a `StoreBackend`: many nodes in one call, for readers of long
    chains. Without it the core calls `get` for each.

    Both are hints: a record that is large or damaged may be left out, and `get` reports why.
    """

    def contents(self, refs: Sequence[str]) -> Sequence[Content]:
        """Those of `refs` that are stored."""

    def contents_before(self, ref: str, limit: int) -> Sequence[Content]:
        """The record, and those of its type that were put shortly before it: `limit` in all."""
