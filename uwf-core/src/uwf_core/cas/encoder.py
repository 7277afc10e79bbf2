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
_TEXT_HEADS = (
    *(bytes((TEXT_0 | size,)) for size in range(24)),
    *(bytes((TEXT_0 | 24, size)) for size in range(24, 256)),
)
_EMPTY: dict[type, bytes] = {
    type(None): bytes((NULL,)),
    bool: bytes((FALSE,)),
    int: bytes((UNSIGNED << 5,)),
    list: bytes((ARRAY << 5,)),
    dict: bytes((MAP << 5,)),
}
_NULL_BYTES, _TRUE_BYTES, _FALSE_BYTES = bytes((NULL,)), bytes((TRUE,)), bytes((FALSE,))
_ONLY_TEXT = {str}
_USUAL_ORDERS, _MANY_KEYS, _LONG = 256, 64, 1024


class UnsayableError(Exception):
    """An error on its way out of the payload; each level adds its key."""

    def __init__(self, message: str, hint: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.keys: list[str | int] = []


_REFERENCE = 13
_REFERENCE_HEAD = _TEXT_HEADS[_REFERENCE]


class Encoder:
    """Writes one payload into `parts`; `is_plain` while it reads back as it is, types included.

    Texts, null and small numbers within mappings, which most values are, cost no separate call.
    """

    __slots__ = ("is_plain", "parts")

    def __init__(self) -> None:
        self.is_plain = True
        self.parts: list[bytes] = []

    def add(self, value: Any, depth: int) -> None:
        """Write a value within which `depth` more levels may lie.

        Raises:
            UnsayableError: it is not JSON.
        """
        kind = type(value)
        if kind is str:
            self.parts += (self._text(value),)
        elif value is None:
            self.parts += (_NULL_BYTES,)
        elif kind is bool:
            self.parts += (_TRUE_BYTES if value else _FALSE_BYTES,)
        elif kind is int:
            self.parts += (_integer(value),)
        elif kind is dict:
            self._map(value, depth)
        elif kind is list:
            self._array(value, depth)
        elif kind is float:
            self.parts += (self._float(value),)
        else:
            self._other(value, depth)

    def _other(self, value: Any, depth: int) -> None:
        self.is_plain = False
        if isinstance(value, list | tuple):
            return self._array(list(value), depth)
        for base in _BASES:
            if isinstance(value, base):
                return self.add(base(value), depth)
        raise UnsayableError(
            f"a {type(value).__name__} is not a JSON value",
            hint="use text, numbers, true, false, null, lists and mappings",
        )

    def _float(self, value: float) -> bytes:
        if not isfinite(value):
            raise UnsayableError(f"{value!r} is not a JSON number", hint="use null or text")
        if value.is_integer() and abs(value) <= SAFE_INTEGER:
            self.is_plain = False
            return _integer(int(value))
        return b"\xfb" + FLOAT.pack(value)

    def _array(self, value: list[Any], depth: int) -> None:
        if depth == 0:
            raise _too_deep()
        self.parts += (head(ARRAY, len(value)),)
        index = 0
        try:
            for item in value:
                if type(item) is str and item.isascii() and len(item) == _REFERENCE:
                    self.parts += (_REFERENCE_HEAD, item.encode())  # as in most lists
                else:
                    self.add(item, depth - 1)
                index += 1
        except UnsayableError as fault:
            fault.keys.append(index)
            raise

    def _map(self, value: dict[Any, Any], depth: int) -> None:
        if depth == 0:
            raise _too_deep()
        parts, keys = self.parts, tuple(value)
        try:
            start, names = _ORDERS[keys] if {*map(type, keys)} == _ONLY_TEXT else self._order(keys)
        except KeyError:
            start, names = self._order(keys)
        parts += (start,)
        key: Any = None
        try:
            for name, key in names:
                item = value[key]
                kind = type(item)
                if kind is str:
                    try:
                        data = item.encode()
                    except UnicodeEncodeError:
                        parts += (name, self._text(item))
                    else:
                        size = len(data)
                        parts += (name, _TEXT_HEADS[size] if size < 256 else head(TEXT, size), data)
                elif kind in _EMPTY and not item and depth > 1:
                    parts += (name, _EMPTY[kind])
                elif kind is int:
                    parts += (name, _integer(item))
                else:
                    parts += (name,)
                    self.add(item, depth - 1)
        except UnsayableError as fault:
            fault.keys.append(key)
            raise

    def _order(self, keys: tuple[Any, ...]) -> "_Order":
        """How a mapping of these keys begins, and the keys in order, each as it is written."""
        was_plain, self.is_plain = self.is_plain, True
        names: dict[bytes, Any] = {}
        for key in keys:
            name = self._key(key)
            if name in names:
                raise _at(
                    key,
                    "two of its keys are equal once their lone surrogates are U+FFFD",
                    "remove the unpaired surrogates from the keys",
                )
            names[name] = key
        order = head(MAP, len(names)), tuple(sorted(names.items()))
        if self.is_plain and len(keys) <= _MANY_KEYS and sum(map(len, keys)) < _LONG:
            if len(_ORDERS) >= _USUAL_ORDERS:
                _ORDERS.clear()
            _ORDERS[keys] = order
        self.is_plain &= was_plain
        return order

    def _key(self, key: Any) -> bytes:
        if not isinstance(key, str):
            what = f"the key {key!r} is a {type(key).__name__}"
            raise _at(repr(key), what, "keys must be text in JSON")
        self.is_plain &= type(key) is str
        return self._text(key)

    def _text(self, value: str) -> bytes:
        data, is_plain = text_bytes(value)
        self.is_plain &= is_plain
        return data


_Order = tuple[bytes, tuple[tuple[bytes, Any], ...]]
_ORDERS: dict[tuple[str, ...], _Order] = {}
"""Payloads of a type have the same keys again and again."""


def text_bytes(text: str) -> tuple[bytes, bool]:
    """The bytes of a text, and whether they read back as it is."""
    is_plain = True
    try:
        data = text.encode()
    except UnicodeEncodeError:
        # Two surrogates in a row may be the halves of one character: join those, replace the rest.
        joined = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
        data, is_plain = joined.encode(), False
    size = len(data)
    return (_TEXT_HEADS[size] if size < 256 else head(TEXT, size)) + data, is_plain


def head(major: int, number: int) -> bytes:
    """The shortest head of an item: its major type and its number or length."""
    major <<= 5
    if number < 24:
        return bytes((major | number,))
    if number < 0x100:
        return bytes((major | 24, number))
    if number < 0x10000:
        return bytes((major | 25, number >> 8, number & 0xFF))
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


def _at(key: str, message: str, hint: str) -> UnsayableError:
    fault = UnsayableError(message, hint)
    fault.keys.append(key)
    return fault


def _too_deep() -> UnsayableError:
    return UnsayableError(
        f"lists and mappings are nested more than {MAX_DEPTH} levels deep",
        hint="flatten the value, or keep the inner part as text",
    )
