"""Identifiers: node references (`Ref`), thread ids (`ThreadId`) and their alphabet (`B32`).

Everything here is plain text with a type, so that a reference is never mistaken for a name.
"""

import os
from functools import lru_cache
from typing import Self

from uwf_core.errors import UnknownIdError

B32 = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
"""Crockford's base-32 alphabet, upper case: the letters I, L, O and U do not occur."""

_ALPHABET = frozenset(B32)
_VALUE = {letter: value for value, letter in enumerate(B32)}


_PAIRS = [high + low for high in B32 for low in B32]


def b32(number: int, length: int) -> str:
    """`number` in base 32, most significant quintet first, zero-padded to `length` characters."""
    return "".join(B32[(number >> shift) & 31] for shift in range(5 * (length - 1), -1, -5))


class Ref(str):
    """A node's reference: 13 characters of `B32`, the 64 bits of an XXH64."""

    __slots__ = ()
    LENGTH = 13

    @classmethod
    def matches(cls, text: str) -> bool:
        """Whether `text` has the form of a reference (it need not exist anywhere)."""
        return len(text) == cls.LENGTH and _ALPHABET.issuperset(text)

    @classmethod
    def parse(cls, text: str) -> Self:
        """`text` as a reference.

        Raises:
            UnknownIdError: it does not have the form of one.
        """
        if not cls.matches(text):
            raise UnknownIdError(
                f"{text!r} is not a node reference",
                hint=f"a reference is {cls.LENGTH} characters out of {B32}",
            )
        return cls(text)

    @classmethod
    def of_hash(cls, digest: int) -> Self:
        """The reference of a 64-bit hash, taken as one unsigned integer."""
        return cls(ref_text(digest))


def ref_text(digest: int) -> str:
    """`b32(digest, 13)` for a number of 64 bits, five times as fast, for stores."""
    low, middle, pairs = digest & 0x3FFFFFFF, digest >> 30 & 0xFFFFF, _PAIRS
    return (  # numbers of at most 30 bits are the quickest
        f"{B32[digest >> 60]}{pairs[digest >> 50 & 1023]}"
        f"{pairs[middle >> 10]}{pairs[middle & 1023]}"
        f"{pairs[low >> 20]}{pairs[low >> 10 & 1023]}{pairs[low & 1023]}"
    )


_HALF = 1 << 63
_LIMIT = 1 << 64
_TO_PYTHON = bytes(
    b"0123456789abcdefghijklmnopqrstuv"[B32.index(letter)] if letter in B32 else ord("!")
    for letter in map(chr, range(256))
)
"""Maps a reference to the digits of `int(…, 32)`, and other characters to an invalid digit."""


def number_of(ref: str) -> int | None:
    """A reference as a signed 64-bit integer: its hash less 2^63, so that numbers sort as their
    references do. None if `ref` has not the form of one, or more than 64 bits.
    """
    try:
        number = int(ref.encode().translate(_TO_PYTHON), 32)
    except ValueError:
        return None
    return number - _HALF if number < _LIMIT and len(ref) == Ref.LENGTH else None


known_number = lru_cache(4096)(number_of)
"""`number_of` with a memory: what a node refers to was stored or read a moment ago."""


def ref_of_number(number: int) -> str:
    """The reference of a number: the inverse of `number_of`."""
    return ref_text(number + _HALF)


class ThreadId(str):
    """A thread's id: a ULID, 26 characters of `B32` (48 bits of ms since 1970, 80 random bits)."""

    __slots__ = ()
    LENGTH = 26

    @classmethod
    def matches(cls, text: str) -> bool:
        """Whether `text` has the form of a thread id."""
        return len(text) == cls.LENGTH and _ALPHABET.issuperset(text) and text[0] <= "7"

    @classmethod
    def parse(cls, text: str) -> Self:
        """`text` as a thread id.

        Raises:
            UnknownIdError: it does not have the form of one.
        """
        if not cls.matches(text):
            raise UnknownIdError(
                f"{text!r} is not a thread id", hint="a thread id is a ULID of 26 characters"
            )
        return cls(text)

    @classmethod
    def new(cls, now_ms: int) -> Self:
        """A fresh id whose time part is `now_ms` (ms since 1970)."""
        return cls(b32((now_ms << 80) | int.from_bytes(os.urandom(10), "big"), cls.LENGTH))

    @classmethod
    def after(cls, before: str, now_ms: int) -> Self:
        """A fresh id that sorts after the id `before`, whose time part is `now_ms`, or that of
        `before` if it is later.
        """
        fresh = cls.new(max(now_ms, cls(before).created_ms))
        if fresh > before:
            return fresh
        # of the same ms: the next id, plus a random number below 2^64
        number = _number(before) + 1 + int.from_bytes(os.urandom(8), "big")
        return cls(b32(number, cls.LENGTH))

    @classmethod
    def first_of(cls, at_ms: int) -> Self:
        """The lowest id that could be made at `at_ms`: ids made before it sort below it."""
        return cls(b32(at_ms << 80, cls.LENGTH))

    @property
    def created_ms(self) -> int:
        """When the id was made, in ms since 1970."""
        return _number(self[:10])


class ThreadIds:
    """Fresh ids, each of which sorts after those before it that were made at the same time."""

    def __init__(self) -> None:
        self._last: ThreadId | None = None
        self._made_ms = -1

    def new(self, now_ms: int) -> ThreadId:
        """A fresh id whose time part is `now_ms` (ms since 1970), or the next ms if the last id is
        the highest of it.
        """
        last, fresh = self._last, ThreadId.new(now_ms)
        if last is not None and fresh < last and self._made_ms == now_ms:
            fresh = ThreadId.after(last, now_ms)
        self._last, self._made_ms = fresh, now_ms
        return fresh


def _number(text: str) -> int:
    """The inverse of `b32`."""
    number = 0
    for letter in text:
        number = number << 5 | _VALUE[letter]
    return number
