"""Markers "loading X of D" in the home: they name the plugin if the process dies during its import.

A marker is a file that its writer keeps locked, so that an unlocked marker is one whose
writer crashed. Format: JSON `{"group", "name", "distribution", "version"}`.
"""

# Every step loads a plugin, and pathlib is not imported for that:
# ruff: noqa: PTH106, PTH108, PTH112, PTH120

import contextlib
import fcntl
import json
import os
from collections.abc import Iterator

from uwf_core.named_tuple import NamedTuple
from uwf_core.plugins.scan import EntryPoint
from uwf_core.process.private import make_folder

_FOLDER = "loading"


class CrashedLoad(NamedTuple):
    """A plugin whose import killed a process."""

    group: str
    name: str
    distribution: str
    version: str

    def __str__(self) -> str:
        return (
            f"a command crashed while loading {self.name!r} of {self.distribution} {self.version}; "
            f"if it happens again, block it: uwf config set plugins.block '[{self.name}]'"
        )


@contextlib.contextmanager
def load_marker(home: str | None, found: EntryPoint) -> Iterator[None]:
    """Keep a marker during the context.

    It is only for diagnosis: without write access to the home there is none, and folders that
    were created only for it are removed with it.
    """
    places = [] if home is None else _to_be_made(home)
    note = _write(home, found) if home is not None else None
    try:
        yield
    finally:
        if note is not None:
            descriptor, file = note
            with contextlib.suppress(OSError):  # removed by another process
                os.unlink(file)
            with contextlib.suppress(OSError):  # the plugin closed it, which is reported elsewhere
                os.close(descriptor)
            for place in places:
                with contextlib.suppress(OSError):  # in use by another process
                    os.rmdir(place)


def crashed_loads(home: str) -> list[CrashedLoad]:
    """The plugins whose import killed a process; each is reported once."""
    try:
        files = [entry.path for entry in os.scandir(f"{home}/{_FOLDER}")]
    except OSError:  # no folder: no plugin was ever loaded
        return []
    return [crashed for file in sorted(files) if (crashed := _take(file)) is not None]


def _to_be_made(home: str) -> list[str]:
    """The missing folders for a marker in this home, innermost first."""
    places = [f"{home}/{_FOLDER}"]
    while not os.path.isdir(places[-1]):
        places.append(os.path.dirname(places[-1]))
    return places[:-1]


def _write(home: str, found: EntryPoint) -> tuple[int, str] | None:
    folder = f"{home}/{_FOLDER}"
    file = f"{folder}/{os.getpid()}-{found.group}-{found.name.replace('/', '_')}"
    try:
        make_folder(folder)
        descriptor = os.open(file, os.O_RDWR | os.O_CREAT | os.O_TRUNC, 0o600)
    except OSError:
        return None
    with contextlib.suppress(
        OSError
    ):  # a file system without locks: the marker is then reported twice
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    crashed = CrashedLoad(found.group, found.name, found.distribution, found.version)
    with contextlib.suppress(OSError):  # a full disk
        os.write(descriptor, json.dumps(crashed._asdict()).encode())
    return descriptor, file


def _take(file: str) -> CrashedLoad | None:
    """Remove and return the marker in `file` if it is unlocked."""
    try:
        descriptor = os.open(file, os.O_RDWR)
    except OSError:  # just removed by its writer
        return None
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        text = os.read(descriptor, 65536)
        if not text:  # its writer has not locked it yet
            return None
        os.unlink(file)
        return CrashedLoad(**json.loads(text))
    except (OSError, ValueError, TypeError):  # still locked, or not our marker
        return None
    finally:
        os.close(descriptor)
