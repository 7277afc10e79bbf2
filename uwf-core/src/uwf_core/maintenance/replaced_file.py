"""Write a file so that readers see the old content or the whole new one."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from uwf_core.errors import UsageError
from uwf_core.process.folders import replaced


@contextmanager
def replaced_file(target: Path, what: str) -> Iterator[BinaryIO]:
    """A file (0600) that replaces `target` once it is written and synced; after an error in the
    context nothing of it is left.

    Args:
        target: the file to write or replace.
        what: its content, for messages: `the bundle`.

    Raises:
        UsageError: it cannot be written; `target` is unchanged.
    """
    try:
        with replaced(str(target), "bundle-file", hidden=True) as file:
            yield file
    except OSError as error:
        raise UsageError(
            f"cannot write {what}: {error.strerror}",
            where=str(target),
            hint="choose a file in a folder that you can write, on a disk with free space",
        ) from error
