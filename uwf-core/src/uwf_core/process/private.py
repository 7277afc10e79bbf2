"""Private folders, and durable names."""

# Every command that writes comes through here, and pathlib is not imported for that:
# ruff: noqa: PTH102, PTH112, PTH120

import os
from contextlib import suppress


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
