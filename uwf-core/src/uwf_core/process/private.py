"""Folders for their owner alone."""

# Every command that writes comes through here, and pathlib is not imported for that:
# ruff: noqa: PTH102, PTH112, PTH120

import os


def make_folder(path: str) -> None:
    """Make a folder and what is missing above it, each 0700; one that is there stays as it is.

    (`os.makedirs` gives its mode to the last one alone.)

    Raises:
        OSError: it cannot be made, or is no folder.
    """
    try:
        os.mkdir(path, 0o700)
    except FileNotFoundError:
        make_folder(os.path.dirname(path))
        make_folder(path)
    except FileExistsError:
        if not os.path.isdir(path):
            raise
