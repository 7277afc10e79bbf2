"""Records, variables and holders as rows, and back."""

import json
import struct
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from uwf_core.api import Content, Holder, Record, StoreError, Variable, number_of, ref_of_number
from uwf_core.api.store import VariableChange
from uwf_store_postgres.arrays import PackedArray, bigints, blobs, texts

RECORD = "ref, type, sha256, data, edges, created, touched"
SMALL = 65_536
RECORD_OF_SMALL = RECORD.replace(
    "data", f"CASE WHEN octet_length(data) <= {SMALL} THEN data END AS data"
)
"""The same, without data that is too large to load in batches."""

VARIABLE = "name, value, tags, created, updated, checksum"
LEASE = "name, pid, start, host, since, owner_pid, owner_start, owner_host, token"

_OF_RECORDS = bigints, bigints, bigints, bigints, blobs, blobs, blobs
_OF_CHANGES = texts, texts, texts, blobs, bigints, bigints, blobs, blobs

MOST_BYTES = 64 * 1024 * 1024
"""The largest node."""


def number(ref: str) -> int:
    """A reference as a number.

    Raises:
        StoreError: it is none.
    """
    found = number_of(ref)
    if found is None:
        raise StoreError(f"{ref!r} is not a reference and cannot be stored")
    return found


def columns_of_records(records: Sequence[Record]) -> list[PackedArray]:
    """The arguments of `commit_step` for records: an array for each column, sorted by reference.

    Raises:
        StoreError: a node is too large, or a reference is none.
    """
    rows = sorted((_row(each) for each in records), key=lambda row: row[0])
    return _columns(_OF_RECORDS, rows)


def _row(record: Record) -> tuple[Any, ...]:
    if len(record.data) > MOST_BYTES:
        raise StoreError(
            f"the node {record.ref} has {len(record.data) >> 20} MB; at most 64 MB can be stored",
            hint="keep the text in a file instead",
        )
    edges = struct.pack(f">{len(record.edges)}q", *record.edges)
    numbers = number(record.ref), number(record.type), record.created_ms, record.touched_ms
    return (*numbers, edges, record.sha256, record.data)


def record_of_row(row: Sequence[Any]) -> Record:
    """The record of a row of `RECORD`."""
    ref, type_, sha256, data, edges, created, touched = row
    return Record(
        ref_of_number(ref),
        ref_of_number(type_),
        bytes(sha256),
        bytes(data),
        numbers_of(edges),
        created,
        touched,
    )


def content_of_row(row: Sequence[Any]) -> Content:
    """The content of a row of `RECORD`."""
    ref, type_, sha256, data, *_ = row
    return Content(ref_of_number(ref), ref_of_number(type_), bytes(sha256), bytes(data))


def numbers_of(edges: bytes) -> tuple[int, ...]:
    """Numbers from 8 bytes each."""
    whole = len(edges) // 8
    return struct.unpack(f">{whole}q", edges[: 8 * whole])


def columns_of_changes(changes: Iterable[VariableChange]) -> list[PackedArray]:
    """The arguments of `commit_step` for variables, sorted by name.

    Raises:
        UnicodeEncodeError: a text is not Unicode.
    """
    rows = [_row_of_change(*change) for change in sorted(changes, key=lambda e: e.name.encode())]
    return _columns(_OF_CHANGES, rows)


def _columns(
    kinds: Sequence[Callable[[Sequence[Any]], PackedArray]], rows: Sequence[Sequence[Any]]
) -> list[PackedArray]:
    columns = zip(*rows, strict=True) if rows else [()] * len(kinds)
    return [kind(column) for kind, column in zip(kinds, columns, strict=True)]


def _row_of_change(name: str, new: Variable | None, expected: bytes | None) -> tuple[Any, ...]:
    if new is None:
        return (name, None, None, None, None, None, None, expected)
    text = json.dumps(dict(new.tags), ensure_ascii=False, separators=(",", ":"), sort_keys=True)
    times = new.created_ms, new.updated_ms
    status = indexed(new.tags.get("status"))
    return (name, new.value, status, text.encode(), *times, new.checksum, expected)


def indexed(tag: str | None) -> str | None:
    """A tag as in its column, which cannot hold U+0000."""
    return None if tag is None else tag.replace("\0", "\N{REPLACEMENT CHARACTER}")


def variable_of_row(row: Sequence[Any]) -> Variable:
    """The variable of a row; the core detects a damaged one by its checksum."""
    name, value, tags, created, updated, checksum = row
    try:
        found = json.loads(bytes(tags))
    except ValueError:
        found = None
    is_whole = isinstance(found, dict) and all(isinstance(each, str) for each in found.values())
    return Variable(name, value, found if is_whole else {}, created, updated, bytes(checksum))


def holder_of_row(row: Sequence[Any]) -> tuple[str, Holder]:
    """The name of a lease and its holder, of a row of `LEASE`."""
    name, pid, start, host, since, *_ = row
    return name, Holder(pid, start, host, since)


def is_same(stored: Record, record: Record) -> bool:
    """Whether a stored record has the same content."""
    mine = record.type, record.sha256, record.data
    return (stored.type, stored.sha256, stored.data) == mine
