"""Packs: many objects of git in two files, as git's `gitformat-pack` describes them."""

import os
import struct
import zlib
from collections.abc import Iterator, Sequence
from hashlib import sha256
from itertools import accumulate
from typing import Final

from uwf_core.named_tuple import NamedTuple

FAST: Final = 1
"""How well to compress: git does the same for an object alone."""
_KINDS: Final = {b"commit": 1, b"tree": 2, b"blob": 3}
_PACK: Final = b"PACK" + struct.pack(">I", 2)
_INDEX: Final = b"\xfftOc" + struct.pack(">I", 2)
_FANOUT: Final = 256
_NAME_BYTES: Final = 32
_LARGE: Final = 1 << 31


class _Entry(NamedTuple):
    """Where an object is in a pack, and the checksum of its bytes there."""

    name: bytes
    crc: int
    offset: int


def write_pack(folder: str, objects: Sequence[str]) -> tuple[str, str]:
    """Write a pack and its index into a folder.

    Args:
        folder: the folder.
        objects: the paths in it of objects, each in a file as git stores one alone: `ab/cdef…`.

    Returns:
        The names of both files, `pack-….pack` and `pack-….idx`.

    Raises:
        OSError: a file cannot be read or written.
    """
    draft, entries, digest = os.path.join(folder, "pack.new"), list[_Entry](), sha256()
    with open(draft, "wb") as file:

        def write(data: bytes) -> None:
            digest.update(data)
            file.write(data)

        write(_PACK + struct.pack(">I", len(objects)))
        for path in sorted(objects):
            data = _packed(os.path.join(folder, path))
            entries.append(
                _Entry(bytes.fromhex(path.replace("/", "")), zlib.crc32(data), file.tell())
            )
            write(data)
        checksum = digest.digest()
        file.write(checksum)
    name = f"pack-{checksum.hex()}"
    os.rename(draft, os.path.join(folder, f"{name}.pack"))
    with open(os.path.join(folder, f"{name}.idx"), "wb") as file:
        file.write(_index(entries, checksum))
    return f"{name}.pack", f"{name}.idx"


def names_in(index: str) -> Iterator[str]:
    """The names of the objects of a pack.

    Args:
        index: the path of its index.

    Raises:
        OSError, ValueError: it cannot be read, or is damaged.
    """
    with open(index, "rb") as file:
        head = file.read(len(_INDEX) + 4 * _FANOUT)
        if not head.startswith(_INDEX):
            raise ValueError(f"{index} is not the index of a pack")
        [count] = struct.unpack(">I", head[-4:])
        for _ in range(count):
            yield file.read(_NAME_BYTES).hex()


def _packed(path: str) -> bytes:
    """The object in a file as a pack has it."""
    with open(path, "rb") as file:
        head, _, content = zlib.decompress(file.read()).partition(b"\0")
    kind, _, _ = head.partition(b" ")
    size = len(content)
    begin, size = [_KINDS[kind] << 4 | size & 15], size >> 4
    while size:  # 4 bits of the size beside the kind, then 7 in each further byte
        begin[-1] |= 128
        begin.append(size & 127)
        size >>= 7
    return bytes(begin) + zlib.compress(content, FAST)


def _index(entries: Sequence[_Entry], checksum: bytes) -> bytes:
    counts = [0] * _FANOUT
    for each in entries:
        counts[each.name[0]] += 1
    assert all(each.offset < _LARGE for each in entries)
    parts = (
        _INDEX,
        struct.pack(f">{_FANOUT}I", *accumulate(counts)),
        *(each.name for each in entries),
        struct.pack(f">{len(entries)}I", *(each.crc for each in entries)),
        struct.pack(f">{len(entries)}I", *(each.offset for each in entries)),
        checksum,
    )
    data = b"".join(parts)
    return data + sha256(data).digest()
