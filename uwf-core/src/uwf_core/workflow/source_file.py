"""Read a text file: bounded, only regular files, never waiting on a pipe.

The folder of a file is opened before the file, and what the file includes is read from that very
folder, even if another one replaces it meanwhile.
"""

# Loaded by `thread start`: pathlib is not imported for that.
# ruff: noqa: PTH100, PTH119, PTH120

import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import NamedTuple

from uwf_core.errors import UsageError
from uwf_core.process.path_walk import ENTER, PathOutside, PathWalk, open_regular, project_root
from uwf_core.workflow.file_name import FOLDERS
from uwf_core.workflow.yaml_source import MAX_BYTES, decode

_PROJECT = (".git", *FOLDERS)


class SourceFile(NamedTuple):
    """A file that was read.

    Attributes:
        data: its bytes, at most one more than `MAX_BYTES`.
        folder: a descriptor of the folder that its name is in, open within the context.
        identity: the device and inode of the file.
    """

    data: bytes
    folder: int
    identity: tuple[int, int]


@contextmanager
def open_source(path: str) -> Iterator[SourceFile]:
    """A file that a user named; the links of a project lead only within it.

    Raises:
        UsageError: it is missing or cannot be read.
    """
    with ExitStack() as held:
        try:
            root = project_root(path, _PROJECT)
            above = root or os.path.dirname(path) or "."
            folder = os.open(above, ENTER & ~os.O_NOFOLLOW)
            held.callback(os.close, folder)
            if root is None:
                source = _read(folder, folder, os.path.basename(path), follow=True)
            else:
                roots = (root, os.path.realpath(root))
                name = os.path.relpath(os.path.abspath(path), root)
                source = held.enter_context(open_included(folder, name, roots))
        except PathOutside as error:
            raise UsageError(
                f"cannot read the file: a link leads out of the project {root}",
                where=path,
                hint="give the path of the file that it leads to",
            ) from error
        except (OSError, ValueError) as error:
            raise UsageError(
                f"cannot read the file: {reason(error)}",
                where=path,
                hint="check the path and its permissions",
            ) from error
        yield source


@contextmanager
def open_included(folder: int, name: str, roots: tuple[str, ...]) -> Iterator[SourceFile]:
    """A file below a folder.

    Args:
        folder: a descriptor of the folder.
        name: the file's path from there.
        roots: the folder's absolute paths, for absolute links that stay inside.

    Raises:
        PathOutside: it is outside of the folder.
        OSError: it cannot be read, or is not a regular file.
    """
    parts = name.split("/")
    if name.startswith("/") or ".." in parts:
        raise PathOutside
    with (
        PathWalk(folder, parts[:-1], roots=roots) as way,
        PathWalk(folder, parts, roots=roots) as walk,
    ):
        above, place = way.end(), walk.end()
        inner = os.open(above.name, ENTER, dir_fd=above.folder)
        try:
            yield _read(inner, place.folder, place.name)
        finally:
            os.close(inner)


def _read(folder: int, place: int, name: str, *, follow: bool = False) -> SourceFile:
    descriptor, status = open_regular(place, name, follow=follow)
    with open(descriptor, "rb") as file:
        return SourceFile(file.read(MAX_BYTES + 1), folder, (status.st_dev, status.st_ino))


def read_text(path: str) -> str:
    """The text of a file that a user named.

    Raises:
        UsageError: it is missing or cannot be read.
        DefinitionError: over 1 MB, or not UTF-8.
    """
    with open_source(path) as source:
        return decode(source.data, file=path)


def reason(error: Exception) -> str:
    """Why a file could not be read, in a few words."""
    return (error.strerror if isinstance(error, OSError) else None) or str(error)
