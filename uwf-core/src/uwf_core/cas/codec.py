"""Payloads as bytes: deterministic CBOR (RFC 8949, section 4.2.1) of what JSON can say.

Definite lengths, shortest heads, map keys sorted by their encoded bytes. A number that is whole
and within ±(2^53-1) is an integer, every other number a 64-bit float. Text is UTF-8 without
normalisation; a lone surrogate becomes U+FFFD. These are the bytes of ocas 0.4, so that both
systems name a node alike.
"""

import struct
from collections.abc import Callable, Iterable
from functools import lru_cache
from math import isfinite
from typing import Any

from uwf_core.errors import CorruptNodeError, PayloadError

SAFE_INTEGER = 2**53 - 1
"""The largest whole number that every JSON reader keeps exactly."""

MAX_DEPTH = 64
"""How many lists and mappings may lie within each other."""

_FLOAT = struct.Struct(">d")
_UNSIGNED, _NEGATIVE, _TEXT, _ARRAY, _MAP = 0, 1, 3, 4, 5
_FALSE, _TRUE, _NULL, _DOUBLE = 0xF4, 0xF5, 0xF6, 0xFB
_TEXT_0 = _TEXT << 5
_WIDTHS = {24: 1, 25: 2, 26: 4, 27: 8}
_WIDTH_OF_TEXT_HEAD = bytes(_TEXT_0) + bytes((1,) * 24 + (2, 3, 5, 9)) + bytes(132)
"""By its first byte; 0 for what begins no text."""

_USUAL_LENGTH = 64

Keys = tuple[str | int, ...]
"""A place within a payload: keys of mappings and positions in lists, from the outside in."""


def dotted(keys: Keys) -> str:
    """A place as people read it: `items.2.name`; empty for the whole. Always printable."""
    return ".".join(str(key) for key in keys).encode("utf-8", "backslashreplace").decode()


def encode(payload: Any) -> bytes:
    """The bytes of `payload`.

    Raises:
        PayloadError: JSON cannot say it; `where` is the place within the payload.
    """
    try:
        return _encoded(payload, MAX_DEPTH)
    except _UnsayableError as fault:
        raise PayloadError(
            fault.message, where=dotted(tuple(reversed(fault.keys))) or None, hint=fault.hint
        ) from None


