"""What differs between a folder and an index: which paths to add, and which to remove."""

import os
import stat
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from hashlib import sha256
from tempfile import TemporaryFile
from typing import BinaryIO, Final, NamedTuple, Unpack

from uwf_core.files.hazards import find_hazards
from uwf_core.files.incoming import EXCLUDES
from uwf_core.files.index import IndexState
from uwf_core.files.paths import RealFolders, below, parents
from uwf_core.files.repository import FilesRepository
from uwf_core.files.user_rules import UserRules
from uwf_core.process.git import GitOptions, ask_git

_LISTED: Final = ("ls-files", "-z", "-t", "-m", "-d", "-o", "--exclude-standard")
_OTHER: Final = b"?"
_CHUNK: Final = 1 << 16


class RecordedFolder(NamedTuple):
    """A folder that is recorded, its index file, and the rules that hold there.

    Attributes:
        index_file: its path. excludes: a file with the user's rules.
        left_out: the path of uwf's home in the folder.
    """

    repository: FilesRepository
    folder: str
    index_file: str
    excludes: str
    rules: UserRules
    left_out: bytes | None

    def git(self, *words: str, **options: Unpack[GitOptions]) -> bytes:
        """The output of a git command about the folder and its index."""
        words = "-c", f"core.excludesFile={self.excludes}", *words
        return self.repository.git(*words, folder=self.folder, index=self.index_file, **options)


@contextmanager
def rules_file(repository: FilesRepository, rules: UserRules) -> Iterator[str]:
    """A file with the user's rules, for one block.

    Raises:
        OSError: they cannot be read, or the file cannot be written.
    """
    text = rules.ignore_text()
    if not text.strip():
        yield os.devnull
        return
    from tempfile import NamedTemporaryFile

    with NamedTemporaryFile(dir=repository.path, prefix=EXCLUDES) as file:
        file.write(text)
        file.flush()
        yield file.name


class Changes(NamedTuple):
    """What to do to an index.

    Attributes:
        sizes: the files to add or to read again, with their sizes in bytes.
        known: the paths of `sizes`, `gone` and `dropped` that the index has.
        gone: the paths to remove that are missing. dropped: those at which something else is.
        nested: the repositories inside the folder.
        left_out: why other paths are not recorded.
        rules, forced, missing, folders: as in `IndexState`.
    """

    sizes: dict[bytes, int]
    known: set[bytes]
    gone: set[bytes]
    dropped: set[bytes]
    nested: tuple[bytes, ...]
    left_out: dict[bytes, str]
    rules: str
    forced: frozenset[bytes]
    missing: frozenset[bytes]
    folders: frozenset[bytes]

    @property
    def is_none(self) -> bool:
        """Whether the index has the files of the folder."""
        return not (self.sizes or self.gone or self.dropped)


class TooManyFiles(Exception):
    """There are more files than may be recorded."""


def find_changes(place: RecordedFolder, state: IndexState, most: int) -> Changes:
    """Compare a folder with its index. Nothing is written.

    Raises:
        TooManyFiles: more than `most` files are new; the others were not looked for.
        GitFailed: git failed, or could not read a folder.
        OSError: something cannot be read.
    """
    left_out, closed = find_hazards(place.folder)
    others, known, nested = _listed(place, most, strict=not closed)
    inner, links, stamps = _look_into_folders(place.folder, state.folders)
    nested |= inner
    rules = _digest(place.rules, stamps)
    forced, missing, dropped = state.forced, state.missing, set[bytes]()
    if rules != state.rules:
        forced, missing, dropped = _forced(place, is_empty=not state.files)
    for path in inner | links:
        inside = f":(literal){os.fsdecode(path)}/"
        dropped |= listed_paths(place.git("ls-files", "-z", "--", inside))
    own = set[bytes]() if place.left_out is None else {place.left_out}
    outside = {*nested, *own, *left_out}
    dropped |= {path for path in known if below(path, outside)}
    new = {path for path in {*others, *missing} if not below(path, outside)}
    sizes, gone, occupied = _measured(place.folder, known - dropped, new)
    for path in [each for each in sizes if not _is_readable(place.folder, each)]:
        del sizes[path]
        left_out[path] = "a file that cannot be read"
        if path in known:
            dropped.add(path)
    return Changes(
        sizes=sizes,
        known=known | dropped,
        gone=gone,
        dropped=dropped | occupied,
        nested=tuple(sorted(nested)),
        left_out={path: why for path, why in left_out.items() if not below(path, own)},
        rules=rules,
        forced=forced,
        missing=(missing | (forced & (gone | dropped | occupied))) - sizes.keys(),
        folders=state.folders.union(*(parents(path) for path in sizes)),
    )


