"""Folders: private ones, durable names, the way up through a project, and owners (files of other
users need the user's trust).
"""

# Every command comes through here, and pathlib is not imported for that:
# ruff: noqa: PTH100, PTH102, PTH105, PTH108, PTH112, PTH116, PTH118, PTH120

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import BinaryIO

from uwf_core.errors import ConfigError
from uwf_core.process import crash_points


def make_folder(path: str) -> None:
    """Make a folder and what is missing above it, each 0700; one that is there stays as it is.

    (`os.makedirs` gives its mode to the last one alone.)

    Raises:
        OSError: it cannot be made, or is not a folder.
    """
    try:
        _make_one(path)
    except FileNotFoundError:
        above = os.path.dirname(path)
        if not above:
            raise
        make_folder(above)
        _make_one(path)  # also where another process made `above` meanwhile; fails below /proc


def _make_one(path: str) -> None:
    try:
        os.mkdir(path, 0o700)
    except FileExistsError:
        if not os.path.isdir(path):
            raise


def make_lasting_folder(path: str) -> None:
    """As `make_folder`; its name, and those of the folders above it, are on the disk."""
    make_folder(path)
    while path != (above := os.path.dirname(path)):
        sync_names(above)
        path = above


def open_private(path: str, flags: int) -> int:
    """The `opener` of a file that nobody else may read."""
    return os.open(path, flags, 0o600)


def sync(path: str) -> None:
    """Wait until a file is on the disk: what is in it, not its name.

    Raises:
        OSError: the disk refuses.
    """
    descriptor = os.open(path or ".", os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def sync_names(folder: str) -> None:
    """Wait until the names in a folder are on the disk, where it may be opened at all.

    Raises:
        OSError: the disk refuses.
    """
    with suppress(PermissionError):  # it may be written and not read, as a letter box
        sync(folder)


@contextmanager
def replaced(target: str, point: str, *, hidden: bool = False) -> Iterator[BinaryIO]:
    """A file (0600) that replaces `target` once it is on the disk; after an error, in the context
    too, nothing of it is left, and `target` is unchanged. `point` is the crash point between;
    `hidden`: a process that is killed there leaves a hidden file.

    Raises:
        OSError: it cannot be written.
    """
    folder, name = os.path.split(target)
    draft = os.path.join(folder, f"{'.' * hidden}{name}.{os.urandom(6).hex()}.new")
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    descriptor = os.open(draft, flags, 0o600)
    try:
        with open(descriptor, "wb") as file:
            os.fchmod(descriptor, 0o600)
            yield file
            file.flush()
            os.fsync(descriptor)
        crash_points.reach(point)
        os.replace(draft, target)
    except BaseException:
        with suppress(FileNotFoundError):  # an interrupt came after the replacement
            os.unlink(draft)
        raise
    sync_names(folder)


# -- of a project ----------------------------------------------------------------------------------


def climb(cwd: str) -> Iterator[str]:
    """`cwd` and the folders above it, up to the first that holds `.git` (a folder, or the file of
    a worktree).
    """
    folder = os.path.abspath(cwd)
    while True:
        yield folder
        above = os.path.dirname(folder)
        if above == folder or os.path.lexists(os.path.join(folder, ".git")):
            return
        folder = above


def is_own(path: str) -> bool:
    """Whether a file or folder, and the target if it is a link, belongs to the user.

    As in git, root also accepts files of the user that called sudo. A missing file
    belongs to no other user.
    """
    try:
        owners = {os.lstat(path).st_uid, os.stat(path).st_uid}
    except OSError:
        return True
    return owners <= own_users()


def foreign_error(path: str, project: str) -> ConfigError:
    """The error about a path of another owner in the folder of a project."""
    return ConfigError(
        f"{path} belongs to another user, who could change what uwf runs",
        where=path,
        hint=f"if you trust what is there: uwf config trust {project}",
    )


def own_users() -> set[int]:
    """The users whose files are the user's own; see `is_own`."""
    user = os.geteuid()
    sudo = os.environ.get("SUDO_UID", "")
    if user == 0 and sudo.isascii() and sudo.isdecimal():
        return {user, int(sudo)}
    return {user}


def is_utf8(name: str) -> bool:
    """Whether a name or an argument of the system is UTF-8: other bytes are lone surrogates in it
    (PEP 383).
    """
    return name.isascii() or not any("\ud800" <= each <= "\udfff" for each in name)
