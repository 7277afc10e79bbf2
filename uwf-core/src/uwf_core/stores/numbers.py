"""References as the 64-bit integers that SQLite keeps: 8 bytes instead of 13, and sorted alike."""

import struct
from collections.abc import Iterable
from functools import lru_cache

from uwf_core.ids import B32, Ref, number_of

_HALF = 1 << 63


def range_of(prefix: str) -> tuple[int, int] | None:
    """The lowest and highest number of references that begin with `prefix`; None: there is none."""
    low = number_of(prefix.ljust(Ref.LENGTH, B32[0]))
    if low is None:
        return None
    free = 5 * (Ref.LENGTH - len(prefix))
    return low, min(low + (1 << free) - 1, _HALF - 1)


def packed(numbers: Iterable[int]) -> bytes:
    """Numbers as 8 bytes each, most significant first."""
    found = tuple(numbers)
    return struct.pack(f">{len(found)}q", *found)


def unpacked(data: bytes) -> tuple[int, ...]:
    """The inverse of `packed`.

    Raises:
        struct.error: the length is none that `packed` gives.
    """
    return _form(len(data)).unpack(data)


@lru_cache(256)
def _form(size: int) -> struct.Struct:
    return struct.Struct(f">{size // 8}q")
