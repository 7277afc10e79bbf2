"""A copy of what config.yaml says, which the next command reads without PyYAML.

To import PyYAML takes as long as to start Python twice, and every command reads the configuration.
As with the byte code of a module, the copy counts only as long as it fits: it holds the bytes that
it was made from and the version of uwf that made it.
"""

# Every command comes through here, and pathlib is not imported for that:
# ruff: noqa: PTH105, PTH108, PTH118

import contextlib
import json
import os
from collections.abc import Callable, Mapping

from uwf_core import __version__
from uwf_core.config.home import CONFIG_FILE, check_ending, read_private
from uwf_core.config.keys import Leaf, Path

FORMAT = 1
COPY_FILE = "config.parsed"


def read_user_file(home: str, read: Callable[[bytes, str], dict[Path, Leaf]]) -> dict[Path, Leaf]:
    """The values of the user's config.yaml: those of the copy if it fits, else those that `read`
    finds in the bytes of the file, and a new copy.

    Raises:
        ConfigError: the file cannot be read, or `read` reports an error; nothing is copied.
    """
    file, copy = os.path.join(home, CONFIG_FILE), os.path.join(home, COPY_FILE)
    data = read_private(file)
    if data is None:
        _remove(copy)  # it may hold secrets of a file that does not exist any more
        check_ending(file)
        return {}
    leaves = _read_copy(copy, file, data)
    if leaves is None:
        leaves = read(data, file)
        _write_copy(copy, file, data, leaves)
    return leaves


def _read_copy(copy: str, file: str, data: bytes) -> dict[Path, Leaf] | None:
    try:
        with open(copy, "rb") as stream:
            head, _, made_from = stream.read().partition(b"\n")
        if made_from != data:
            return None
        found = json.loads(head)
        if found["made"] != _made(file):
            return None
        return {tuple(path): Leaf(value, place) for path, value, place in found["leaves"]}
    except (OSError, ValueError, KeyError, TypeError):  # none yet, or torn by a loss of power
        return None


def _write_copy(copy: str, file: str, data: bytes, leaves: Mapping[Path, Leaf]) -> None:
    """Write the copy, for its owner only.

    Whatever prevents it (no space, a home that is read-only) only costs the next command its time.
    """
    listed = [[path, leaf.value, leaf.place] for path, leaf in leaves.items()]
    head = json.dumps({"made": _made(file), "leaves": listed}).encode()
    fresh = f"{copy}.{os.urandom(6).hex()}.new"
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    try:
        with open(os.open(fresh, flags, 0o600), "wb") as stream:
            stream.write(head + b"\n" + data)
        os.replace(fresh, copy)
    except OSError:
        _remove(fresh)


def _remove(file: str) -> None:
    with contextlib.suppress(OSError):
        os.unlink(file)


def _made(file: str) -> list[object]:
    """What a copy depends on beside the bytes; places name the file."""
    return [FORMAT, __version__, file]
