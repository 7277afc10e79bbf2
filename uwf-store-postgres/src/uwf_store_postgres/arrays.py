"""Arrays as PostgreSQL reads them in binary, for the statements of each step.

psycopg adapts them element by element in Python, which took a fifth of a worker's time.
"""

from collections.abc import Sequence
from struct import Struct

from psycopg import pq
from psycopg.adapt import AdaptersMap, Dumper

_BOOLEAN, _BYTES, _BIGINT, _INTEGER, _TEXT = 16, 17, 20, 23, 25
"""The numbers of the types, which are fixed."""

_HEAD = Struct(">iiiii").pack
_EMPTY = Struct(">iii").pack
_LENGTH = Struct(">i").pack
_LONG = Struct(">iq").pack
_NULL = _LENGTH(-1)


class PackedArray(bytes):
    """An array; the statement names its type (`%b::text[]`)."""


class _PackedDumper(Dumper):
    """Sends it as it is. Its type is unknown (0), so the server takes that of the cast."""

    format = pq.Format.BINARY
    oid = 0

    def dump(self, obj: PackedArray) -> PackedArray:
        return obj


def register_arrays(adapters: AdaptersMap) -> None:
    """Have a connection take packed arrays."""
    adapters.register_dumper(PackedArray, _PackedDumper)


def bigints(items: Sequence[int | None]) -> PackedArray:
    """A `bigint[]`."""
    return _packed(_BIGINT, [_NULL if each is None else _LONG(8, each) for each in items])


def integers(items: Sequence[int]) -> PackedArray:
    """An `integer[]`."""
    return _packed(_INTEGER, [_LENGTH(4) + _LENGTH(each) for each in items])


def booleans(items: Sequence[bool]) -> PackedArray:
    """A `boolean[]`."""
    return _packed(_BOOLEAN, [b"\0\0\0\1\1" if each else b"\0\0\0\1\0" for each in items])


def blobs(items: Sequence[bytes | None]) -> PackedArray:
    """A `bytea[]`."""
    sized = [_NULL if each is None else _LENGTH(len(each)) + each for each in items]
    return _packed(_BYTES, sized)


def texts(items: Sequence[str | None]) -> PackedArray:
    """A `text[]`.

    Raises:
        UnicodeEncodeError: a text is not Unicode.
    """
    encoded = [None if each is None else each.encode() for each in items]
    sized = [_NULL if each is None else _LENGTH(len(each)) + each for each in encoded]
    return _packed(_TEXT, sized)


def _packed(kind: int, elements: list[bytes]) -> PackedArray:
    """One dimension that begins at 1. (The flag for nulls may be set without any.)"""
    if not elements:
        return PackedArray(_EMPTY(0, 0, kind))
    return PackedArray(b"".join((_HEAD(1, 1, kind, len(elements), 1), *elements)))
