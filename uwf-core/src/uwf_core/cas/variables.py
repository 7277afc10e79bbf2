"""Variables: their form, their checksum, their errors, and the part of the Store for them."""

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from threading import RLock
from typing import TYPE_CHECKING, Any

from uwf_core.api.store import (
    Commit,
    CommitBackend,
    LeaseBackend,
    StoreBackend,
    TextBackend,
    Variable,
)
from uwf_core.cas.buffer import Batch, Buffer
from uwf_core.cas.hashing import checked_texts, variable_checksum, variable_text
from uwf_core.errors import CorruptNodeError, MissingNodeError, PayloadError
from uwf_core.ids import Ref

if TYPE_CHECKING:
    from uwf_core.api.dispatch import Dispatch
    from uwf_core.api.store import Holder, WantedVariables

    Dispatching = Callable[[Sequence[Any]], Sequence[Dispatch]]
    """The dispatch rows of threads, of their new heads (`thread.head.Head`)."""

_NAME = re.compile(r"@[a-zA-Z][a-zA-Z0-9]*(?:/[a-zA-Z0-9._-]+)+")
"""`@scope/segment/…`, as in ocas 0.4."""


def following(
    name: str, value: str, tags: Mapping[str, str], before: Variable | None, now_ms: int
) -> Variable:
    """The variable that comes after `before`; its checksum differs from that of `before`.

    Raises:
        PayloadError: the name, the value or a tag is invalid.
    """
    check_form(name, value, tags)
    created = before.created_ms if before else now_ms
    # Never twice the same columns, or a compare-and-set could not tell who came first.
    updated = max(now_ms, before.updated_ms + 1) if before else now_ms
    checksum = variable_checksum(name, value, tags, created, updated)
    return Variable(name, str(value), dict(tags), created, updated, checksum)


def check_form(name: object, value: object, tags: Mapping[str, str]) -> None:
    """Whether these can be a variable.

    Raises:
        PayloadError: the name, the value or a tag is invalid.
    """
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise PayloadError(
            f"{name!r} is not a name of a variable",
            hint="use `@scope/segment/…` of letters, digits, `.`, `_` and `-`",
        )
    if not isinstance(value, str) or not Ref.matches(value):
        raise PayloadError(f"{name} cannot refer to {value!r}: it is not a reference")
    if _are_texts(*tags, *tags.values()):  # all at once: a step writes dozens of them
        return
    for key, text in tags.items():
        if not _are_texts(key, text):
            raise PayloadError(f"the tag {key!r} of {name} is not plain text: {text!r}")


def _are_texts(*texts: str) -> bool:
    """Whether all are texts without NUL and lone surrogates."""
    try:
        joined = "\0".join(texts)
        joined.encode()
    except (TypeError, UnicodeEncodeError):
        return False
    return joined.count("\0") == max(0, len(texts) - 1)


def is_intact(variable: Variable) -> bool:
    """Whether all columns match the checksum."""
    name, value, tags, created, updated, checksum = variable
    try:
        return variable_checksum(name, value, tags, created, updated) == checksum
    except TypeError:  # damage has turned a text into something else
        return False


def damaged(name: str) -> CorruptNodeError:
    """The error for a row that does not match its checksum."""
    return CorruptNodeError(
        f"the variable {name} is damaged: its columns do not match their checksum",
        hint="restore the store from a copy",
    )


_commit: Callable[[tuple[Any, ...]], Commit] = partial(tuple.__new__, Commit)
"""Twice as fast as the class, which also takes names."""


