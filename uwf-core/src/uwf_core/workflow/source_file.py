"""Reading a file of text: bounded, regular files only, never waiting on a pipe."""

import errno
import os
import stat

from uwf_core.errors import UsageError
from uwf_core.workflow.yaml_source import MAX_BYTES, decode


def read_bytes(path: str) -> bytes:
    """The file's bytes, at most one more than `MAX_BYTES`.

    Raises:
        OSError: it cannot be read, or is no regular file.
    """
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        mode = os.fstat(descriptor).st_mode
        if stat.S_ISDIR(mode):
            raise IsADirectoryError(errno.EISDIR, "it is a folder", path)
        if not stat.S_ISREG(mode):
            raise OSError(errno.EINVAL, "it is no regular file", path)
        with open(descriptor, "rb", closefd=False) as file:
            return file.read(MAX_BYTES + 1)
    finally:
        os.close(descriptor)


def read_text(path: str) -> str:
    """The text of a file that a user named.

    Raises:
        UsageError: it is missing or cannot be read.
        DefinitionError: over 1 MB, or not UTF-8.
    """
    try:
        data = read_bytes(path)
    except (OSError, ValueError) as error:
        raise UsageError(
            f"the file cannot be read: {reason(error)}",
            where=path,
            hint="check the path and its permissions",
        ) from error
    return decode(data, file=path)


def reason(error: Exception) -> str:
    """Why a file could not be read, in a few words."""
    return (error.strerror if isinstance(error, OSError) else None) or str(error)