class _UnsayableError(Exception):
    """A fault on its way out of the payload; each level adds its key."""

    def __init__(self, message: str, hint: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.keys: list[str | int] = []


def _encoded(value: Any, depth: int) -> bytes:
    encoder = _ENCODERS.get(type(value))
    if encoder is None:
        encoder = _encoder_of_subclass(value)
    return encoder(value, depth)


def _encoder_of_subclass(value: Any) -> "Callable[[Any, int], bytes]":
    for base in (str, int, float, dict, list):
        if isinstance(value, base):
            return _ENCODERS[base]
    raise _UnsayableError(
        f"a {type(value).__name__} is nothing that JSON can say",
        hint="use text, numbers, true, false, null, lists and mappings",
    )


def _head(major: int, number: int) -> bytes:
    major <<= 5
    if number < 24:
        return bytes((major | number,))
    if number < 0x100:
        return bytes((major | 24, number))
    if number < 0x10000:
        return bytes((major | 25,)) + number.to_bytes(2, "big")
    if number < 0x100000000:
        return bytes((major | 26,)) + number.to_bytes(4, "big")
    return bytes((major | 27,)) + number.to_bytes(8, "big")


def _text(value: str, _depth: int = 0) -> bytes:
    try:
        data = value.encode()
    except UnicodeEncodeError:
        # Two surrogates in a row may be the halves of one character: join those, replace the rest.
        data = value.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace").encode()
    return _head(_TEXT, len(data)) + data


def _bool(value: bool, _depth: int) -> bytes:
    return b"\xf5" if value else b"\xf4"


def _null(_value: None, _depth: int) -> bytes:
    return b"\xf6"


def _integer(value: int, _depth: int) -> bytes:
    if 0 <= value <= SAFE_INTEGER:
        return _head(_UNSIGNED, value)
    if -SAFE_INTEGER <= value < 0:
        return _head(_NEGATIVE, -1 - value)
    raise _UnsayableError(
        "a whole number beyond ±(2^53-1) would not survive other readers of JSON",
        hint="write it as text",
    )


def _float(value: float, _depth: int) -> bytes:
    if not isfinite(value):
        raise _UnsayableError(
            f"{float(value)!r} is no number that JSON can say", hint="use null or text"
        )
    if value.is_integer() and abs(value) <= SAFE_INTEGER:
        return _integer(int(value), 0)
    return b"\xfb" + _FLOAT.pack(value)


def _array(value: list[Any] | tuple[Any, ...], depth: int) -> bytes:
    _check_depth(depth)
    parts = [_head(_ARRAY, len(value))]
    index = 0
    try:
        for index, item in enumerate(value):  # noqa: B007 (read when an item fails)
            parts.append(_encoded(item, depth - 1))
    except _UnsayableError as fault:
        fault.keys.append(index)
        raise
    return b"".join(parts)


def _map(value: dict[Any, Any], depth: int) -> bytes:
    _check_depth(depth)
    pairs: dict[bytes, bytes] = {}
    key: Any = None
    try:
        for key, item in value.items():
            pairs[_key(key, pairs)] = _encoded(item, depth - 1)
    except _UnsayableError as fault:
        fault.keys.append(key if isinstance(key, str) else repr(key))
        raise
    parts = [_head(_MAP, len(pairs))]
    for name in sorted(pairs):
        parts += (name, pairs[name])
    return b"".join(parts)


def _key(key: Any, pairs: dict[bytes, bytes]) -> bytes:
    if not isinstance(key, str):
        raise _UnsayableError(
            f"the key {key!r} is a {type(key).__name__}", hint="keys are text in JSON"
        )
    name = _usual_key(key) if len(key) < _USUAL_LENGTH else _text(key)
    if name in pairs:
        raise _UnsayableError(
            "this key equals another one once its lone surrogates are U+FFFD",
            hint="remove the unpaired surrogates from the keys",
        )
    return name


@lru_cache(maxsize=1024)
def _usual_key(key: str) -> bytes:
    """Payloads of a type have the same keys again and again."""
    return _text(key)


def _check_depth(depth: int) -> None:
    if depth == 0:
        raise _UnsayableError(
            f"lists and mappings lie more than {MAX_DEPTH} deep within each other",
            hint="flatten the value, or keep the inner part as text",
        )


_ENCODERS: dict[type, Callable[[Any, int], bytes]] = {
    str: _text,
    bool: _bool,
    type(None): _null,
    int: _integer,
    float: _float,
    dict: _map,
    list: _array,
    tuple: _array,
}


def decode(data: bytes) -> Any:
    """The payload of `data`, which must be exactly the bytes that `encode` gives for it.

    Raises:
        CorruptNodeError: the bytes are cut, not CBOR, or not in the one allowed form.
    """
    reader = _Reader(data)
    try:
        value = reader.value(MAX_DEPTH)
    except (IndexError, struct.error, UnicodeDecodeError) as error:
        raise _corrupt("the bytes are cut or no UTF-8") from error
    if reader.position != len(data):
        raise _corrupt("bytes follow the payload's end")
    return value


def is_text(data: bytes) -> bool:
    """Whether `data` is exactly what `encode` gives for some text."""
    width = _WIDTH_OF_TEXT_HEAD[data[0]] if data else 0
    size = len(data) - width
    if width == 1:
        fits = data[0] == _TEXT_0 + size
    elif width == 2:
        fits = 24 <= size == data[1]
    else:
        fits = width > 0 and size >= 0x100 and data.startswith(_head(_TEXT, size))
    if not fits:
        return False
    try:
        data[width:].decode()
    except UnicodeDecodeError:
        return False
    return True


class MappingDecoder:
    """`decode` for mappings that nearly always have the same keys: three times as fast."""

    def __init__(self, keys: Iterable[str]) -> None:
        names = sorted((_text(key), key) for key in keys)
        self._keys = tuple((encoded, len(encoded), key) for encoded, key in names)
        self._head = _head(_MAP, len(names))

    def decode(self, data: bytes) -> Any:
        """As `decode`."""
        if not data.startswith(self._head):
            return decode(data)
        at, reader = len(self._head), None
        found: dict[str, Any] = {}
        try:
            for encoded, length, key in self._keys:
                if not data.startswith(encoded, at):
                    return decode(data)
                at += length
                end = at + 1 + data[at] - _TEXT_0
                if at < end <= at + 24:
                    found[key] = data[at + 1 : end].decode()
                    at = end
                else:
                    reader = reader or _Reader(data)
                    reader.position = at
                    found[key] = reader.value(MAX_DEPTH - 1)
                    at = reader.position
        except (IndexError, struct.error, UnicodeDecodeError) as error:
            raise _corrupt("the bytes are cut or no UTF-8") from error
        if at != len(data):
            raise _corrupt("the bytes are cut, or more follow the payload's end")
        return found


def _corrupt(message: str) -> CorruptNodeError:
    return CorruptNodeError(
        f"these bytes are no payload: {message}", hint="restore the store from a copy"
    )


class _Reader:
    """Reads one item after the other, refusing what `encode` would never write."""

    __slots__ = ("data", "position")

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.position = 0

    def value(self, depth: int) -> Any:
        first = self.data[self.position]
        major = first >> 5
        if major == _TEXT:
            return self.text()
        if major == _MAP:
            return self.map(depth)
        if major == _ARRAY:
            return self.array(depth)
        if major in (_UNSIGNED, _NEGATIVE):
            return self.integer(major)
        self.position += 1
        if first in _SIMPLE:
            return _SIMPLE[first]
        if first == _DOUBLE:
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
        number = int.from_bytes(self.take(width), "big")
        if number < (24 if width == 1 else 1 << (4 * width)):
            raise _corrupt("a head is longer than needed")
        return number

    def take(self, length: int) -> bytes:
        end = self.position + length
        if end > len(self.data):
            raise _corrupt("the bytes are cut")
        part = self.data[self.position : end]
        self.position = end
        return part

    def text(self) -> str:
        short = self.data[self.position] - _TEXT_0
        if not 0 <= short < 24:
            return self.take(self.head(_TEXT)).decode()
        end = self.position + 1 + short  # most texts: worth saving two calls
        if end > len(self.data):
            raise _corrupt("the bytes are cut")
        part = self.data[self.position + 1 : end]
        self.position = end
        return part.decode()

    def integer(self, major: int) -> int:
        number = self.head(major)
        if number > SAFE_INTEGER - major:
            raise _corrupt("an integer beyond ±(2^53-1)")
        return number if major == _UNSIGNED else -1 - number

    def double(self) -> float:
        number: float = _FLOAT.unpack(self.take(8))[0]
        if not isfinite(number) or (number.is_integer() and abs(number) <= SAFE_INTEGER):
            raise _corrupt("a float that should not be one")
        return number

    def array(self, depth: int) -> list[Any]:
        self.check_depth(depth)
        return [self.value(depth - 1) for _ in range(self.head(_ARRAY))]

    def map(self, depth: int) -> dict[str, Any]:
        self.check_depth(depth)
        count, data, at = self.head(_MAP), self.data, self.position
        found: dict[str, Any] = {}
        before = b""
        for _ in range(count):  # short texts, which nearly all are, are read without a call
            end = at + 1 + data[at] - _TEXT_0
            if at < end <= at + 24:
                key = data[at + 1 : end].decode()
            else:
                key, end = self.text_at(at), self.position
            encoded = data[at:end]
            if encoded <= before:
                raise _corrupt("the keys of a mapping are not in order")
            before = encoded
            at = end + 1 + data[end] - _TEXT_0
            if end < at <= end + 24:
                found[key] = data[end + 1 : at].decode()
            else:
                self.position = end
                found[key] = self.value(depth - 1)
                at = self.position
        if at > len(data):
            raise _corrupt("the bytes are cut")
        self.position = at
        return found

    def text_at(self, position: int) -> str:
        self.position = position
        return self.text()

    def check_depth(self, depth: int) -> None:
        if depth == 0:
            raise _corrupt(f"more than {MAX_DEPTH} levels deep")


_SIMPLE: dict[int, Any] = {_FALSE: False, _TRUE: True, _NULL: None}
