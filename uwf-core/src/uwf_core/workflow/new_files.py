"""Write new workflow files, never over others."""

import errno
import os
from collections.abc import Mapping
from pathlib import Path

from uwf_core.errors import UsageError
from uwf_core.process.path_walk import read_regular


def write_files(new: Mapping[str, str], called: Mapping[str, str]) -> None:
    """Write the texts of files, by path. A `called` one may exist already, if it is the same.

    Raises:
        UsageError: another one exists already, and none is written; or the disk has an error.
    """
    try:
        missing = {file: text for file, text in called.items() if not _is_there(file, text)}
        for file, text in {**new, **missing}.items():
            Path(file).parent.mkdir(parents=True, exist_ok=True)
            with Path(file).open("x", encoding="utf-8") as stream:
                stream.write(text)
    except FileExistsError as error:
        raise UsageError(
            "the file exists already",
            where=str(error.filename),
            hint="choose another name, or remove it",
        ) from error
    except OSError as error:
        raise UsageError(
            f"cannot write the file: {error.strerror}", where=str(error.filename)
        ) from error


def _is_there(file: str, text: str) -> bool:
    """Whether a file has this text already.

    Raises:
        FileExistsError: it has another one.
    """
    try:
        found = read_regular(file, len(text.encode()), cut=True)
    except FileNotFoundError:
        return False
    if found != text.encode():
        raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), file)
    return True
