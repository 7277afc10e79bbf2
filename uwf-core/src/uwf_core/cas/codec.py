"""Payloads as bytes: deterministic CBOR (RFC 8949, section 4.2.1) of JSON values.

Definite lengths, shortest heads, map keys sorted by their encoded bytes. A number that is whole
and within ±(2^53-1) is an integer, every other number a 64-bit float. Text is UTF-8 without
normalisation; a lone surrogate becomes U+FFFD. These are the bytes of ocas 0.4, so that both
systems name a node alike.
"""

import struct
from collections.abc import Iterable
from math import isfinite
from typing import Any

from uwf_core.cas.writer import (
    ARRAY,
    DOUBLE,
    FALSE,
    FLOAT,
    MAP,
    MAX_DEPTH,
    NEGATIVE,
    NULL,
    SAFE_INTEGER,
    TEXT,
    TEXT_0,
    TRUE,
    UNSIGNED,
    UnsayableError,
    Writer,
    head,
)
from uwf_core.errors import CorruptNodeError, PayloadError

__all__ = [
    "MAX_DEPTH",
    "SAFE_INTEGER",
    "Keys",
    "MappingDecoder",
    "decode",
    "dotted",
    "encode",
    "encode_telling",
    "is_text",
]

_WIDTHS = {24: 1, 25: 2, 26: 4, 27: 8}
_WIDTH_OF_TEXT_HEAD = bytes(TEXT_0) + bytes((1,) * 24 + (2, 3, 5, 9)) + bytes(132)
"""By its first byte; 0 for what begins no text."""

Keys = tuple[str | int, ...]
"""A place within a payload: keys of mappings and positions in lists, from the outside in."""


def dotted(keys: Keys) -> str:
    """A place for people: `items.2.name`; empty for the whole. Always printable."""
    return ".".join(str(key) for key in keys).encode("utf-8", "backslashreplace").decode()


def encode(payload: Any) -> bytes:
    """The bytes of `payload`.

    Raises:
        PayloadError: it is not JSON; `where` is the place within the payload.
    """
    return encode_telling(payload)[0]


def encode_telling(payload: Any) -> tuple[bytes, bool]:
    """The bytes of `payload`, and whether they read back as it is, types included; raises as
    `encode`.
    """
    writer = Writer()
    try:
        return writer.value(payload, MAX_DEPTH), writer.is_plain
    except UnsayableError as fault:
        raise PayloadError(
            fault.message, where=dotted(tuple(reversed(fault.keys))) or None, hint=fault.hint
        ) from None


def decode(data: bytes) -> Any:
    """The payload of `data`, which must be exactly the bytes that `encode` gives for it.

    Raises:
        CorruptNodeError: the bytes are truncated, not CBOR, or not in the one allowed form.
    """
    reader = _Reader(data)
    try:
        value = reader.value(MAX_DEPTH)
    except (IndexError, struct.error, UnicodeDecodeError) as error:
        raise _corrupt("the bytes are truncated or not UTF-8") from error
    if reader.position != len(data):
        raise _corrupt("bytes follow the payload's end")
    return value


def is_text(data: bytes) -> bool:
    """Whether `data` is exactly what `encode` gives for some text."""
    width = _WIDTH_OF_TEXT_HEAD[data[0]] if data else 0
    size = len(data) - width
    if width == 1:
        fits = data[0] == TEXT_0 + size
    elif width == 2:
        fits = 24 <= size == data[1]
    else:
        fits = width > 0 and size >= 0x100 and data.startswith(head(TEXT, size))
    if not fits:
        return False
    try:
        data[width:].decode()
    except UnicodeDecodeError:
        return False
    return True


class MappingDecoder:
    """`decode` for mappings that nearly always have the same keys: in about half the time.

    What one mapping has is often in the next one as well: the bytes of the key and the value
    that came last are compared before anything is read.
    """

    def __init__(self, keys: Iterable[str]) -> None:
        names = sorted((encode(key), key) for key in keys)
        self._keys = tuple((index, *name) for index, name in enumerate(names))
        self._head = head(MAP, len(names))
        self._last: list[tuple[bytes, Any]] = [(_NO_VALUE, None)] * len(names)

    def decode(self, data: bytes) -> Any:
        """As `decode`."""
        if not data.startswith(self._head):
            return decode(data)
        at, reader, last, starts_with = len(self._head), None, self._last, data.startswith
        found: dict[str, Any] = {}
        try:
            for index, encoded, key in self._keys:
                known, value = last[index]
                if starts_with(known, at):
                    found[key] = value if type(value) not in _MUTABLE else value.copy()
                    at += len(known)
                    continue
                if not starts_with(encoded, at):
                    return decode(data)
                begin, at = at, at + len(encoded)
                end = at + 1 + data[at] - TEXT_0
                if at < end <= at + 24:
                    found[key] = value = data[at + 1 : end].decode()
                else:
                    reader = reader or _Reader(data)
                    reader.position = at
                    found[key] = value = reader.value(MAX_DEPTH - 1)
                    end = reader.position
                at = end
                if at <= len(data) and (type(value) not in _MUTABLE or _is_flat(value)):
                    kept = value if type(value) not in _MUTABLE else value.copy()
                    last[index] = data[begin:at], kept
        except (IndexError, struct.error, UnicodeDecodeError) as error:
            raise _corrupt("the bytes are truncated or not UTF-8") from error
        if at != len(data):
            raise _corrupt("the bytes are truncated, or more follow the payload's end")
        return found