def _listed(
    place: RecordedFolder, most: int, *, strict: bool
) -> tuple[set[bytes], set[bytes], set[bytes]]:
    """The files that the index lacks, its paths that changed, and the repositories inside."""
    others, known, nested = set[bytes](), set[bytes](), set[bytes]()
    with TemporaryFile(dir=place.repository.path) as out:  # there may be very many
        place.git(*_LISTED, strict=strict, stdout=out)
        out.seek(0)
        for line in _lines(out):
            path = line[2:]
            if line[:1] != _OTHER:
                known.add(path)
            elif path.endswith(b"/"):
                nested.add(path[:-1])
            else:
                others.add(path)
                if len(others) > most:
                    raise TooManyFiles
    return others, known, nested


def _lines(file: BinaryIO) -> Iterator[bytes]:
    """The parts of a file that a NUL ends."""
    rest = b""
    while chunk := file.read(_CHUNK):
        *lines, rest = (rest + chunk).split(b"\0")
        yield from lines


def _look_into_folders(
    folder: str, inner: Iterable[bytes]
) -> tuple[set[bytes], set[bytes], list[str]]:
    """Of the recorded folders those that became repositories, and those that became links, which
    git follows; stamps of the ignore files there.
    """
    top, nested, links, stamps = os.fsencode(folder), set[bytes](), set[bytes](), list[str]()
    for path in sorted({b"", *inner}):
        place = os.path.join(top, path)
        if path and os.path.islink(place):
            links.add(path)
            continue
        if path and os.path.lexists(os.path.join(place, b".git")) and _is_repository(place):
            nested.add(path)
        try:
            found = os.lstat(os.path.join(place, b".gitignore"))
        except OSError:
            continue
        stamps.append(f"{path!r} {found.st_mtime_ns} {found.st_size} {found.st_ino}")
    return nested, links, stamps


def _is_repository(place: bytes) -> bool:
    said = ask_git(os.fsdecode(place), "rev-parse", "--show-toplevel")
    return said is not None and os.path.realpath(said.removesuffix("\n")) == os.path.realpath(
        os.fsdecode(place)
    )


def _is_readable(folder: str, path: bytes) -> bool:
    place = os.path.join(os.fsencode(folder), path)
    return os.path.islink(place) or os.access(place, os.R_OK)


def _digest(rules: UserRules, stamps: Sequence[str]) -> str:
    digest = sha256(rules.ignore_text())
    digest.update("\0".join((rules.index_stamp(), *stamps)).encode())
    return digest.hexdigest()


def _forced(
    place: RecordedFolder, *, is_empty: bool
) -> tuple[frozenset[bytes], frozenset[bytes], set[bytes]]:
    """The ignored paths that the user tracks, those of them that the index lacks, and the ignored
    paths in the index that the user does not track.
    """
    forced = frozenset(place.rules.tracked_though_ignored())
    if is_empty:
        return forced, forced, set()
    ignored = listed_paths(place.git("ls-files", "-z", "-c", "-i", "--exclude-standard"))
    missing = forced - listed_paths(place.git("ls-files", "-z")) if forced else forced
    return forced, missing, ignored - forced


def listed_paths(listed: bytes) -> set[bytes]:
    """The paths of a list by git with `-z`."""
    return {path for path in listed.split(b"\0") if path}


def _measured(
    folder: str, known: Iterable[bytes], new: Iterable[bytes]
) -> tuple[dict[bytes, int], set[bytes], set[bytes]]:
    """The sizes of the files that are there; of the `known` paths those that are gone, and those
    at which there is something else, or that only a link leads to.
    """
    top, reach = os.fsencode(folder), RealFolders(os.fsencode(folder))
    sizes, gone, occupied = dict[bytes, int](), set[bytes](), set[bytes]()
    for paths, is_known in ((known, True), (new, False)):
        for path in paths:
            try:
                found = os.lstat(os.path.join(top, path))
            except (FileNotFoundError, NotADirectoryError):
                if is_known:
                    (occupied if reach.behind_link(path) else gone).add(path)
                continue
            is_file = stat.S_ISREG(found.st_mode) or stat.S_ISLNK(found.st_mode)
            if is_file and not reach.behind_link(path):
                sizes[path] = found.st_size
            elif is_known:
                occupied.add(path)
    return sizes, gone, occupied
