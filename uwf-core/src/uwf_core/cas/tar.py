"""The one form of tar that bundles have: plain files with GNU headers, nothing else.

An entry's header must be byte for byte the one that we write for its name, size and time (ocas ends
the checksum with two NULs in place of one and a space). So there
are no links, devices, folders, long names, owners or extensions to be careful with, and no path
but those that the format knows.
"""

import re
from typing import BinaryIO, NamedTuple

from uwf_core.errors import BundleError

BLOCK = 512
END = bytes(2 * BLOCK)
"""What follows the last entry."""

MOST_SECONDS = 8**11 - 1
"""The latest time that a header can say."""

_NAME = re.compile(r"[A-Za-z0-9._/-]{1,99}")
_OCTAL = re.compile(rb"[0-7]{11}\0")


class TarEntry(NamedTuple):
    """A file in the archive: where its content begins, its length, its time in s since 1970."""

    name: str
    offset: int
    size: int
    mtime: int


def header(name: str, size: int, mtime: int) -> bytes:
    """The 512 bytes before a file: mode 0644, owner 0, type 0, GNU magic.

    Raises:
        BundleError: the time or the size is more than a header can say.
    """
    if not 0 <= mtime <= MOST_SECONDS or not 0 <= size <= MOST_SECONDS:
        raise BundleError(f"the time or size of {name} is too large for an archive")
    parts = (
        name.encode("ascii").ljust(100, b"\0"),
        b"0000644\0",
        b"0000000\0" * 2,
        b"%011o\0" % size,
        b"%011o\0" % mtime,
        b" " * 8,
        b"0",
        bytes(100),
        b"ustar  \0",
    )
    block = b"".join(parts).ljust(BLOCK, b"\0")
    return block[:148] + b"%06o\0 " % sum(block) + block[156:]


def _with_space(block: bytes) -> bytes:
    """A header with the checksum's end as we write it."""
    return block[:154] + b"\0 " + block[156:] if block[154:156] == b"\0\0" else block


def padding(size: int) -> bytes:
    """What fills the last block of a file."""
    return bytes(-size % BLOCK)


class Reader:
    """Reads the entries of an archive in their order.

    Args:
        file: open for reading, seekable.
        size: its length.
    """

    def __init__(self, file: BinaryIO, size: int) -> None:
        self._file = file
        self._size = size
        self._offset = 0

    def next(self) -> TarEntry | None:
        """The next entry; None at the end of the archive, which is the end of the file as well.

        Raises:
            BundleError: the entry is invalid or truncated.
        """
        block = self.read(self._offset, BLOCK)
        if not any(block):
            self._check_end()
            return None
        entry = self._entry(block)
        if _with_space(block) != header(entry.name, entry.size, entry.mtime):
            raise BundleError(
                f"the entry {entry.name} is not a plain file of a bundle",
                hint="it is a link, a folder or a device, or its header was changed",
            )
        end = entry.offset + entry.size
        self._offset = end + len(padding(entry.size))
        if self._offset > self._size:
            raise BundleError(f"the bundle is truncated within {entry.name}", hint="fetch it again")
        if any(self.read(end, self._offset - end)):
            raise BundleError(f"unexpected data after {entry.name}")
        return entry

    def read(self, offset: int, size: int) -> bytes:
        """Bytes of the archive.

        Raises:
            BundleError: it is truncated.
        """
        self._file.seek(offset)
        data = self._file.read(size)
        if len(data) < size:
            raise BundleError("the bundle is truncated", hint="fetch it again")
        return data

    def _check_end(self) -> None:
        rest = self._size - self._offset
        if rest != len(END) or any(self.read(self._offset, rest)):
            raise BundleError("the bundle has data after its archive")

    def _entry(self, block: bytes) -> TarEntry:
        name = block[:100].partition(b"\0")[0].decode("ascii", "replace")
        size, mtime = block[124:136], block[136:148]
        if not (_NAME.fullmatch(name) and _OCTAL.fullmatch(size) and _OCTAL.fullmatch(mtime)):
            raise BundleError(
                "this is not a bundle: it is not an archive of plain files",
                hint="create a bundle with `uwf thread export`",
            )
        return TarEntry(name, self._offset + BLOCK, int(size[:11], 8), int(mtime[:11], 8))
