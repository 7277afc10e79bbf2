"""Notes "loading X of D" under the home: who was being imported if the process dies right there.

A note is a file that its writer keeps locked, so that a note that nobody holds is one whose
writer died. Format: JSON `{"group", "name", "distribution", "version"}`.
"""

# Every step loads a plugin, and pathlib is not imported for that:
# ruff: noqa: PTH106, PTH108, PTH112, PTH120

import contextlib
import fcntl
import json
import os
from collections.abc import Iterator

from uwf_core.named_tuple import NamedTuple
from uwf_core.plugins.scan import Found
from uwf_core.process.private import make_folder

_FOLDER = "loading"


class Died(NamedTuple):
    """A plugin during whose import a process died."""

    group: str
    name: str
    distribution: str
    version: str

    def __str__(self) -> str:
        return (
            f"a command died while it loaded {self.name!r} of {self.distribution} {self.version}; "
            f"if it happens again, block it: uwf config set plugins.block '[{self.name}]'"
        )


@contextlib.contextmanager
def loading(home: str | None, found: Found) -> Iterator[None]:
    """Keep a note for as long as the context lasts.

    The note is a diagnosis only: where the home cannot be written there is none, and folders that
    were made for it alone go with it.
    """
    places = [] if home is None else _to_be_made(home)
    note = _write(home, found) if home is not None else None
    try:
        yield
    finally:
        if note is not None:
            descriptor, file = note
            with contextlib.suppress(OSError):  # somebody tidied up
                os.unlink(file)
            with contextlib.suppress(OSError):  # the plugin closed it, which is told elsewhere
                os.close(descriptor)
            for place in places:
                with contextlib.suppress(OSError):  # meanwhile others use it
                    os.rmdir(place)


def take_died(home: str) -> list[Died]:
    """The plugins during whose import a process died; each is told once."""
    try:
        files = [entry.path for entry in os.scandir(f"{home}/{_FOLDER}")]
    except OSError:  # no folder: nobody ever loaded anything
        return []
    return [died for file in sorted(files) if (died := _take(file)) is not None]


def _to_be_made(home: str) -> list[str]:
    """Which folders a note in this home needs and are not there, the innermost first."""
    places = [f"{home}/{_FOLDER}"]
    while not os.path.isdir(places[-1]):
        places.append(os.path.dirname(places[-1]))
    return places[:-1]


def _write(home: str, found: Found) -> tuple[int, str] | None:
    folder = f"{home}/{_FOLDER}"
    file = f"{folder}/{os.getpid()}-{found.group}-{found.name.replace('/', '_')}"
    try:
        make_folder(folder)
        descriptor = os.open(file, os.O_RDWR | os.O_CREAT | os.O_TRUNC, 0o600)
    except OSError:
        return None
    with contextlib.suppress(OSError):  # a file system without locks: the note is then told twice
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    died = Died(found.group, found.name, found.distribution, found.version)
    with contextlib.suppress(OSError):  # a full disk
        os.write(descriptor, json.dumps(died._asdict()).encode())
    return descriptor, file


def _take(file: str) -> Died | None:
    """The note in `file`, removed, if nobody holds it."""
    try:
        descriptor = os.open(file, os.O_RDWR)
    except OSError:  # just removed by its writer
        return None
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        text = os.read(descriptor, 65536)
        if not text:  # its writer has not come to the lock yet
            return None
        os.unlink(file)
        return Died(**json.loads(text))
    except (OSError, ValueError, TypeError):  # still held, or not a note of ours
        return None
    finally:
        os.close(descriptor)