_MUTABLE = frozenset((dict, list))


def _is_flat(value: Any) -> bool:
    """Whether a copy shares nothing that can be changed."""
    return _MUTABLE.isdisjoint(map(type, value.values() if type(value) is dict else value))


_NO_VALUE = b"\xff"
"""No item begins like this, so that it equals nothing."""


def _corrupt(message: str) -> CorruptNodeError:
    return CorruptNodeError(
        f"these bytes are not a payload: {message}", hint="restore the store from a copy"
    )


class _Reader:
    """Read one item after the other; reject what `encode` never writes."""

    __slots__ = ("data", "position")

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.position = 0

    def value(self, depth: int) -> Any:
        first = self.data[self.position]
        major = first >> 5
        if first < 24:
            self.position += 1
            return first
        if major == TEXT:
            return self.text()
        if major == MAP:
            return self.map(depth)
        if major == ARRAY:
            return self.array(depth)
        if major in (UNSIGNED, NEGATIVE):
            return self.integer(major)
        self.position += 1
        if first in _SIMPLE:
            return _SIMPLE[first]
        if first == DOUBLE:
            return self.double()
        raise _corrupt(f"unexpected byte 0x{first:02x}")

    def head(self, major: int) -> int:
        """The number of a head that must be of `major`."""
        first = self.data[self.position]
        if first >> 5 != major:
            raise _corrupt(f"unexpected byte 0x{first:02x}")
        self.position += 1
        short = first & 31
        if short < 24:
            return short
        width = _WIDTHS.get(short)
        if width is None:
            raise _corrupt(f"unexpected byte 0x{first:02x}")
        end = self.position + width
        number = int.from_bytes(self.data[self.position : end], "big")
        if end > len(self.data):
            raise _corrupt("the bytes are truncated")
        self.position = end
        if number < (24 if width == 1 else 1 << (4 * width)):
            raise _corrupt("a head is longer than needed")
        return number

    def take(self, length: int) -> bytes:
        end = self.position + length
        if end > len(self.data):
            raise _corrupt("the bytes are truncated")
        part = self.data[self.position : end]
        self.position = end
        return part

    def text(self) -> str:
        short = self.data[self.position] - TEXT_0
        if not 0 <= short < 24:
            return self.take(self.head(TEXT)).decode()
        end = self.position + 1 + short  # most texts: worth saving two calls
        if end > len(self.data):
            raise _corrupt("the bytes are truncated")
        part = self.data[self.position + 1 : end]
        self.position = end
        return part.decode()

    def integer(self, major: int) -> int:
        number = self.head(major)
        if number > SAFE_INTEGER - major:
            raise _corrupt("an integer beyond ±(2^53-1)")
        return number if major == UNSIGNED else -1 - number

    def double(self) -> float:
        number: float = FLOAT.unpack(self.take(8))[0]
        if not isfinite(number) or (number.is_integer() and abs(number) <= SAFE_INTEGER):
            raise _corrupt("a float that should be an integer")
        return number

    def array(self, depth: int) -> list[Any]:
        self.check_depth(depth)
        return [self.value(depth - 1) for _ in range(self.head(ARRAY))]

    def map(self, depth: int) -> dict[str, Any]:
        self.check_depth(depth)
        count, data, at = self.head(MAP), self.data, self.position
        found: dict[str, Any] = {}
        before = b""
        for _ in range(count):  # short texts, which nearly all are, are read without a call
            end = at + 1 + data[at] - TEXT_0
            if at < end <= at + 24:
                key = data[at + 1 : end].decode()
            else:
                key, end = self.text_at(at), self.position
            encoded = data[at:end]
            if encoded <= before:
                raise _corrupt("the keys of a mapping are not in order")
            before, first = encoded, data[end]
            at = end + 1 + first - TEXT_0
            if end < at <= end + 24:
                found[key] = data[end + 1 : at].decode()
            elif first < 24:
                found[key], at = first, end + 1
            else:
                self.position = end
                found[key] = self.value(depth - 1)
                at = self.position
        if at > len(data):
            raise _corrupt("the bytes are truncated")
        self.position = at
        return found

    def text_at(self, position: int) -> str:
        self.position = position
        return self.text()

    def check_depth(self, depth: int) -> None:
        if depth == 0:
            raise _corrupt(f"more than {MAX_DEPTH} levels deep")


_SIMPLE: dict[int, Any] = {FALSE: False, TRUE: True, NULL: None}
