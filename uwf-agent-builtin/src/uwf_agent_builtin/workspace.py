"""The workspace: a folder that no path leaves, even with links in it or added to it (see
`uwf_core.api.PathWalk`), with its protected files.
"""

import errno
import os
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from uwf_agent_builtin.protection import Protection
from uwf_agent_builtin.tools.errors import ToolError
from uwf_core.api import PathOutside, PathWalk, WalkedPath, path_components
from uwf_core.api import open_regular as open_regular_file

_FOLDER = os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_PATH_CHARACTERS = 4096

Opened = tuple[int, os.stat_result]


class Workspace:
    """A folder with its protection.

    Args:
        root: the folder; links in its own path are resolved once, here.
        protection: what must not be read or written in it.

    Raises:
        OSError: it is not a folder that can be opened.
    """

    def __init__(self, root: str, protection: Protection) -> None:
        self.root = os.path.realpath(root)
        self._roots = (self.root, os.path.normpath(root))
        self.protection = protection
        self._root = os.open(self.root, _FOLDER | getattr(os, "O_PATH", os.O_RDONLY))

    def close(self) -> None:
        """Close the root."""
        if self._root >= 0:
            os.close(self._root)
            self._root = -1

    @contextmanager
    def place(self, path: str, *, write: bool = False, make: bool = False) -> Iterator[WalkedPath]:
        """Resolve `path`; the result is valid within the context.

        Args:
            path: relative to the root, or absolute and beneath it.
            write: whether it is to be changed; then more is protected.
            make: make the folders that it needs.

        Raises:
            ToolError: it leaves the workspace, is protected, or cannot be reached.
        """
        if make:  # before a folder is made for what is refused afterwards
            self.protection.check(_plain(self.components(path)), write=write)
        try:
            with PathWalk(
                self._root,
                self.components(path),
                roots=self._roots,
                entering=lambda folder: self.protection.check(folder, write=False),
                make=make,
            ) as walk:
                place = walk.end()
                self.protection.check(place.path, write=write)
                yield place
        except PathOutside as fault:
            raise _outside(path) from fault
        except OSError as fault:
            raise ToolError(f"{shown(path)}: {_words(fault)}") from fault

    @contextmanager
    def open_file(self, path: str) -> Iterator[Opened]:
        """The descriptor of a regular file to be read, and its status.

        Raises:
            ToolError: as `place`; or it is not a regular file.
        """
        with self.place(path) as place:
            descriptor, status = open_regular(place.folder, place.name, path)
            try:
                yield descriptor, status
            finally:
                os.close(descriptor)

    @contextmanager
    def open_folder(self, path: str) -> Iterator[tuple[int, str]]:
        """The descriptor of a folder to be listed, and its path from the root.

        Raises:
            ToolError: as `place`; or it is not a folder.
        """
        with self.place(path) as place:
            flags = _FOLDER | os.O_RDONLY
            descriptor = os.open(place.name, flags, dir_fd=place.folder)
            try:
                yield descriptor, place.path
            finally:
                os.close(descriptor)

    def write_file(self, path: str, change: Callable[[bytes | None], bytes]) -> str:
        """Put what `change` makes of a file's bytes (None: there is no file) in its place, whole or
        not at all; the path from the root.

        The new file takes the old one's place by a rename in a folder that is held open, so neither
        a link nor a further hard link of the old file is written through.

        Raises:
            ToolError: as `place`; or it exists and is not a regular file.
        """
        with self.place(path, write=True, make=True) as place:
            if place.name == ".":
                raise ToolError(f"{shown(path)} is a folder")
            old, mode = _old_content(place, path)
            _replace(place, change(old), mode)
            return place.path

    def duplicate_root(self) -> int:
        """A descriptor of the root for a walk; the caller closes it."""
        return os.dup(self._root)

    def components(self, path: str) -> list[str]:
        """The components of a path of the model, from the root.

        Raises:
            ToolError: it is not a path within the workspace.
        """
        if "\0" in path:
            raise ToolError("a path cannot hold a NUL")
        if len(path) > _PATH_CHARACTERS:
            raise ToolError(f"the path is longer than {_PATH_CHARACTERS} characters")
        if path.startswith("~"):
            raise ToolError(
                f"{shown(path)}: ~ is not expanded; paths are relative to the workspace"
            )
        try:
            return path_components(path, self._roots)
        except PathOutside as fault:
            raise _outside(path) from fault


def open_regular(folder: int, name: str, said: str) -> Opened:
    """The descriptor and status of a regular file in a folder; a link is not followed.

    Raises:
        ToolError: it is not a regular file. OSError: it cannot be opened.
    """
    try:
        return open_regular_file(folder, name)
    except OSError as fault:
        if fault.errno in (errno.EISDIR, errno.EINVAL):
            raise ToolError(f"{shown(said)}: {fault.strerror}") from fault
        raise


def read_descriptor(descriptor: int, most_bytes: int) -> bytes:
    """The bytes from here on, at most so many."""
    pieces, left = [], most_bytes
    while left > 0 and (piece := os.read(descriptor, min(left, 1 << 20))):
        pieces.append(piece)
        left -= len(piece)
    return b"".join(pieces)


def _plain(components: list[str]) -> str:
    """The path that the components are if there is no link among them."""
    parts: list[str] = []
    for part in components:
        if part == ".." and parts:
            parts.pop()
        elif part not in ("", ".", ".."):
            parts.append(part)
    return "/".join(parts) or "."


def shown(path: str) -> str:
    """A path as a message shows it."""
    text = path if len(path) <= 200 else f"{path[:200]}…"
    return ascii(text) if not text.isprintable() else text


def _old_content(place: WalkedPath, said: str) -> tuple[bytes | None, int]:
    try:
        descriptor, status = open_regular(place.folder, place.name, said)
    except FileNotFoundError:
        return None, 0o666
    with os.fdopen(descriptor, "rb") as file:
        return file.read(), stat.S_IMODE(status.st_mode)


def _replace(place: WalkedPath, content: bytes, mode: int) -> None:
    part = f".uwf-part-{os.urandom(6).hex()}"
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    descriptor = os.open(part, flags, mode, dir_fd=place.folder)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
            if mode != 0o666:  # of a new file the mask decides
                os.fchmod(file.fileno(), mode & 0o777)
        os.rename(part, place.name, src_dir_fd=place.folder, dst_dir_fd=place.folder)
    except BaseException:
        os.unlink(part, dir_fd=place.folder)
        raise


def _outside(said: str) -> ToolError:
    return ToolError(f"{shown(said)} is outside the workspace; paths are relative to it")


def _words(fault: OSError) -> str:
    if fault.errno in (errno.ELOOP, errno.ENOTDIR):
        return "a part of the path is not a folder"
    return (fault.strerror or str(fault)).lower()
