"""The index file of a thread for one folder, and what uwf knows about its content.

What is known lies beside the index file, with the checksum at its end. If that is not the checksum
of the file, since a process or the power died between the two or the disk damaged one of them, both
are deleted and the next snapshot reads every file again.
"""

import json
import os
import struct
from collections.abc import Set
from contextlib import suppress
from hashlib import sha256
from typing import Final, NamedTuple

from uwf_core.files.repository import FilesRepository
from uwf_core.process.folders import make_folder, open_private

_VERSION: Final = 2
_CHECKSUM_BYTES: Final = 32
_DIGEST_CHARACTERS: Final = 64
_FEW: Final = 64
_HEADER: Final = b"DIRC" + struct.pack(">I", 2)
_HEADER_BYTES: Final = 12
_ENTRY_SIZE: Final = 36
_ENTRY_FLAGS: Final = 72
_LONGEST: Final = 0xFFF
"""A path as long as this, or longer, has this length in its entry."""
_SETS: Final = ("forced", "missing", "folders")


class IndexState(NamedTuple):
    """What an index file has.

    Attributes:
        files, size: how many files, and how large they are together.
        tree: the tree that was made of it; None before the first.
        rules: a digest of the ignore rules and of what the user's repository tracks.
        forced: the paths that are recorded although they are ignored. missing: those of them
            that the index lacks.
        folders: the folders of its files, perhaps some that have no file any more.
    """

    files: int = 0
    size: int = 0
    tree: str | None = None
    rules: str = ""
    forced: frozenset[bytes] = frozenset()
    missing: frozenset[bytes] = frozenset()
    folders: frozenset[bytes] = frozenset()


class ThreadIndex:
    """The index file of a thread for a folder."""

    def __init__(self, repository: FilesRepository, thread: str, folder: str) -> None:
        name = sha256(os.fsencode(os.path.realpath(folder))).hexdigest()[:16]
        self._all = os.path.join(repository.path, "indexes", name)
        self.path = os.path.join(self._all, thread)
        self._note = self.path + ".json"

    def read(self) -> IndexState:
        """What the index has. A new thread begins with a copy of the newest index of the folder.

        Raises:
            OSError: it cannot be read.
        """
        make_folder(self._all)
        state = _read(self.path)
        if state is None:
            self.discard()
            state = self._copied()
        if state is None:
            self.discard()
        return state or IndexState()

    def save(self, state: IndexState) -> None:
        """Note what the index has.

        Raises:
            OSError: it cannot be written.
        """
        document = {
            "version": _VERSION,
            "checksum": _checksum(self.path).hex(),
            **state._asdict(),
            **{key: sorted(map(os.fsdecode, getattr(state, key))) for key in _SETS},
        }
        draft = self._note + ".new"
        with open(draft, "w", encoding="ascii", opener=open_private) as file:
            text = json.dumps(document)  # json.dump is many times slower
            file.write(f"{_digest(text)}{text}")
        os.replace(draft, self._note)

    def discard(self) -> None:
        """Delete the index, and the lock that a killed git left."""
        for path in (self._note, self.path, self.path + ".lock"):
            with suppress(FileNotFoundError):
                os.unlink(path)

    def _copied(self) -> IndexState | None:
        import shutil

        others = [each.path for each in os.scandir(self._all) if "." not in each.name]
        for other in sorted(others, key=_age):
            try:
                shutil.copy2(other, self.path)
                shutil.copy2(other + ".json", self._note)
            except FileNotFoundError:
                continue  # its thread was deleted
            state = _read(self.path)
            if state is not None:
                return state._replace(tree=None)
        return None


def indexed_bytes(index: str, paths: Set[bytes]) -> tuple[int, set[bytes]]:
    """The sizes of a few files together, read from an index as `gitformat-index` of git describes
    it: faster than by git itself.

    Returns:
        The bytes, and the paths of which they are not known.
    """
    if not 0 < len(paths) <= _FEW:
        return 0, {*paths}
    with open(index, "rb") as file:
        data = file.read()
    size, unknown = 0, set[bytes]()
    for path in paths:
        found = _indexed_size(data, path)
        if found:
            size += found
        else:
            unknown.add(path)
    return size, unknown


def _indexed_size(data: bytes, path: bytes) -> int:
    """The size of a file; 0 if it is not known. Git writes 0 if it could not tell by the times
    whether the file has changed.
    """
    entry = struct.pack(">H", min(len(path), _LONGEST)) + path + b"\0"
    at = data.find(entry)
    begin = at - _ENTRY_FLAGS
    is_entry = begin >= _HEADER_BYTES and (begin - _HEADER_BYTES) % 8 == 0
    if not data.startswith(_HEADER) or not is_entry or data.find(entry, at + 1) >= 0:
        return 0
    return int.from_bytes(data[begin + _ENTRY_SIZE : begin + _ENTRY_SIZE + 4], "big")


def forget_indexes(repository: FilesRepository, thread: str) -> None:
    """Delete the index files of a thread.

    Raises:
        OSError: one cannot be deleted.
    """
    top = os.path.join(repository.path, "indexes")
    for name in os.listdir(top) if os.path.isdir(top) else ():
        for ending in ("", ".json", ".lock", ".json.new"):
            with suppress(FileNotFoundError):
                os.unlink(os.path.join(top, name, thread + ending))


def _age(path: str) -> float:
    try:
        return -os.stat(path).st_mtime
    except FileNotFoundError:
        return 0.0


def _read(path: str) -> IndexState | None:
    """What is noted about an index file; None if nothing is, or it describes another one."""
    try:
        with open(path + ".json", encoding="ascii") as file:
            digest, text = file.read(_DIGEST_CHARACTERS), file.read()
        noted = json.loads(text)
        checksum = _checksum(path)
        if digest != _digest(text) or noted.pop("version") != _VERSION:
            return None
        if noted.pop("checksum") != checksum.hex():
            return None
        sets = {key: frozenset(map(os.fsencode, noted[key])) for key in _SETS}
        return IndexState(**{**noted, **sets})
    except (FileNotFoundError, ValueError, KeyError, TypeError, AttributeError):
        return None


def _digest(text: str) -> str:
    return sha256(text.encode()).hexdigest()


def _checksum(path: str) -> bytes:
    """The checksum at the end of an index file.

    Raises:
        ValueError: the file has another one.
    """
    with open(path, "rb") as file:
        data = memoryview(file.read())
    checksum = sha256(data[:-_CHECKSUM_BYTES]).digest()
    if checksum != data[-_CHECKSUM_BYTES:]:
        raise ValueError(f"{path} is damaged")
    return checksum
