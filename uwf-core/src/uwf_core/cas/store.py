"""The Store: nodes, variables and locks over any backend, with the guarantees of all backends.

The backend stores bytes. CBOR, validation, digests, collisions and references are only here.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from uwf_core.api.store import (
    AheadBackend,
    ChangesBackend,
    Holder,
    LeaseHandle,
    LockHandle,
    Record,
    StoreBackend,
)  # fmt: skip
from uwf_core.cas.codec import decode, encode, encode_telling
from uwf_core.cas.encoder import text_bytes
from uwf_core.cas.hashing import META, PRIMITIVES, intact, names_of, ref_of
from uwf_core.cas.records import Node, check_same, damaged, verify_record
from uwf_core.cas.references import references_in
from uwf_core.cas.types import KnownType, Types
from uwf_core.cas.variables import VariableStore
from uwf_core.errors import CorruptNodeError, MissingNodeError, PayloadError, StoreError
from uwf_core.ids import Ref, ref_of_number

if TYPE_CHECKING:
    from uwf_core.cas.variables import Dispatching

_EDGES_OF_TEXT = KnownType(PRIMITIVES["string"], {}).edges("")
_EDGES_OF_SCHEMA = KnownType(META, {}).edges({})


class Store(VariableStore):
    """Immutable nodes, and variables that move. Usable from several threads at once.

    Args:
        backend: where everything is kept.
        now_ms: the clock, ms since 1970. types: what this process shares between its stores.
        durable: whether commits wait for the disk; False for a temporary store.
        dispatch: the rows of queued threads; None: the backend keeps none.
    """

    def __init__(
        self, backend: StoreBackend, now_ms: Callable[[], int], types: Types | None = None,
        *, durable: bool = True, dispatch: "Dispatching | None" = None,
    ) -> None:  # fmt: skip
        super().__init__(backend, now_ms, durable, dispatch)
        self._ahead = backend if isinstance(backend, AheadBackend) else None
        self.types = types or Types()
        self._schemas = self.types.schemas
        self._last: tuple[str, bytes, Any] = ("", b"", None)

    # -- putting nodes ---------------------------------------------------------------------------

    def put(self, type_: str, payload: Any, *, trusted: bool = False) -> Ref:
        """Store `payload` as a node of `type_`; what is there already stays as it is. `trusted`:
        the caller's tests ensure that it matches its type; skip the check, which is slow to load.

        Raises:
            PayloadError: it is not JSON, its schema rejects it, or `type_` is not a schema.
            MissingNodeError: `type_` is unknown.
            CollisionError: another payload has this reference.
        """
        if type_ == META:
            return self.put_schema(payload)
        return self.put_plain(type_, payload, trusted=trusted)[0]

    def put_plain(self, type_: str, payload: Any, *, trusted: bool = False) -> tuple[Ref, Any]:
        """As `put`, of any type but that of schemas; gives the payload beside, as it reads back."""
        data, is_plain = encode_telling(payload)
        schema = self.schema(Ref(type_))
        known = self.types.of(type_, schema)
        plain = payload if is_plain else known.decode(data)
        if not trusted and (found := known.violations(plain, len(data))):
            from uwf_core.cas.refusals import refused  # for errors only

            raise refused(type_, schema, found)
        return self._put(Ref(type_), data, known.edges(plain)), plain

    def put_text(self, text: str) -> Ref:
        """Store a text as a node of the primitive type `string`."""
        return self._put(PRIMITIVES["string"], text_bytes(text)[0], _EDGES_OF_TEXT)

    def put_schema(self, schema: Any, *, trusted: bool = False) -> Ref:
        """Store a schema node; its reference is the type of nodes that conform to it.

        Args:
            schema: draft 2020-12, within the allowed keywords.
            trusted: it ships with uwf, whose tests check it: skip the check, which is slow to load.

        Raises:
            PayloadError: the schema is invalid; the message lists every error.
        """
        data = encode(schema)
        ref = ref_of(META, data)
        if trusted and self.is_fresh(ref):
            return ref
        plain = self._schemas.get(ref)
        if plain is None:
            plain = decode(data)
            if not trusted:
                from uwf_core.cas.refusals import check_schema  # for schemas of others only

                check_schema(plain)
        self._put(META, data, _EDGES_OF_SCHEMA)
        self._schemas[ref] = plain
        return ref

    def _put(self, type_: Ref, data: bytes, edges: tuple[int, ...]) -> Ref:
        ref, sha256 = names_of(type_, data)
        now = self._now_ms()
        with self._lock:
            known = self._buffer.fresh(ref, now)
            if known is not None and (known.type, known.sha256, known.data) == (
                type_,
                sha256,
                data,
            ):
                return ref
            record = Record(ref, type_, sha256, data, edges, now, now)
            if known is not None:
                check_same(known, record)
            elif self._durability is None:
                with self.batch():
                    return self._put(type_, data, edges)
            else:
                self._keep_type(type_, ref, now)
                self._buffer.add(record)
        return ref

    def _keep_type(self, type_: Ref, ref: Ref, now_ms: int) -> None:
        """Have the type's node in the store, and too young for gc to sweep it meanwhile."""
        if type_ != ref and not self._buffer.is_fresh(type_, now_ms):
            self.schema(type_)
            self._put(META, self.types.data(type_), _EDGES_OF_SCHEMA)

    def is_fresh(self, ref: str) -> bool:
        """Whether a node was put a moment ago, so that it need not be put again."""
        return self._buffer.is_fresh(ref, self._now_ms())

    def import_record(self, record: Record, *, verified: bool = False) -> None:
        """Store a record of another store, which the caller has checked against its schema (and,
        if `verified`, against its reference and SHA-256); it keeps the time of its first put.

        Raises:
            CorruptNodeError: its reference or SHA-256 is not that of its bytes.
            CollisionError: another payload has this reference.
        """
        ref, now = record.ref, self._now_ms()
        if not verified:
            verify_record(record, ref)
        with self._lock, self.writing():
            self._buffer.add(record._replace(touched_ms=now))

    # -- reading nodes ---------------------------------------------------------------------------

    def get(self, ref: str) -> Node:
        """The node, its reference and SHA-256 checked.

        Raises:
            MissingNodeError: the node is unknown.
            CorruptNodeError: the stored bytes do not match the reference.
        """
        record = self.record(ref)
        payload = self._decoded(ref, record.type, record.data)
        return Node(Ref(record.ref), Ref(record.type), payload, record.created_ms)

    def payload(self, ref: str) -> Any:
        """The payload of the node, which may have been read ahead; raises as `get`."""
        content = self._buffer.ahead.get(ref) or self.record(ref)
        last, data, payload = self._last
        if last != ref or data != content.data:
            payload = self._decoded(ref, content.type, content.data)
            if type(payload) is not dict:  # a text comes between, where a step is read twice
                return payload
            self._last = ref, content.data, payload
        return {**payload}

    def _decoded(self, ref: str, type_: str, data: bytes) -> Any:
        try:
            return self.types.decode(type_, data, self.schema)
        except CorruptNodeError as error:
            raise damaged(ref, error.message) from error

    def is_known(self, ref: str) -> bool:
        """Whether `payload` gives the node without a call of the backend."""
        return ref in self._buffer.ahead or self._buffer.known(ref) is not None

    def read_ahead(self, refs: Collection[str]) -> None:
        """Have these nodes ready for `payload`. A hint: what fails is read again when needed."""
        if self._ahead is not None and refs:
            with suppress(StoreError), self._lock:
                self._flush()
                self._buffer.ahead.update(intact(self._ahead.contents([*refs])))

    def read_before(self, ref: str, limit: int) -> None:
        """The same of a node and those of its type that were put shortly before it, `limit` in
        all; what was read ahead until now is dropped.
        """
        if self._ahead is not None:
            with suppress(StoreError), self._lock:
                self._flush()
                self._buffer.ahead = intact(self._ahead.contents_before(ref, limit))

    def record(self, ref: str) -> Record:
        """The node's record as stored, its reference and SHA-256 checked; raises as `get`."""
        with self._lock:
            known = self._buffer.known(ref)
            if known is not None:
                return known
            record = self.stored(ref)
            if record is None:
                raise MissingNodeError(
                    f"the node {ref} is missing",
                    where=self.location(),
                    hint="next: uwf cas verify",
                )
            verify_record(record, ref)
            self._buffer.keep(record)
            return record

    def stored(self, ref: str) -> Record | None:
        """The node's record, **unchecked**; None if there is none."""
        with self._lock:
            self._flush()
            return self._buffer.pending(ref) or self._backend.get(ref)

    def text(self, ref: str) -> str:
        """The text of a node of the primitive type `string`.

        Raises:
            PayloadError: it is a node of another type. Else as `get`.
        """
        payload = self.payload(ref)
        if not isinstance(payload, str):
            raise PayloadError(f"the node {ref} is not text", hint=f"next: uwf cas get {ref}")
        return payload

    def schema(self, ref: str) -> Mapping[str, Any]:
        """The schema of the type `ref`. Not to be changed: it is kept for the next call.

        Raises:
            PayloadError: the node is not a schema. Else as `get`.
        """
        known = self._schemas.get(ref)
        if known is not None:
            return known
        node = self.get(ref)
        if node.type != META:
            raise PayloadError(
                f"the node {ref} is not a type: it is of type {node.type}, not a schema",
                hint="next: uwf cas schema list",
            )
        schema: Mapping[str, Any] = node.payload
        self._schemas[ref] = schema
        return schema

    def find(self, prefix: str, limit: int) -> list[Ref]:
        """References that begin with `prefix` (any case), sorted, at most `limit`."""
        with self._lock:
            self._flush()
            return [Ref(each) for each in self._backend.find(prefix.upper(), limit)]

    def refs(self, ref: str) -> list[Ref]:
        """The references in a node's payload, sorted, its type not included; raises as `get`."""
        node = self.get(ref)
        return sorted(Ref(each) for each in references_in(self.schema(node.type), node.payload))

    def records(self, type_: str | None = None) -> Iterator[Record]:
        """All records (of one type), in any order, **unchecked**."""
        self._flush()
        return self._backend.records(type_)

    def edges(self) -> Iterator[tuple[str, tuple[str, ...], int]]:
        """(reference, references and type, touched_ms) of every record."""
        self._flush()
        for number, edges, touched_ms in self._backend.graph():
            yield ref_of_number(number), tuple(map(ref_of_number, sorted(edges))), touched_ms

    def graph(self) -> Iterator[tuple[int, tuple[int, ...], int]]:
        """The same as numbers (`ids.number_of`); both raise CorruptNodeError for damaged edges."""
        self._flush()
        return self._backend.graph()

    def delete(self, refs: Iterable[str], untouched_since_ms: int) -> int:
        """Delete those of `refs` that were not put since; return how many."""
        with self._lock, self.transaction():
            self._flush()
            removed = self._backend.delete(refs, untouched_since_ms)
            self._buffer.clear()
        return removed

    # -- locks -----------------------------------------------------------------------------------

    def lock(self, name: str, holder: Holder) -> LockHandle:
        """Acquire the lock `name` now; the system releases it when this process dies.

        Raises:
            BusyError: it is held; the message names the holder.
        """
        with self._lock:
            handle = self._backend.lock(name, holder)
        if handle is None:
            from uwf_core.cas.refusals import held_by  # for errors only

            raise held_by(name, self.holder(name))
        return self._buffer.locked(handle, holder.since_ms)

    def on_lost(self, call: Callable[[], None]) -> None:
        """Call `call`, from another thread, if one of the locks that are held now is about to
        expire, or belongs to another process. Locks that the system keeps never do.
        """
        for lock in self._buffer.locks:
            if isinstance(lock, LeaseHandle):
                lock.on_lost(call)

    def holder(self, name: str) -> Holder | None:
        """The current holder of the lock, or None; never acquires it."""
        with self._lock:
            return self._backend.holder(name)

    # -- the store itself ------------------------------------------------------------------------

    def changes(self) -> int | None:
        """A number that differs if others have written since; None: the backend does not know."""
        with self._lock:
            found = self._backend
            return found.changes() if isinstance(found, ChangesBackend) else None

    def location(self) -> str:
        """The place of the store, for people."""
        return self._backend.location()

    def close(self) -> None:
        """Close the backend. A second call does nothing."""
        with self._lock:
            self._buffer.clear()
            self._backend.close()
