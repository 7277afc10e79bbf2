"""Payloads as bytes: deterministic CBOR (RFC 8949, section 4.2.1) of JSON values.

Definite lengths, shortest heads, map keys sorted by their encoded bytes. A number that is whole
and within ±(2^53-1) is an integer, every other number a 64-bit float. Text is UTF-8 without
normalisation; a lone surrogate becomes U+FFFD. These are the bytes of ocas 0.4, so that both
systems name a node alike.
"""

import struct
from math import isfinite
from typing import Any

from uwf_core.cas.encoder import (
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
    Encoder,
    UnsayableError,
    head,
    text_bytes,
)
from uwf_core.errors import CorruptNodeError, PayloadError

__all__ = [
    "MAX_DEPTH", "SAFE_INTEGER", "Keys", "PayloadReader", "decode", "dotted", "encode",
    "encode_telling", "is_text",
]  # fmt: skip

WIDTHS = {24: (1, 24), 25: (2, 1 << 8), 26: (4, 1 << 16), 27: (8, 1 << 32)}
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
    encoder = Encoder()
    try:
        encoder.add(payload, MAX_DEPTH)
    except UnsayableError as fault:
        raise PayloadError(
            fault.message, where=dotted(tuple(reversed(fault.keys))) or None, hint=fault.hint
        ) from None
    return b"".join(encoder.parts), encoder.is_plain


def decode(data: bytes) -> Any:
    """The payload of `data`, which must be exactly the bytes that `encode` gives for it.

    Raises:
        CorruptNodeError: the bytes are truncated, not CBOR, or not in the one allowed form.
    """
    reader = PayloadReader(data)
    try:
        value = reader.value(MAX_DEPTH)
    except (IndexError, struct.error, UnicodeDecodeError) as error:
        raise _corrupt("the bytes are truncated or not UTF-8") from error
    if reader.position != len(data):
        raise _corrupt("bytes follow the payload's end")
    return value


def is_text(data: bytes) -> bool:
    """Whether `data` is exactly what `encode` gives for some text."""
    return _text_of(data) is not None


def decode_text(data: bytes) -> Any:
    """`decode`, quicker for a text."""
    text = _text_of(data)
    return decode(data) if text is None else text


def _text_of(data: bytes) -> str | None:
    """The text of which `data` are the bytes; None if they are something else."""
    width = _WIDTH_OF_TEXT_HEAD[data[0]] if data else 0
    size = len(data) - width
    if width == 1:
        fits = data[0] == TEXT_0 + size
    elif width == 2:
        fits = 24 <= size == data[1]
    else:
        fits = width > 0 and size >= 0x100 and data.startswith(head(TEXT, size))
    if not fits:
        return None
    try:
        return data[width:].decode()
    except UnicodeDecodeError:
        return None


def _corrupt(message: str) -> CorruptNodeError:
    return CorruptNodeError(
        f"these bytes are not a payload: {message}", hint="restore the store from a copy"
    )


class PayloadReader:
    """Read one item after the other; reject what `encode` never writes."""

    __slots__ = ("data", "position")

    def __init__(self, data: bytes, position: int = 0) -> None:
        self.data = data
        self.position = position

    def value(self, depth: int) -> Any:
        """The next item, at most `depth` levels deep.

        Raises:
            CorruptNodeError, IndexError, struct.error, UnicodeDecodeError: it is not one.
        """
        first = self.data[self.position]
        if first in SIMPLE:
            self.position += 1
            return SIMPLE[first]
        major = first >> 5
        if major == TEXT:
            return self._text()
        if major == MAP:
            return self._map(depth)
        if major == ARRAY:
            return self._array(depth)
        if major in (UNSIGNED, NEGATIVE):
            return self._integer(major)
        self.position += 1
        if first == DOUBLE:
            return self._double()
        raise _corrupt(f"unexpected byte 0x{first:02x}")

    def _head(self, major: int) -> int:
        """The number of a head that must be of `major`."""
        data, start = self.data, self.position + 1
        first = data[start - 1]
        short = first & 31
        if short < 24 and first >> 5 == major:
            self.position = start
            return short
        if first >> 5 != major or short not in WIDTHS:
            raise _corrupt(f"unexpected byte 0x{first:02x}")
        width, least = WIDTHS[short]
        end = self.position = start + width
        if end > len(data):
            raise _corrupt("the bytes are truncated")
        number = int.from_bytes(data[start:end], "big")
        if number < least:
            raise _corrupt("a head is longer than needed")
        return number

    def _take(self, length: int) -> bytes:
        end = self.position + length
        if end > len(self.data):
            raise _corrupt("the bytes are truncated")
        part = self.data[self.position : end]
        self.position = end
        return part

    def _text(self) -> str:
        short = self.data[self.position] - TEXT_0
        if not 0 <= short < 24:
            return self._take(self._head(TEXT)).decode()
        end = self.position + 1 + short  # most texts: worth saving two calls
        if end > len(self.data):
            raise _corrupt("the bytes are truncated")
        part = self.data[self.position + 1 : end]
        self.position = end
        return part.decode()

    def _integer(self, major: int) -> int:
        number = self._head(major)
        if number > SAFE_INTEGER - major:
            raise _corrupt("an integer beyond ±(2^53-1)")
        return number if major == UNSIGNED else -1 - number

    def _double(self) -> float:
        number: float = FLOAT.unpack(self._take(8))[0]
        if not isfinite(number) or (number.is_integer() and abs(number) <= SAFE_INTEGER):
            raise _corrupt("a float that should be an integer")
        return number

    def _array(self, depth: int) -> list[Any]:
        if depth == 0:
            raise _too_deep()
        count, data, at = self._head(ARRAY), self.data, self.position
        found = list[Any]()
        for _ in range(count):  # as in _map
            end = at + 1 + data[at] - TEXT_0
            if at < end <= at + 24:
                found += (data[at + 1 : end].decode(),)
                at = end
            else:
                self.position = at
                found += (self.value(depth - 1),)
                at = self.position
        if at > len(data):
            raise _corrupt("the bytes are truncated")
        self.position = at
        return found

    def _map(self, depth: int) -> dict[str, Any]:
        if depth == 0:
            raise _too_deep()
        count, data, at = self._head(MAP), self.data, self.position
        found: dict[str, Any] = {}
        before = b""
        for _ in range(count):  # short texts, which nearly all are, are read without a call
            end = at + 1 + data[at] - TEXT_0
            if at < end <= at + 24:
                key = data[at + 1 : end].decode()
            else:
                key, end = self._text_at(at), self.position
            encoded = data[at:end]
            if encoded <= before:
                raise _corrupt("the keys of a mapping are not in order")
            before, first = encoded, data[end]
            at = end + 1 + first - TEXT_0
            if end < at <= end + 24:
                found[key] = data[end + 1 : at].decode()
            elif first in SIMPLE:
                found[key], at = SIMPLE[first], end + 1
            else:
                self.position = end
                found[key] = self.value(depth - 1)
                at = self.position
        if at > len(data):
            raise _corrupt("the bytes are truncated")
        self.position = at
        return found

    def _text_at(self, position: int) -> str:
        self.position = position
        return self._text()


def _too_deep() -> CorruptNodeError:
    return _corrupt(f"more than {MAX_DEPTH} levels deep")


SIMPLE: dict[int, Any] = {FALSE: False, TRUE: True, NULL: None} | {n: n for n in range(24)}
"""Values of one byte."""
