"""From a log of file operations to what a power cut would have left on the disk.

The disk is thought of as cruel, within what POSIX allows: what was synced of a file stays; of what
was written since, everything, nothing, or any part may be there. A name is an entry of its folder:
it is on the disk once that *folder* is synced, whatever was synced of the file itself, and may be
there before, with or without its content.
"""

import random
import struct
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import NamedTuple

from tests.faults.shim import Kind

_RECORD = struct.Struct("=IIQqQ")
_SECTOR = 512

LEAST = "not even the names"
"""What the state is called that holds no more than was synced."""

Disk = dict[str, bytes | None]
"""What is on a disk: the content of each file by its path, None for a folder."""


class Operation(NamedTuple):
    """One record of the log. `path` is relative to the watched folder; `data` as in the shim."""

    kind: Kind
    path: str
    inode: int
    offset: int
    data: bytes


def operations(log: bytes, root: Path) -> list[Operation]:
    """All records of a log."""
    found, at = [], 0
    while at < len(log):
        kind, path_length, inode, offset, data_length = _RECORD.unpack_from(log, at)
        at += _RECORD.size
        path = log[at : at + path_length].decode()
        at += path_length
        data = log[at : at + data_length]
        at += data_length
        if kind == Kind.RENAME:
            data = _inside(data.decode(), root).encode()
        found.append(Operation(Kind(kind), _inside(path, root), inode, offset, data))
    return found


def disk_of(folder: Path, inside: str = "") -> Disk:
    """What is below a folder now, with `inside` put before each path."""
    found: Disk = {}
    for path in sorted(folder.rglob("*")):
        name = str(Path(inside, path.relative_to(folder)))
        found[name] = None if path.is_dir() else path.read_bytes()
    return {inside: None, **found} if inside and found else found


def _inside(path: str, root: Path) -> str:
    return path.removeprefix(str(root)).lstrip("/")


@dataclass(slots=True, eq=False)
class File:
    """A file: what is surely on the disk, and what was done to it since."""

    synced: bytes = b""
    now: bytearray = field(default_factory=bytearray)
    since: list[tuple[int, bytes | None]] = field(default_factory=list)
    """(offset, data) of each write, (length, None) of each truncation."""
    syncs: int = 0

    def do(self, offset: int, data: bytes | None) -> None:
        """Write, or truncate."""
        self.since.append((offset, data))
        change(self.now, offset, data)

    def sync(self) -> None:
        """Wait for the disk."""
        if self.since:
            self.synced = bytes(self.now)
            self.since = []
            self.syncs += 1

    def with_some(self, chosen: "Chosen") -> bytes:
        """What is on the disk if of all that was not synced only this got there."""
        content = bytearray(self.synced)
        for number, (offset, data) in enumerate(self.since):
            if number in chosen.whole:
                change(content, offset, data)
            elif number == chosen.cut and data is not None:
                change(content, offset, data[: chosen.cut_bytes])
        return bytes(content)


class Chosen(NamedTuple):
    """Which of a file's changes got onto the disk; one of them perhaps in part."""

    whole: frozenset[int]
    cut: int = -1
    cut_bytes: int = 0


def change(content: bytearray, offset: int, data: bytes | None) -> None:
    """Write `data` at `offset`, or cut or stretch the content to that length."""
    if data is None:
        del content[offset:]
        content.extend(bytes(offset - len(content)))
        return
    if len(content) < offset:
        content.extend(bytes(offset - len(content)))
    content[offset : offset + len(data)] = data


class State(NamedTuple):
    """What may be on the disk. Two states of one `key` are the same; `disk` builds it."""

    what: str
    key: int
    disk: Callable[[], Disk]


Names = dict[str, File | None]


