"""The workflow files that the editor reads and saves: `.workflow/NAME.yaml` below a folder.

No link is followed. A file is replaced as a whole, and only if it is still the one that was read.
"""

import contextlib
import errno
import fcntl
import hashlib
import os
import re
import secrets
import stat
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final, NamedTuple

from uwf_core.api import open_regular
from uwf_core.errors import UsageError, WrongStateError

FOLDER: Final = ".workflow"
MAX_BYTES: Final = 1_000_000
"""What uwf reads of a workflow file."""
NEW: Final = ""
"""The digest of a file that does not exist."""
_SUFFIXES: Final = (".yaml", ".yml")
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}\Z")
_BARE = os.O_NOFOLLOW | os.O_CLOEXEC


class WorkflowFile(NamedTuple):
    """A file as it is now; `sha256` is `NEW` and the text empty if it does not exist."""

    name: str
    file: str
    text: str
    sha256: str


class FileChanged(WrongStateError):
    """The file is no longer the one that was edited; `current` is what it is now."""

    def __init__(self, current: WorkflowFile) -> None:
        what = "was changed" if current.sha256 != NEW else "was deleted"
        super().__init__(
            f"{current.file} {what} since you opened it",
            hint="compare both texts below; then save again",
        )
        self.current = current


def read_workflow_file(folder: Path, name: str) -> WorkflowFile:
    """The file of a workflow below the server's folder.

    Raises:
        UsageError: the name cannot be one, or the file is a link, is not text, or is too large.
    """
    _check_name(name)
    with _opened(folder, make=False) as descriptor:
        return _read(descriptor, name)


def save_workflow_file(
    folder: Path, name: str, text: str, expected: str, before: Callable[[], object] | None = None
) -> WorkflowFile:
    """Replace the file by this text if its SHA-256 is still the expected one. `before` is called
    when nothing is left that forbids it.

    Raises:
        FileChanged: it is another one. UsageError: as for reading, or it cannot be written.
    """
    _check_name(name)
    try:
        data = text.encode("utf-8")
    except UnicodeEncodeError as error:
        raise UsageError("the text has a character that no file can hold") from error
    if len(data) > MAX_BYTES:
        raise UsageError(f"the text is larger than {MAX_BYTES:,} bytes")
    with _opened(folder, make=True) as descriptor:
        assert descriptor is not None
        fcntl.flock(descriptor, fcntl.LOCK_EX)  # of two saves, the second sees the first
        current = _read(descriptor, name)
        if current.sha256 != expected:
            raise FileChanged(current)
        if before is not None:
            before()
        _replace(descriptor, Path(current.file).name, data)
        return _read(descriptor, name)


def _check_name(name: str) -> None:
    if not _NAME.match(name):
        raise UsageError(
            f"{name[:100]!r} is not a name of a workflow",
            hint="use letters, digits, `.`, `_` and `-`, with a letter or digit first",
        )


@contextlib.contextmanager
def _opened(folder: Path, *, make: bool) -> Iterator[int | None]:
    """A descriptor of the workflow folder; None if it does not exist and is not to be made."""
    place = f"{FOLDER} in {folder}"
    try:
        above = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except OSError as error:
        raise UsageError(f"cannot open {folder}: {error.strerror}") from error
    try:
        if make:
            with contextlib.suppress(FileExistsError):
                os.mkdir(FOLDER, dir_fd=above)
        descriptor = os.open(FOLDER, os.O_RDONLY | os.O_DIRECTORY | _BARE, dir_fd=above)
    except FileNotFoundError:
        yield None
        return
    except OSError as error:
        raise _unusable(place, error) from error
    finally:
        os.close(above)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def _read(folder: int | None, name: str) -> WorkflowFile:
    """The first of `NAME.yaml` and `NAME.yml` that exists."""
    for suffix in _SUFFIXES if folder is not None else ():
        file = f"{FOLDER}/{name}{suffix}"
        try:
            descriptor, _ = open_regular(folder, f"{name}{suffix}")
        except FileNotFoundError:
            continue
        except OSError as error:
            raise _unusable(file, error) from error
        with open(descriptor, "rb") as stream:
            data = stream.read(MAX_BYTES + 1)
        if len(data) > MAX_BYTES:
            raise UsageError(f"{file} is larger than {MAX_BYTES:,} bytes")
        try:
            return WorkflowFile(name, file, data.decode("utf-8"), hashlib.sha256(data).hexdigest())
        except UnicodeDecodeError as error:
            raise UsageError(f"{file} is not UTF-8", hint="save it as UTF-8 first") from error
    return WorkflowFile(name, f"{FOLDER}/{name}{_SUFFIXES[0]}", "", NEW)


def _replace(folder: int | None, file: str, data: bytes) -> None:
    """Write the file beside its place, then rename it; durable when this returns."""
    assert folder is not None
    fresh = f".{file}.{secrets.token_hex(4)}"
    try:
        mode = stat.S_IMODE(os.stat(file, dir_fd=folder, follow_symlinks=False).st_mode)
    except FileNotFoundError:
        mode = 0o644
    try:
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | _BARE
        with open(os.open(fresh, flags, mode, dir_fd=folder), "wb") as stream:
            stream.write(data)
            stream.flush()
            os.fchmod(stream.fileno(), mode)
            os.fsync(stream.fileno())
        os.rename(fresh, file, src_dir_fd=folder, dst_dir_fd=folder)
        os.fsync(folder)
    except OSError as error:
        with contextlib.suppress(OSError):
            os.unlink(fresh, dir_fd=folder)
        raise UsageError(f"cannot write {FOLDER}/{file}: {error.strerror}") from error


def _unusable(place: str, error: OSError) -> UsageError:
    if error.errno in (errno.ELOOP, errno.ENOTDIR):
        return UsageError(f"{place} is a link, or not a folder", hint="the editor follows no links")
    return UsageError(f"cannot open {place}: {error.strerror}")
