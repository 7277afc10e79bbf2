"""A task out of a tar archive: plain files and folders alone, within bounds.

Nothing is left to `tarfile`'s own extraction: each member is looked at and written here. Refused,
before anything of it is written: absolute paths and `..`, links, devices, pipes, sparse files, a
name that comes twice (in any case of letters), and more bytes or members than a task can have.
"""

import bz2
import gzip
import io
import os
import tarfile
import unicodedata
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, Final, cast

from uwf_core.api import open_regular
from uwf_eval.task.tree import TreeError, make_private, remove_tree

MAX_BYTES: Final = 500_000_000
"""What an archive may hold, unpacked, headers included."""
MAX_MEMBERS: Final = 50_000
_MAX_READ = 1 << 20
"""The most that is read at once: a header that claims more would fill the memory."""
_CHUNK = 1 << 16
_OPENERS: Mapping[bytes, Callable[..., Any]] = {b"\x1f\x8b": gzip.open, b"BZ": bz2.open}
_NOT_HERE = {b"\xfd7zXZ": "xz", b"\x28\xb5\x2f\xfd": "zstd", b"PK\x03\x04": "zip"}


class ArchiveError(TreeError):
    """An archive that does not contain a task, or would do harm."""

    code = "archive"


def unpack(archive: Path, target: Path) -> None:
    """Unpack an archive into a new folder; if it is rejected, remove what was written.

    Raises:
        ArchiveError: it is not a tar archive, or contains what is rejected.
        OSError: it cannot be read, or the folder not written.
    """
    try:
        with _opened(archive) as stream:
            _unpack(stream, archive, target)
    except (tarfile.TarError, EOFError, gzip.BadGzipFile, UnicodeError) as error:
        remove_tree(target)
        raise ArchiveError(
            f"not a complete tar archive: {error}", where=str(archive), hint="create it again"
        ) from error
    except (ArchiveError, OSError) as error:
        remove_tree(target)
        if isinstance(error, OSError) and error.errno is None:  # bz2 and gzip say damage so
            raise ArchiveError(f"the archive is damaged: {error}", where=str(archive)) from error
        raise


@contextmanager
def _opened(archive: Path) -> Iterator[IO[bytes]]:
    with open(open_regular(None, str(archive), follow=True)[0], "rb") as file:
        head = file.read(6)
        file.seek(0)
        for magic, name in _NOT_HERE.items():
            if head.startswith(magic):
                raise ArchiveError(
                    f"{name} archives are not supported",
                    where=str(archive),
                    hint="use `tar -czf`; .tar, .tar.gz and .tar.bz2 are supported",
                )
        for magic, opener in _OPENERS.items():
            if head.startswith(magic):
                with opener(file, "rb") as inner:
                    yield cast(IO[bytes], _Bounded(cast(IO[bytes], inner), archive))
                return
        yield cast(IO[bytes], _Bounded(file, archive))


class _Bounded(io.RawIOBase):
    """A stream that refuses to give more than an archive may hold, or much of it at once."""

    def __init__(self, inner: IO[bytes], archive: Path) -> None:
        self._inner = inner
        self._archive = archive
        self._left = MAX_BYTES

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        """At most `size` bytes.

        Raises:
            ArchiveError: that would be too much.
        """
        if not 0 <= size <= _MAX_READ:
            raise ArchiveError(
                f"a header of the archive claims {size:,} bytes", where=str(self._archive),
                hint="a task's archive contains plain files; create it with `tar -czf`",
            )  # fmt: skip
        data = self._inner.read(size)
        self._left -= len(data)
        if self._left < 0:
            raise ArchiveError(
                f"the archive contains more than {MAX_BYTES:,} bytes", where=str(self._archive),
                hint="let the setup commands of the task download or create large files",
            )  # fmt: skip
        return data


def _unpack(stream: IO[bytes], archive: Path, target: Path) -> None:
    make_private(target)
    seen: dict[str, str] = {}
    with tarfile.open(fileobj=stream, mode="r|", bufsize=_CHUNK) as tar:
        for count, member in enumerate(tar, 1):
            if count > MAX_MEMBERS:
                raise ArchiveError(f"more than {MAX_MEMBERS:,} members", where=str(archive))
            name = _checked(member, archive)
            if not name:
                continue
            key = unicodedata.normalize("NFC", name).casefold()
            if key in seen and not (member.isdir() and seen[key] == name):
                raise _refused(member, archive, f"comes twice (as {seen[key]!r})")
            seen[key] = name
            _write(tar, member, target / name, archive)


def _checked(member: tarfile.TarInfo, archive: Path) -> str:
    """The member's path below the target, "" for the target itself.

    Raises:
        ArchiveError: it may not be there.
    """
    if member.issym() or member.islnk():
        raise _refused(member, archive, "is a link")
    if not (member.isreg() or member.isdir()) or member.issparse():
        raise _refused(member, archive, "is not a plain file or folder")
    name = member.name
    parts = [part for part in name.split("/") if part not in ("", ".")]
    if name.startswith("/") or ".." in parts or "\\" in name:
        raise _refused(member, archive, "points outside the archive")
    if any(ord(letter) < 32 or letter == "\x7f" for letter in name):
        raise _refused(member, archive, "has control characters in its name")
    name.encode()
    return "/".join(parts)


def _refused(member: tarfile.TarInfo, archive: Path, why: str) -> ArchiveError:
    return ArchiveError(
        f"{member.name!r} {why}; nothing was unpacked",
        where=str(archive),
        hint="a task's archive contains plain files and folders with relative paths",
    )


def _write(tar: tarfile.TarFile, member: tarfile.TarInfo, path: Path, archive: Path) -> None:
    try:
        if member.isdir():
            path.mkdir(parents=True, exist_ok=True)
            return
        path.parent.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
    except (FileExistsError, NotADirectoryError) as error:
        raise _refused(member, archive, "is both a file and a folder") from error
    source = tar.extractfile(member)
    assert source is not None, "a plain file"
    with os.fdopen(descriptor, "wb") as file:
        while data := source.read(_CHUNK):
            file.write(data)
    path.chmod(0o755 if member.mode & 0o100 else 0o644)