class VariableStore:
    """Variables over any backend: each is checked when it is read, and moves by compare-and-set."""

    def __init__(
        self,
        backend: StoreBackend,
        now_ms: Callable[[], int],
        durable: bool,
        dispatch: "Dispatching | None" = None,
    ) -> None:
        self._backend = backend
        self._dispatch = dispatch
        self._queued: dict[str, Any] = {}
        self._texts = backend if isinstance(backend, TextBackend) else None
        self._commits = backend if isinstance(backend, CommitBackend) else None
        self._leases = backend if isinstance(backend, LeaseBackend) else None
        self._durable = durable
        self._now_ms = now_ms
        self._lock = RLock()
        self._durability: bool | None = None
        self._batch: Batch | None = None
        self._buffer = Buffer(backend)

    # -- transactions ----------------------------------------------------------------------------

    @contextmanager
    def transaction(self, durable: bool = True, *, fenced: bool = True) -> Iterator[None]:
        """All writes within become visible and durable together, or none; nobody else writes
        between what is read and what is written, and the locks that this store holds must still be
        held at its end, unless it is not `fenced`.

        One within another joins it. `durable=False` does not wait for the disk: what it wrote
        survives kill -9, and reaches the disk with the next durable commit.

        Raises:
            LeaseLostError: a lock of this store belongs to another process; nothing was stored.
            ValueError: a durable one within one that is not, or one within a batch; nothing could
                keep that promise.
        """
        with self._lock:
            if self._durability is not None:
                if self._batch is not None:
                    raise ValueError("a transaction within a batch")
                self._check_joins(durable)
                yield
                return
            self._durability = durable
            try:
                with self._backend.transaction(durable and self._durable):
                    yield
                    self._buffer.flush()
                    if self._queued:
                        self._backend.dispatch(self._rows_for_workers())  # type: ignore[attr-defined]
                    if fenced and self._leases is not None and self._buffer.locks:
                        self._keep_locks(self._leases)
            except BaseException:
                self._buffer.clear()
                self._queued.clear()
                raise
            finally:
                self._durability = None

    def _keep_locks(self, backend: LeaseBackend) -> None:
        for name in backend.keep(self._buffer.locks):
            from uwf_core.cas.refusals import lost  # for errors only

            raise lost(name)

    @contextmanager
    def batch(self, durable: bool = True, *, fenced: bool = True) -> Iterator[None]:
        """Gather all writes within and store them in one call, all or none. Others may write in
        between: each variable is compared with what it was, and the locks that this store holds
        must still be held.

        Reads within see the writes. One within another or within a transaction joins it.
        `durable` is as in `transaction`; without `fenced`, no lock need be held any more.

        Raises:
            BusyError: another process moved a variable; nothing was stored.
            LeaseLostError: a lock of this store belongs to another process.
            ValueError: a durable one within one that is not.
        """
        if self._commits is None:
            with self.transaction(durable, fenced=fenced):
                yield
            return
        with self._lock:
            if self._durability is not None:
                self._check_joins(durable)
                yield
                return
            self._durability, self._batch = durable, Batch()
            try:
                yield
                self._commit(self._commits, self._batch, fenced=fenced)
            except BaseException:
                self._buffer.clear()
                self._queued.clear()
                raise
            finally:
                self._durability = self._batch = None

    def _check_joins(self, durable: bool) -> None:
        if durable and not self._durability:
            raise ValueError("a durable transaction within one that is not durable")

    def _commit(self, backend: CommitBackend, batch: Batch, *, fenced: bool) -> None:
        dispatch = self._rows_for_workers() if self._queued else ()
        records, changes = self._buffer.take(), [*batch.changes.values()]
        if not records and not changes:
            return
        leases = self._buffer.locks if fenced else ()
        durable = bool(self._durability and self._durable)
        done = backend.commit(_commit((records, changes, leases, durable, dispatch)))
        if done.moved or done.differing or done.lost:
            from uwf_core.cas.refusals import not_stored  # for errors only

            raise not_stored(done, records, self._backend.get)
        existing = done.existing
        for record in records:
            if record.ref in existing:
                record = record._replace(created_ms=existing[record.ref])
            self._buffer.keep(record)

    def tell_workers(self, name: str, head: Any) -> None:
        """Write the dispatch row of the thread of a queued head, the variable `name`, with the
        current transaction or batch. Nothing where the store has no such rows.
        """
        if self._dispatch is not None:
            self._queued[name] = head

    def forget_queued(self) -> None:
        """Leave the rows of this transaction to the caller."""
        self._queued.clear()

    def _rows_for_workers(self) -> "Sequence[Dispatch]":
        queued, self._queued = [*self._queued.values()], {}
        return () if self._dispatch is None else self._dispatch(queued)

    def writing(self) -> AbstractContextManager[Any]:
        """The current transaction or batch, or a new durable batch. The lock is held: held once
        more, it is the context of a write that joins.
        """
        return self.batch() if self._durability is None else self._lock

    def _flush(self) -> None:
        """Write what waits, so that the backend finds it; a batch writes at its end."""
        if self._batch is None:
            self._buffer.flush()

    # -- variables -------------------------------------------------------------------------------

    def variable(self, name: str) -> Variable | None:
        """The variable, its checksum verified, or None.

        Raises:
            CorruptNodeError: the stored row is damaged.
        """
        with self._lock:
            if self._batch is not None and name in self._batch.changes:
                return self._batch.changes[name].variable
            found = self._backend.variable(name)
        if found is not None and (found.name != name or not is_intact(found)):
            raise damaged(name)
        return found

    def variables(self, prefix: str, **choice: Any) -> list[Variable]:
        """As `StoreBackend.variables`, each checksum verified.

        Raises:
            CorruptNodeError: a row is damaged; `variables_lenient` skips it instead.
        """
        found, broken = self.variables_lenient(prefix, **choice)
        if broken:
            raise damaged(broken[0])
        return found

    def variables_lenient(self, prefix: str, **choice: Any) -> tuple[list[Variable], list[str]]:
        """Like `variables`, but returns damaged rows separately: (intact, damaged)."""
        found = self.rows(prefix, **choice)
        intact = [each for each in found if is_intact(each)]
        if len(intact) == len(found):
            return intact, []
        return intact, [each.name for each in found if not is_intact(each)]

    def variable_texts(
        self,
        prefix: str,
        *,
        tags: Mapping[str, Collection[str]] | None = None,
        one_of: "WantedVariables | None" = None,
        **choice: Any,
    ) -> tuple[list[str], list[str]]:
        """As `variables_lenient`, each intact one as its text (`hashing.variable_text`); the
        backend may leave out those that are not `one_of`.
        """
        if self._texts is not None and not tags and self._batch is None:
            with self._lock:
                found = self._texts.variable_texts(prefix, one_of=one_of, **choice)
            texts = checked_texts(found)
            if texts is not None:
                return texts, []
        intact, broken = self.variables_lenient(prefix, tags=tags, **choice)
        return [variable_text(*each[:-1]) for each in intact], broken

    def rows(self, prefix: str, **choice: Any) -> list[Variable]:
        """As `StoreBackend.variables`, **unchecked**."""
        with self._lock:
            if self._batch is not None and self._batch.touches(prefix):
                return self._batch.rows(self._backend.variables(prefix), prefix, **choice)
            return self._backend.variables(prefix, **choice)

    def set_variable(
        self, name: str, value: str, tags: Mapping[str, str], expected: Variable | None
    ) -> Variable:
        """Move a name: compare-and-set against `expected` (None: it must not exist yet).

        Raises:
            BusyError: another process moved it; nothing has changed.
            MissingNodeError: the node `value` is unknown.
            PayloadError: the name, the value or a tag is invalid.
        """
        now = self._now_ms()
        new = following(name, value, tags, expected, now)
        is_kept = expected is not None and expected.value == value  # its name keeps it from gc
        with self._lock, self.writing():
            if not (is_kept or self._buffer.is_fresh(value, now) or self.has(value)):
                raise MissingNodeError(f"{name} cannot refer to the unknown node {value}")
            checksum = expected.checksum if expected else None
            if self._batch is not None:
                is_set = self._batch.write(name, new, checksum)
            else:
                is_set = self._backend.set_variable(new, checksum)
            if not is_set:
                from uwf_core.cas.refusals import moved  # for errors only

                raise moved(name)
        return new

    def delete_variable(self, variable: Variable) -> None:
        """Remove a name, if it still is as `variable` says.

        Raises:
            BusyError: another process moved or removed it; nothing has changed.
        """
        with self._lock, self.writing():
            if self._batch is not None:
                is_gone = self._batch.write(variable.name, None, variable.checksum)
            else:
                is_gone = self._backend.delete_variable(variable.name, variable.checksum)
            if not is_gone:
                from uwf_core.cas.refusals import moved  # for errors only

                raise moved(variable.name)

    # -- locks, and presence of nodes ------------------------------------------------------------

    def held(self) -> "dict[str, Holder]":
        """All held locks, by name."""
        with self._lock:
            return self._backend.held()

    def has(self, ref: str) -> bool:
        """Whether the node exists; does not read its content."""
        return bool(self.present((ref,)))

    def present(self, refs: Collection[str]) -> set[str]:
        """Those of `refs` that exist; does not read their content."""
        with self._lock:
            if self._batch is None:
                self._buffer.flush()
                return self._backend.present(refs)
            waiting = self._buffer.waiting(refs)
            return waiting | self._backend.present([ref for ref in refs if ref not in waiting])
