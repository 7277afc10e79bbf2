"""Records and variables as rows of the SQLite store, and back.

References are 64-bit integers: 8 bytes instead of 13, with the same order.
"""

import struct
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache, partial
from typing import Any

from xxhash import xxh32_intdigest

from uwf_core.api.store import Content, Holder, Record, Variable
from uwf_core.errors import StoreError
from uwf_core.ids import B32, Ref, known_number, number_of, ref_of_number

Row = tuple[Any, ...]

RECORD_COLUMNS = "type, ref, created, touched, guard, edges, sha256, data"
RECORD_COLUMNS_OF_SMALL = RECORD_COLUMNS.replace(
    "data", "CASE WHEN length(data) <= 16384 THEN data END"
)
"""The same, without data that is too large to load in batches."""

VARIABLE_COLUMNS = "name, value, status, tags, created, updated, checksum"
TEXT_COLUMNS = (
    "name || char(0) || value || char(0) || created || char(0) || updated"
    " || CASE WHEN length(tags) THEN char(0) || tags ELSE '' END, checksum"
)
"""`hashing.variable_text`, which SQLite joins in a third of the time, and its checksum."""

HOLDER_COLUMNS = "offset, name, pid, start, host, since"

GRAPH_COLUMNS = "type, ref, created, touched, guard, edges"

_HALF = 1 << 31
_HALF_64 = 1 << 63
_packed_for_guard = struct.Struct(">qqqq").pack
_WITHOUT_TYPE = b"-"
"""Ends the edges of a record that do not include its type."""

_DAMAGE = (struct.error, TypeError, ValueError, OverflowError, IndexError)


def row_of_record(record: Record) -> Row:
    """The row of a record.

    Raises:
        StoreError: one of its references is not 64 bits.
    """
    type_, ref = _number(record.type), _number(record.ref)
    touched = record.touched_ms - record.created_ms
    edges = _packed_edges(type_, record)
    guard = guard_of(type_, ref, record.created_ms, touched, edges)
    return (type_, ref, record.created_ms, touched, guard, edges, record.sha256, record.data)


def _packed_edges(type_: int, record: Record) -> bytes | None:
    """The edges in short form: the type is known, and most often the only one."""
    others = [each for each in record.edges if each != type_]
    if len(others) == len(record.edges):
        return packed(others) + _WITHOUT_TYPE
    return packed(others) if others else None


def _number(ref: str) -> int:
    number = known_number(ref)
    if number is None:
        raise StoreError(f"{ref!r} is not a reference and cannot be stored")
    return number


def guard_of(type_: int, ref: int, created: int, touched: int, edges: bytes | None) -> int:
    """A checksum (XXH32, signed) over the columns that no hash covers, to detect damage."""
    fixed = _packed_for_guard(type_, ref, created, touched)
    return xxh32_intdigest(fixed if edges is None else fixed + b"+" + edges) - _HALF


def record_of_row(row: Sequence[Any]) -> Record:
    """The record of a row.

    One with damaged columns comes without its SHA-256, so that the core rejects it: none
    of its values can be trusted.
    """
    type_, ref, created, touched, guard, edges, sha256, data = row
    try:
        intact = guard == guard_of(type_, ref, created, touched, edges)
        return Record(
            ref_of_number(ref),
            _type_name(type_),
            _bytes(sha256) if intact else b"",
            _bytes(data),
            (type_,) if edges is None else tuple(sorted(edge_numbers(type_, edges))),
            int(created),
            created + touched,
        )
    except _DAMAGE:
        name = ref_of_number(ref) if isinstance(ref, int) else ""
        return Record(name, name, b"", b"", (), 0, 0)


_type_name = lru_cache(512)(ref_of_number)
"""`ref_of_number` with a memory: types are few."""


def _bytes(value: Any) -> bytes:
    if type(value) is not bytes:  # SQLite returns the stored value, whatever the type of the column
        raise TypeError
    return value


def records_of_rows(
    found: Sequence[Row], whole: Callable[[int], Iterable[Record]]
) -> Iterator[Record]:
    """Like `record_of_row`, for many rows of `RECORD_COLUMNS_OF_SMALL`, each with its place first.

    Args:
        found: the rows.
        whole: loads the record at a place, for data that is too large for a batch.
    """
    for name, row in zip(_names(found), found, strict=True):
        place, type_, ref, created, touched, guard, edges, sha256, data = row
        if data is None:
            yield from whole(place)
            continue
        try:
            numbers = (type_,) if edges is None else tuple(sorted(edge_numbers(type_, edges)))
            intact = guard == guard_of(type_, ref, created, touched, edges)
        except _DAMAGE:
            intact = False
        if intact and type(data) is bytes is type(sha256):
            type_text, touched_ms = _type_name(type_), created + touched
            yield _record((name, type_text, sha256, data, numbers, created, touched_ms))
        else:
            yield record_of_row(row[1:])


def contents_of_rows(found: Sequence[Row]) -> list[Content]:
    """Contents of rows of `RECORD_COLUMNS_OF_SMALL`; large and damaged ones are left out."""
    try:
        return [
            Content(name, _type_name(type_), sha256, data)
            for name, (type_, ref, created, touched, guard, edges, sha256, data) in zip(
                refs_of([row[1] for row in found]), found, strict=True
            )
            if type(data) is bytes and guard == guard_of(type_, ref, created, touched, edges)
        ]
    except _DAMAGE:
        return []


def _names(found: Sequence[Row]) -> Sequence[str]:
    """The references of rows; a row without one is damaged."""
    try:
        return refs_of([row[2] for row in found])
    except struct.error:
        return [ref_of_number(row[2]) if isinstance(row[2], int) else "" for row in found]


