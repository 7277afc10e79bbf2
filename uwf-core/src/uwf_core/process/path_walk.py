"""Open and read files whose path others can choose, safe against links that are in a folder or are
added to it, against files that never answer, and against files that never end.

A path is walked component by component from a descriptor of the folder, each component opened
with `O_NOFOLLOW` beneath its parent's descriptor. The kernel never follows a link for us: a link is
read and its target walked in the same way. So a link that is swapped in between two of our steps is
found as a link or not at all, and the file that is opened is the one that was checked.
"""

# Every command comes through here: pathlib is not imported for that.
# ruff: noqa: PTH100, PTH120

import errno
import os
import stat
from collections.abc import Callable, Iterable
from typing import NamedTuple, Self

ENTER = os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC | getattr(os, "O_PATH", os.O_RDONLY)
"""The flags to open a folder on the way."""
_LINKS = 40


class PathOutside(OSError):
    """A path, or a link on it, is outside the folder."""

    def __init__(self) -> None:
        super().__init__(errno.EXDEV, "it, or a link on its way, leads out of its folder")


class FileTooLarge(OSError):
    """A file is larger than its limit."""

    def __init__(self, most_bytes: int) -> None:
        super().__init__(errno.EFBIG, f"it is larger than {most_bytes:,} bytes")


class WalkedPath(NamedTuple):
    """A walked path.

    Attributes:
        folder: the descriptor of its folder.
        name: its name in the folder; "." is the folder itself.
        path: its path from the root; "." is the root.
    """

    folder: int
    name: str
    path: str


class PathWalk:
    """One path on its way down. As a context manager it closes its descriptors on leaving.

    Args:
        root: a descriptor of the folder; it stays the caller's.
        parts: the components of the path, from the root.
        roots: the folder's own absolute paths; an absolute link beneath one of them stays inside.
        entering: called with the path of each folder before it is entered; may raise.
        make: create missing folders.
    """

    def __init__(
        self,
        root: int,
        parts: Iterable[str],
        *,
        roots: tuple[str, ...] = (),
        entering: Callable[[str], None] | None = None,
        make: bool = False,
    ) -> None:
        self._left = list(parts)[::-1]
        self._roots = roots
        self._entering = entering
        self._make = make
        self._names: list[str] = []
        self._links = 0
        self._folders = [os.dup(root)]
        """The descriptors from the root on; `_names` are theirs."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        while self._folders:
            os.close(self._folders.pop())

    def end(self) -> WalkedPath:
        """Walk to the end.

        Raises:
            PathOutside: it is outside. OSError: it cannot be walked.
        """
        while self._left:
            name = self._left.pop()
            if name in ("", "."):
                continue
            if name == "..":
                self._up()
                continue
            if self._is_link(name):
                continue
            if not any(each not in ("", ".") for each in self._left):
                return WalkedPath(self._folders[-1], name, "/".join([*self._names, name]))
            self._down(name)
        return WalkedPath(self._folders[-1], ".", "/".join(self._names) or ".")

    def _up(self) -> None:
        if not self._names:
            raise PathOutside
        os.close(self._folders.pop())
        self._names.pop()

    def _down(self, name: str) -> None:
        if self._entering is not None:
            self._entering("/".join([*self._names, name]))
        folder = self._folders[-1]
        try:
            entered = os.open(name, ENTER, dir_fd=folder)
        except FileNotFoundError:
            if not self._make:
                raise
            os.mkdir(name, 0o777, dir_fd=folder)
            entered = os.open(name, ENTER, dir_fd=folder)
        self._folders.append(entered)
        self._names.append(name)

    def _is_link(self, name: str) -> bool:
        """Whether `name` is a link here; its target then becomes the rest of the path."""
        try:
            target = os.readlink(name, dir_fd=self._folders[-1])
        except OSError as fault:
            if fault.errno in (errno.EINVAL, errno.ENOENT):  # not a link, or it does not exist yet
                return False
            raise
        self._links += 1
        if self._links > _LINKS:
            raise OSError(errno.EMLINK, "too many symbolic links")
        parts = path_components(target, self._roots)
        if target.startswith("/"):
            while self._names:
                self._up()
        self._left += parts[::-1]
        return True


def path_components(path: str, roots: Iterable[str] = ()) -> list[str]:
    """The components of a path; of an absolute one, those from the root that it lies beneath.

    Raises:
        PathOutside: it is absolute and not beneath a root.
    """
    if not path.startswith("/"):
        return path.split("/")
    for root in roots:
        if path == root or path.startswith(root.rstrip("/") + "/"):
            return path[len(root) :].split("/")
    raise PathOutside


def open_regular(
    folder: int | None, name: str, *, follow: bool = False
) -> tuple[int, os.stat_result]:
    """The descriptor and status of a regular file in a folder (None: the current one); a link is an
    error, or followed.

    Raises:
        OSError: it cannot be opened, or is not a regular file.
    """
    # Without O_NONBLOCK a pipe would block until a process writes into it.
    flags = os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK
    descriptor = os.open(name, flags | (0 if follow else os.O_NOFOLLOW), dir_fd=folder)
    status = os.fstat(descriptor)
    if not stat.S_ISREG(status.st_mode):
        os.close(descriptor)
        if stat.S_ISDIR(status.st_mode):
            raise IsADirectoryError(errno.EISDIR, "it is a folder")
        raise OSError(errno.EINVAL, "it is not a regular file")
    return descriptor, status


ANYWHERE = "/"
"""The links of a file in the user's own home may lead everywhere."""
MOST_BYTES = 64_000_000
_CHUNK = 1 << 18


