"""The folder of one call of a command: the request file it reads, the events file it appends to.

The folder is 0700, the files 0600, and all is removed after the call. The next call removes the
folder of a killed process: the folder's name contains its owner, so it has one from the start.
"""

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

from uwf_core.errors import InternalFailure
from uwf_core.process import crash_points
from uwf_core.process.folders import make_folder
from uwf_core.process.identity import ProcessId, hostname


class CallFiles(NamedTuple):
    """The paths of the two files."""

    request: Path
    events: Path

    def environment(self) -> dict[str, str]:
        """The variables that name them to the command."""
        return {"UWF_REQUEST": str(self.request), "UWF_EVENTS": str(self.events)}


@contextmanager
def call_files(state_dir: str, document: bytes) -> Iterator[CallFiles]:
    """The files of one call, with `document` as the request; removed at the end.

    Raises:
        InternalFailure: they cannot be written.
    """
    folder = None
    try:
        try:
            folder = _new_folder(state_dir)
            files = CallFiles(folder / "request.json", folder / "events.jsonl")
            _write(files.request, document)
            _write(files.events, b"")
            crash_points.reach("exchange")
        except OSError as fault:
            raise InternalFailure(
                f"cannot write the files of a call: {fault}",
                hint=f"free disk space, or make {state_dir} writable",
            ) from fault
        yield files
    finally:
        if folder is not None:
            _remove(folder)


def _new_folder(state_dir: str) -> Path:
    """Create a folder that names its owner."""
    calls = Path(state_dir, "calls")
    make_folder(str(calls))
    _sweep(calls)
    return Path(tempfile.mkdtemp(prefix=_owned_by(ProcessId.own()), dir=calls))


def _owned_by(process: ProcessId) -> str:
    return f"{process.pid}@{process.start}@{hostname()}@"


def _write(path: Path, data: bytes) -> None:
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
        file.write(data)


def _remove(folder: Path) -> None:
    """Remove our own files first: this needs no file descriptor, of which there may be none left.
    Removing the files of the command may fail.
    """
    for name in ("request.json", "events.jsonl"):
        with suppress(OSError):
            (folder / name).unlink()
    try:
        folder.rmdir()
    except OSError:
        shutil.rmtree(folder, ignore_errors=True)


def _sweep(calls: Path) -> None:
    """Remove the folders of processes of this host that are gone."""
    for folder in calls.iterdir():
        pid, _, rest = folder.name.partition("@")
        owner = ProcessId(int(pid) if pid.isdecimal() else 0, rest.partition("@")[0])
        if folder.name.startswith(_owned_by(owner)) and not owner.is_alive():
            _remove(folder)
