"""Open files beneath a folder, safe against links that are in it or are added to it.

A path is walked component by component from a descriptor of the folder, each component opened
with `O_NOFOLLOW` beneath its parent's descriptor. The kernel never follows a link for us: a link is
read and its target walked in the same way. So a link that is swapped in between two of our steps is
found as a link or not at all, and the file that is opened is the one that was checked.
"""

import errno
import os
import stat
from collections.abc import Callable, Iterable
from typing import Self

from uwf_core.named_tuple import NamedTuple

ENTER = os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC | getattr(os, "O_PATH", os.O_RDONLY)
"""The flags to open a folder on the way."""
_LINKS = 40


class PathOutside(Exception):
    """A path, or a link on it, is outside the folder."""


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


def open_regular(folder: int, name: str, *, follow: bool = False) -> tuple[int, os.stat_result]:
    """The descriptor and status of a regular file in a folder; a link is an error, or followed.

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


def read_beneath(root: str, path: str, most_bytes: int) -> bytes:
    """Read a regular file by its path from the folder `root`: at most so many bytes and one more.

    Raises:
        PathOutside: it, or a link on the way, is outside of the folder.
        OSError: it cannot be read, or is not a regular file.
    """
    folder = os.open(root, ENTER & ~os.O_NOFOLLOW)
    try:
        roots = (root, os.path.realpath(root))
        with PathWalk(folder, path_components(path, roots), roots=roots) as walk:
            place = walk.end()
            descriptor, _ = open_regular(place.folder, place.name)
            with open(descriptor, "rb") as file:
                return file.read(most_bytes + 1)
    finally:
        os.close(folder)