class Replay:
    """A disk to which the operations of a log are done again, one by one.

    Args:
        before: what was on it before the first of them.
    """

    def __init__(self, before: Disk) -> None:
        self._names: Names = {
            path: None if content is None else File(content, bytearray(content))
            for path, content in before.items()
        }
        self._synced_names = dict(self._names)
        self._by_inode: dict[int, File | str | None] = {}
        """The file behind an inode, or the path of a folder."""

    def do(self, operation: Operation) -> None:
        """Do the next one."""
        kind, path, inode, offset, data = operation
        known = self._by_inode.get(inode)
        file = known if isinstance(known, File) else None
        match kind:
            case Kind.OPEN if offset:  # a folder
                self._by_inode[inode] = path
            case Kind.OPEN:
                self._by_inode[inode] = self._names.setdefault(path, File())
            case Kind.WRITE if file is not None:
                file.do(offset, data)
            case Kind.TRUNCATE if file is not None:
                file.do(offset, None)
            case Kind.SYNC if file is not None:
                file.sync()
            case Kind.SYNC if isinstance(known, str):
                self._synced_names = self._with_names_of({known})
            case Kind.MKDIR | Kind.UNLINK | Kind.LINK | Kind.RENAME:
                self._change_names(kind, path, data.decode())

    def _change_names(self, kind: Kind, path: str, new: str) -> None:
        match kind:
            case Kind.MKDIR:
                self._names[path] = None
            case Kind.UNLINK:
                self._names.pop(path, None)
            case Kind.LINK:
                self._names[new] = self._names[path]
            case Kind.RENAME:
                self._rename(path, new)

    def _rename(self, old: str, new: str) -> None:
        """A folder takes along what is in it, and what of that is on the disk: which name of the
        folder is there decides which of both is seen.
        """
        self._names[new] = self._names.pop(old)
        inside = f"{old}/"
        for names, take in ((self._names, self._names.pop), (self._synced_names, None)):
            for path in [each for each in names if each.startswith(inside)]:
                names[f"{new}/{path.removeprefix(inside)}"] = take(path) if take else names[path]
        for inode, known in self._by_inode.items():
            if isinstance(known, str) and f"{known}/".startswith(inside):
                self._by_inode[inode] = new + known.removeprefix(old)

    def _with_names_of(self, folders: Collection[str]) -> Names:
        """The names on the disk, those within `folders` as they are now."""
        kept = {
            path: file for path, file in self._synced_names.items() if _above(path) not in folders
        }
        return kept | {path: file for path, file in self._names.items() if _above(path) in folders}

    def states(self, last: Operation, chance: random.Random, rounds: int) -> Iterator[State]:
        """What may be on the disk if the power goes right after `last`, which was done."""
        yield self._state("all of it", self._names, _all)
        if last.kind == Kind.WRITE:
            for cut in {len(last.data) // 2 // _SECTOR * _SECTOR, len(last.data) // 2}:
                yield self._state(f"cut at {cut}", self._names, self._torn(last.inode, cut))
        yield self._state("only what was synced", self._names, _nothing)
        yield self._state(LEAST, self._synced_names, _nothing)
        folders = sorted({_above(path) for path in {**self._names, **self._synced_names}})
        for _ in range(rounds):
            some = self._with_names_of([each for each in folders if chance.random() < 0.5])
            for names in (self._names, self._synced_names, some):
                yield self._state("some of it", names, partial(_some, chance))

    def _torn(self, inode: int, cut: int) -> "Choice":
        torn = self._by_inode.get(inode)

        def choice(file: File) -> Chosen:
            if file is not torn or not file.since:
                return _all(file)
            last = len(file.since) - 1
            return Chosen(frozenset(range(last)), last, cut)

        return choice

    @staticmethod
    def _state(what: str, names: Names, choice: "Choice") -> State:
        # Of the log's index only a running system knows anything: SQLite makes it anew.
        there = {
            path: file
            for path, file in names.items()
            if path[-4:] != "-shm" and all(folder in names for folder in _all_above(path))
        }
        chosen = {path: choice(file) for path, file in there.items() if file is not None}
        parts = [(path, id(file), file.syncs if file else 0) for path, file in there.items()]
        key = hash((tuple(parts), tuple(chosen.items())))

        def disk() -> Disk:
            return {
                path: None if file is None else file.with_some(chosen[path])
                for path, file in there.items()
            }

        return State(what, key, disk)


def _above(path: str) -> str:
    return path.rpartition("/")[0]


def _all_above(path: str) -> list[str]:
    parts = path.split("/")
    return ["/".join(parts[:count]) for count in range(1, len(parts))]


Choice = Callable[[File], Chosen]


def _all(file: File) -> Chosen:
    return Chosen(frozenset(range(len(file.since))))


def _nothing(_file: File) -> Chosen:
    return Chosen(frozenset())


def _some(chance: random.Random, file: File) -> Chosen:
    """Any of the writes; a truncation is a change of names, and those are done in their order."""
    return Chosen(
        frozenset(
            number
            for number, (_, data) in enumerate(file.since)
            if data is None or chance.random() < 0.5
        )
    )
