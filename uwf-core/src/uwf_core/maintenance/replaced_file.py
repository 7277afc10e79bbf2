"""Write a file so that readers see the old content or the whole new one."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from uwf_core.errors import UsageError
from uwf_core.process import crash_points
from uwf_core.process.folders import sync_names


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
    draft = target.with_name(f".{target.name}.{os.getpid()}.new")
    try:
        descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        try:
            with os.fdopen(descriptor, "wb") as file:
                yield file
                file.flush()
                os.fsync(file.fileno())
            crash_points.reach("bundle-file")
            draft.replace(target)
        except BaseException:
            draft.unlink(missing_ok=True)
            raise
        sync_names(str(target.parent))
    except OSError as error:
        raise UsageError(
            f"cannot write {what}: {error.strerror}",
            where=str(target),
            hint="choose a file in a folder that you can write, on a disk with free space",
        ) from error
