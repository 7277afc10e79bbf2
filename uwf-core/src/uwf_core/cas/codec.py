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
    text_bytes,
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

_WIDTHS = {24: (1, 24), 25: (2, 1 << 8), 26: (4, 1 << 16), 27: (8, 1 << 32)}
"""By the low bits of a head's first byte: how many bytes follow, and the least number they have."""
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
    return text_bytes(payload)[0] if type(payload) is str else encode_telling(payload)[0]


def encode_telling(payload: Any) -> tuple[bytes, bool]:
    """The bytes of `payload`, and whether they read back as it is, types included; raises as
    `encode`.
    """
    writer = Writer()
    try:
        writer.add(payload, MAX_DEPTH)
    except UnsayableError as fault:
        raise PayloadError(
            fault.message, where=dotted(tuple(reversed(fault.keys))) or None, hint=fault.hint
        ) from None
    return b"".join(writer.parts), writer.is_plain


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
    """`decode` for mappings that nearly always have the same keys: in a fifth of the time.

    A mapping differs from the one before in few values. The bytes between two that differ are one
    piece, which is compared and not read: its values are those of the mapping before.
    """

    def __init__(self, keys: Iterable[str]) -> None:
        self._keys = sorted((encode(key), key) for key in keys)
        self._names = {key for _, key in self._keys}
        self._reads = 0
        self._encoded: dict[str, bytes] = {}
        self._varying: set[str] = set()
        self._plan: _Plan = {}, (), b"", ()

    def decode(self, data: bytes) -> Any:
        """As `decode`."""
        known, pieces, last, copied = self._plan
        found, at, reader = known.copy(), 0, None
        try:
            for piece, size, key in pieces:
                start = at + size
                if data[at:start] != piece:
                    return self._read(data)
                first, start = data[start], start + 1
                at = start + first - TEXT_0
                if start <= at < start + 24:  # what is short is read without a call
                    found[key] = data[start:at].decode()
                elif first in _SIMPLE:
                    found[key], at = _SIMPLE[first], start
                elif first in _WIDTHS:
                    width, least = _WIDTHS[first]
                    at = start + width
                    found[key] = number = int.from_bytes(data[start:at], "big")
                    if not least <= number <= SAFE_INTEGER:
                        return self._read(data)
                else:
                    reader = reader or _Reader(data)
                    reader.position = start - 1
                    found[key] = reader.value(MAX_DEPTH - 1)
                    at = reader.position
        except (CorruptNodeError, IndexError, struct.error, UnicodeDecodeError):
            return self._read(data)
        if not known or at > len(data) or data[at:] != last:
            return self._read(data)
        for key, kind in copied:
            found[key] = kind(found[key])
        return found

    def _read(self, data: bytes) -> Any:
        """Read everything; from the third mapping on, learn in what it differs."""
        found = decode(data)
        self._reads += 1
        if self._reads >= _FIRST_LEARNT and type(found) is dict and found.keys() == self._names:
            self._learn(found)
        return found

    def _learn(self, found: dict[str, Any]) -> None:
        encoded = {key: encode(value) for key, value in found.items()}
        for key, value in found.items():
            if encoded[key] != self._encoded.get(key, encoded[key]) or not _is_flat(value):
                self._varying.add(key)
        self._encoded = encoded
        pieces: list[tuple[bytes, int, str]] = []
        piece = head(MAP, len(self._keys))
        for name, key in self._keys:
            piece += name
            if key in self._varying:
                pieces.append((piece, len(piece), key))
                piece = b""
            else:
                piece += encoded[key]
        same = found.keys() - self._varying
        copied = {key: type(found[key]) for key in same if type(found[key]) in _MUTABLE}
        known = {key: copied[key](found[key]) if key in copied else found[key] for key in found}
        self._plan = known, tuple(pieces), piece, tuple(copied.items())


_Plan = tuple[
    dict[str, Any], tuple[tuple[bytes, int, str], ...], bytes, tuple[tuple[str, type], ...]
]
"""The values of the mapping before; pieces with their size and the key of the value after each,
and the last one; the keys of values that can be changed, and so are copied, with their types.
"""

_FIRST_LEARNT = 3
"""A process that runs one step decodes two mappings of a type, and to learn takes as long as to
read three.
"""


_MUTABLE = frozenset((dict, list))


def _is_flat(value: Any) -> bool:
    """Whether a copy shares nothing that can be changed."""
    if type(value) not in _MUTABLE:
        return True
    return _MUTABLE.isdisjoint(map(type, value.values() if type(value) is dict else value))


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
        if first in _SIMPLE:
            self.position += 1
            return _SIMPLE[first]
        major = first >> 5
        if major == TEXT:
            return self.text()
        if major == MAP:
            return self.map(depth)
        if major == ARRAY:
            return self.array(depth)
        if major in (UNSIGNED, NEGATIVE):
            return self.integer(major)
        self.position += 1
        if first == DOUBLE:
            return self.double()
        raise _corrupt(f"unexpected byte 0x{first:02x}")

    def head(self, major: int) -> int:
        """The number of a head that must be of `major`."""
        data, start = self.data, self.position + 1
        first = data[start - 1]
        short = first & 31
        if short < 24 and first >> 5 == major:
            self.position = start
            return short
        if first >> 5 != major or short not in _WIDTHS:
            raise _corrupt(f"unexpected byte 0x{first:02x}")
        width, least = _WIDTHS[short]
        end = self.position = start + width
        if end > len(data):
            raise _corrupt("the bytes are truncated")
        number = int.from_bytes(data[start:end], "big")
        if number < least:
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
        if depth == 0:
            raise _too_deep()
        return [self.value(depth - 1) for _ in range(self.head(ARRAY))]

    def map(self, depth: int) -> dict[str, Any]:
        if depth == 0:
            raise _too_deep()
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
            elif first in _SIMPLE:
                found[key], at = _SIMPLE[first], end + 1
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


def _too_deep() -> CorruptNodeError:
    return _corrupt(f"more than {MAX_DEPTH} levels deep")


_SIMPLE: dict[int, Any] = {FALSE: False, TRUE: True, NULL: None} | {n: n for n in range(24)}
"""Values of one byte."""