_record: Callable[[tuple[Any, ...]], Record] = partial(tuple.__new__, Record)
"""Twice as fast as the class, which also takes names."""


def edge_numbers(type_: int, edges: bytes | None) -> tuple[int, ...]:
    """The inverse of how a row keeps edges: without the type, which is one of them."""
    if edges is None:
        return (type_,)
    if len(edges) % 8:
        return unpacked(edges[: -len(_WITHOUT_TYPE)])
    return (type_, *unpacked(edges))


def nodes_of_rows(
    found: Iterable[Row], damaged: Callable[[Any], Exception]
) -> Iterator[tuple[int, tuple[int, ...], int]]:
    """(reference, edges, touched_ms) of rows of `GRAPH_COLUMNS` with anything before them.

    Args:
        found: the rows.
        damaged: makes the error for a row that does not match its guard, by its reference.
    """
    for _, type_, ref, created, touched, guard, edges in found:
        try:
            numbers = (type_,) if edges is None else edge_numbers(type_, edges)
            intact = guard == guard_of(type_, ref, created, touched, edges)
        except _DAMAGE:
            intact = False
        if not intact:
            raise damaged(ref)
        yield ref, numbers, created + touched


def row_of_variable(variable: Variable) -> Row:
    """The row of a variable.

    Raises:
        StoreError: a tag has a NUL.
    """
    name, value, tags, created, updated, checksum = variable
    parts = [part for item in sorted(tags.items()) for part in item]
    joined = "\0".join(parts)
    if joined.count("\0") != max(0, len(parts) - 1):
        raise StoreError(f"a tag of {name} has a NUL and cannot be stored")
    return (name, value, tags.get("status"), joined.encode(), created, updated, checksum)


def variable_of_row(row: Row) -> Variable:
    """The variable of a row; the core detects a damaged one by its checksum."""
    name, value, _, tags, created, updated, checksum = row
    if not type(name) is type(value) is type(tags) is bytes:
        name, value, tags = (_text(each).encode() for each in (name, value, tags))
    parts = iter(tags.decode("utf-8", "replace").split("\0") if tags else ())
    found = dict(zip(parts, parts, strict=False))  # keys and values in turn
    texts = name.decode("utf-8", "replace"), value.decode("utf-8", "replace")
    return _variable((*texts, found, created, updated, checksum))


_variable: Callable[[tuple[Any, ...]], Variable] = partial(tuple.__new__, Variable)


def _text(data: Any) -> str:
    return str(data, "utf-8", "replace") if isinstance(data, bytes) else str(data)


def holder_of_row(row: Row) -> tuple[str, Holder]:
    """The name of a lock and its recorded holder."""
    _, name, pid, start, host, since = row
    return _text(name), Holder(pid, _text(start), _text(host), since)


# -- references as numbers -----------------------------------------------------------------------


def range_of(prefix: str) -> tuple[int, int] | None:
    """The lowest and highest number of references with `prefix`, or None."""
    low = number_of(prefix.ljust(Ref.LENGTH, B32[0]))
    if low is None:
        return None
    free = 5 * (Ref.LENGTH - len(prefix))
    return low, min(low + (1 << free) - 1, _HALF_64 - 1)


def packed(numbers: Iterable[int]) -> bytes:
    """Numbers as 8 bytes each, most significant first."""
    found = tuple(numbers)
    return struct.pack(f">{len(found)}q", *found)


def unpacked(data: bytes) -> tuple[int, ...]:
    """The inverse of `packed`.

    Raises:
        struct.error: the length is not a multiple of 8.
    """
    return _form(len(data)).unpack(data)


def refs_of(numbers: Sequence[int]) -> list[str]:
    """`ids.ref_of_number` of many, in a third of the time.

    They become one long integer with 13 bytes for each. In four moves for all of them at once,
    each quintet comes to lie in a separate byte; and each byte becomes a letter.

    Raises:
        struct.error: one of them is not a 64-bit integer.
    """
    count = len(numbers)
    fields, top, moves = _fields(count)
    bits = int.from_bytes(fields.pack(*numbers), "little") ^ top
    for kept, moved, distance in moves:
        bits = bits & kept | (bits & moved) << distance
    letters = bits.to_bytes(Ref.LENGTH * count, "big").translate(_LETTERS).decode()
    last = Ref.LENGTH * (count - 1)
    return [letters[at : at + Ref.LENGTH] for at in range(last, -1, -Ref.LENGTH)]


_LETTERS = B32.encode() + bytes(256 - len(B32))


@lru_cache(2)
def _fields(count: int) -> tuple[struct.Struct, int, list[tuple[int, int, int]]]:
    """How to pack this many numbers, their highest bits, and the moves of their quintets.

    Quintet i goes from bit 5i to bit 8i, that is 3i bits up: first those whose i has the bit 8
    go 24 up, then those with 4, with 2 and with 1.
    """

    def of_each(field: int) -> int:
        return int.from_bytes(field.to_bytes(Ref.LENGTH, "little") * count, "little")

    moves = []
    for bit in (8, 4, 2, 1):
        masks = [0, 0]
        for index in range(Ref.LENGTH):
            place = 5 * index + 3 * (index & -2 * bit)
            masks[bool(index & bit)] |= 31 << place
        moves.append((of_each(masks[0]), of_each(masks[1]), 3 * bit))
    return struct.Struct("<" + count * "q5x"), of_each(_HALF_64), moves


@lru_cache(256)
def _form(size: int) -> struct.Struct:
    return struct.Struct(f">{size // 8}q")