def read_regular(
    path: str, most_bytes: int = MOST_BYTES, *, within: str | None = None, cut: bool = False
) -> bytes:
    """Read a regular file. Every file whose path others can choose is read by this function.

    Args:
        path: its path; a relative one starts at `within`, else at the current folder.
        most_bytes: how many bytes it may have.
        within: the folder that no link on the path may leave. None for a path that a user named:
            if it is in a project (`project_root`), its links may not leave that.
        cut: of a larger file, return `most_bytes` and one more.

    Raises:
        PathOutside: it, or a link on the way, is outside of the folder.
        FileTooLarge: it is larger, and `cut` is False.
        OSError: it cannot be read, or is not a regular file.
    """
    try:
        root = project_root(path) if within is None else within
        data = _content(_opened(path, root), most_bytes + 1)
    except ValueError as error:
        raise OSError(errno.EINVAL, "no file can have this path") from error
    if len(data) > most_bytes and not cut:
        raise FileTooLarge(most_bytes)
    return data


def open_named(path: str) -> tuple[int, os.stat_result]:
    """The descriptor and status of a regular file that a user named, as `read_regular` opens it."""
    descriptor = _opened(path, project_root(path))
    return descriptor, os.fstat(descriptor)


def project_root(path: str, markers: Iterable[str] = (".git",)) -> str | None:
    """The folder of the project that a path is in: the nearest above it with one of the `markers`.

    One that only a link of another project leads to is not nearer than that.
    """
    found, folder = None, os.path.dirname(os.path.abspath(path))
    while True:
        if any(os.path.lexists(f"{folder}/{each}") for each in markers) and (
            found is None or not _is_beneath(found, folder)
        ):
            found = folder
        above = os.path.dirname(folder)
        if above == folder:
            return found
        folder = above


def _is_beneath(path: str, folder: str) -> bool:
    real = os.path.realpath(folder)
    return os.path.commonpath([real, os.path.realpath(path)]) == real


def _opened(path: str, root: str | None) -> int:
    if root is None or root == ANYWHERE:
        return open_regular(None, path, follow=True)[0]
    folder = os.open(root, ENTER & ~os.O_NOFOLLOW)
    try:
        roots = (os.path.abspath(root), os.path.realpath(root))
        with PathWalk(folder, path_components(path, roots), roots=roots) as walk:
            place = walk.end()
            return open_regular(place.folder, place.name)[0]
    finally:
        os.close(folder)


def _content(descriptor: int, most_bytes: int) -> bytes:
    parts = []
    try:
        while most_bytes and (part := os.read(descriptor, min(most_bytes, _CHUNK))):
            parts.append(part)
            most_bytes -= len(part)
    finally:
        os.close(descriptor)
    return b"".join(parts)
