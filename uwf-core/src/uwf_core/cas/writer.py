"""The writing half of the codec: one payload as CBOR, in the one allowed form."""

import struct
from math import isfinite
from typing import Any

SAFE_INTEGER = 2**53 - 1
"""The largest whole number that every JSON reader keeps exactly."""

MAX_DEPTH = 64
"""How many lists and mappings may lie within each other."""

UNSIGNED, NEGATIVE, TEXT, ARRAY, MAP = 0, 1, 3, 4, 5
FALSE, TRUE, NULL, DOUBLE = 0xF4, 0xF5, 0xF6, 0xFB
TEXT_0 = TEXT << 5
FLOAT = struct.Struct(">d")

_BASES: tuple[type, ...] = (str, int, float, dict)
_USUAL_LENGTH, _USUAL_KEYS = 64, 1024
_SHORT_TEXT = tuple(bytes((TEXT_0 + size,)) for size in range(24))
_NULL_BYTES, _TRUE_BYTES, _FALSE_BYTES = bytes((NULL,)), bytes((TRUE,)), bytes((FALSE,))


class UnsayableError(Exception):
    """An error on its way out of the payload; each level adds its key."""

    def __init__(self, message: str, hint: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.keys: list[str | int] = []


class Writer:
    """Writes one payload; `is_plain` as long as it reads back as it is, types included.

    Texts and null within mappings, which most values are, cost no separate call.
    """

    __slots__ = ("is_plain",)

    def __init__(self) -> None:
        self.is_plain = True

    def value(self, value: Any, depth: int) -> bytes:
        """The bytes of a value within which `depth` more levels may lie.

        Raises:
            UnsayableError: it is not JSON.
        """
        kind = type(value)
        if kind is str:
            return self._text(value)
        if value is None:
            return _NULL_BYTES
        if kind is bool:
            return _TRUE_BYTES if value else _FALSE_BYTES
        if kind is int:
            return _integer(value)
        if kind is dict:
            return self._map(value, depth)
        if kind is list:
            return self._array(value, depth)
        if kind is float:
            return self._float(value)
        return self._other(value, depth)

    def _other(self, value: Any, depth: int) -> bytes:
        self.is_plain = False
        if isinstance(value, list | tuple):
            return self._array(list(value), depth)
        for base in _BASES:
            if isinstance(value, base):
                return self.value(base(value), depth)
        raise UnsayableError(
            f"a {type(value).__name__} is not a JSON value",
            hint="use text, numbers, true, false, null, lists and mappings",
        )

    def _text(self, value: str) -> bytes:
        try:
            data = value.encode()
        except UnicodeEncodeError:
            # Two surrogates in a row may be the halves of one character: join those, replace the
            # rest.
            self.is_plain = False
            joined = value.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
            data = joined.encode()
        return head(TEXT, len(data)) + data

    def _float(self, value: float) -> bytes:
        if not isfinite(value):
            raise UnsayableError(f"{value!r} is not a JSON number", hint="use null or text")
        if value.is_integer() and abs(value) <= SAFE_INTEGER:
            self.is_plain = False
            return _integer(int(value))
        return b"\xfb" + FLOAT.pack(value)

    def _array(self, value: list[Any], depth: int) -> bytes:
        _check_depth(depth)
        parts = [head(ARRAY, len(value))]
        try:
            for item in value:
                parts.append(self.value(item, depth - 1))
        except UnsayableError as fault:
            fault.keys.append(len(parts) - 1)
            raise
        return b"".join(parts)

    def _map(self, value: dict[Any, Any], depth: int) -> bytes:
        _check_depth(depth)
        pairs: dict[bytes, bytes] = {}
        key: Any = None
        try:
            for key, item in value.items():
                try:
                    name = _KEYS[key] if type(key) is str else self._key(key)
                except KeyError:
                    name = self._key(key)
                if type(item) is str and item.isascii():
                    size = len(item)
                    start = _SHORT_TEXT[size] if size < 24 else head(TEXT, size)
                    pairs[name] = start + item.encode()
                elif item is None:
                    pairs[name] = _NULL_BYTES
                else:
                    pairs[name] = self.value(item, depth - 1)
            if len(pairs) != len(value):
                raise UnsayableError(
                    "two of its keys are equal once their lone surrogates are U+FFFD",
                    hint="remove the unpaired surrogates from the keys",
                )
        except UnsayableError as fault:
            fault.keys.append(key if isinstance(key, str) else repr(key))
            raise
        return head(MAP, len(pairs)) + b"".join(map(b"".join, sorted(pairs.items())))

    def _key(self, key: Any) -> bytes:
        if not isinstance(key, str):
            raise UnsayableError(
                f"the key {key!r} is a {type(key).__name__}", hint="keys must be text in JSON"
            )
        was_plain = self.is_plain
        name = self._text(key)
        if type(key) is not str:
            self.is_plain = False
        elif self.is_plain == was_plain and len(_KEYS) < _USUAL_KEYS and len(key) < _USUAL_LENGTH:
            _KEYS[key] = name
        return name


_KEYS: dict[str, bytes] = {}
"""Payloads of a type have the same keys again and again."""


def head(major: int, number: int) -> bytes:
    """The shortest head of an item: its major type and its number or length."""
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


def _integer(value: int) -> bytes:
    if 0 <= value <= SAFE_INTEGER:
        return head(UNSIGNED, value)
    if -SAFE_INTEGER <= value < 0:
        return head(NEGATIVE, -1 - value)
    raise UnsayableError(
        "a whole number beyond ±(2^53-1) is not exact in JSON",
        hint="write it as text",
    )


def _check_depth(depth: int) -> None:
    if depth == 0:
        raise UnsayableError(
            f"lists and mappings are nested more than {MAX_DEPTH} levels deep",
            hint="flatten the value, or keep the inner part as text",
        )
