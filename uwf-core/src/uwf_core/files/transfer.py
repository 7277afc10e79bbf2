"""Objects of recorded files on their way out of `files.git`, and into that of another home."""

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from hashlib import sha256
from tempfile import TemporaryFile
from typing import TYPE_CHECKING, BinaryIO, Final, NamedTuple

from uwf_core.errors import BundleError, StoreError
from uwf_core.files.incoming import Incoming, incoming
from uwf_core.files.keeping import damaged_trees, reported
from uwf_core.files.packs import PackFile
from uwf_core.files.repository import FilesRepository, find_repository, open_repository
from uwf_core.files.trees import BLOB, TREE, GitObject, RecordedObjects
from uwf_core.process import crash_points
from uwf_core.process.git import GitFailed

if TYPE_CHECKING:
    from uwf_core.cas.bundle import Bundle

_CHUNK: Final = 1 << 20
_LONGEST_HEADER: Final = 32


def header_of(each: GitObject) -> bytes:
    """What git puts before the content of an object, for its name and in a bundle."""
    return f"{each.kind} {each.size}\0".encode()


class BundledFiles:
    """The objects in a bundle, which has compared each with its name."""

    def __init__(self, bundle: "Bundle") -> None:
        """Read the kinds of the objects.

        Raises:
            BundleError: one is not an object of recorded files.
        """
        self._bundle = bundle
        self._found = {name: self._kind_of(name) for name in bundle.objects}

    def found(self) -> Mapping[str, GitObject]:
        """All of them, by name."""
        return self._found

    def content(self, name: str) -> Iterator[bytes]:
        """The content of one, in chunks."""
        chunks = self._bundle.object_chunks(name)
        yield next(chunks)[len(header_of(self._found[name])) :]
        yield from chunks

    def _kind_of(self, name: str) -> GitObject:
        begin = next(self._bundle.object_chunks(name), b"")[:_LONGEST_HEADER].partition(b"\0")[0]
        kind, _, number = begin.decode("ascii", "replace").partition(" ")
        size = self._bundle.objects[name].size - len(begin) - 1
        if kind not in (BLOB, TREE) or number != str(size):
            raise BundleError(f"the recorded file {name} is not an object of git")
        return GitObject(kind, size)


class _Position(NamedTuple):
    """Where the content of an object begins in a file, and what it is."""

    offset: int
    object: GitObject


class KeptFiles:
    """The objects of some trees of `files.git`, in a temporary file. To be used with `with`."""

    def __init__(self, home: str, trees: Mapping[str, str]) -> None:
        """Read them.

        Args:
            home: the folder of uwf.
            trees: the trees by their id; the moment of each: `before step X`.

        Raises:
            StoreError: one of them is missing or damaged.
        """
        found = find_repository(home)
        self._file = TemporaryFile(dir=None if found is None else found.path)  # noqa: SIM115
        try:
            if found is None:
                raise GitFailed("nothing is recorded")
            self._places = dict(self._read(found, trees))
            self._objects = {name: place.object for name, place in self._places.items()}
        except GitFailed as error:
            self._file.close()
            damaged = damaged_trees(home, trees)
            tree = next(iter(damaged), next(iter(trees)))
            raise StoreError(
                f"the files {trees[tree]} are missing or damaged: {damaged.get(tree, error)}",
                where=home,
                hint="a bundle made without --with-files contains no files: those of an imported "
                "thread are where it ran; next: uwf cas verify",
            ) from error
        except BaseException:
            self._file.close()
            raise

    def __enter__(self) -> "KeptFiles":
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def found(self) -> Mapping[str, GitObject]:
        """All of them, sorted by name."""
        return self._objects

    def content(self, name: str) -> Iterator[bytes]:
        """The content of one, in chunks."""
        offset, each = self._places[name]
        yield from _chunks(self._file, offset, each.size)

    def _read(
        self, repository: FilesRepository, trees: Iterable[str]
    ) -> Iterator[tuple[str, _Position]]:
        names = "".join(f"{tree}\n" for tree in trees).encode()
        listed = repository.git(
            "rev-list", "--objects", "--no-object-names", "--stdin", stdin=names
        )
        wanted = b"".join(sorted({*listed.splitlines(keepends=True)}))
        repository.git("cat-file", "--batch", "--buffer", stdin=wanted, stdout=self._file)
        end, at = self._file.seek(0, os.SEEK_END), 0
        while at < end:
            self._file.seek(at)
            line = self._file.readline()
            name, _, rest = line.decode().rstrip("\n").partition(" ")
            kind, _, size = rest.partition(" ")
            if kind not in (BLOB, TREE):
                raise GitFailed(f"object {name} is missing")
            each, at = GitObject(kind, int(size)), at + len(line)
            digest = sha256(header_of(each))
            for chunk in _chunks(self._file, at, each.size):
                digest.update(chunk)
            if digest.hexdigest() != name:
                raise GitFailed(f"object {name} does not match its SHA-256")
            yield name, _Position(at, each)
            at += each.size + 1


def _chunks(file: BinaryIO, offset: int, size: int) -> Iterator[bytes]:
    for at in range(offset, offset + size, _CHUNK):
        file.seek(at)
        yield file.read(min(_CHUNK, offset + size - at))


def count_missing(home: str, objects: RecordedObjects) -> int:
    """How many objects `files.git` lacks."""
    repository = find_repository(home)
    return len(objects.found() if repository is None else _missing(repository, objects))


def _missing(repository: FilesRepository, objects: RecordedObjects) -> list[str]:
    names = "".join(f"{name}\n" for name in objects.found()).encode()
    with reported(repository, "read"):
        said = repository.git("cat-file", "--batch-check=%(objectname)", stdin=names).decode()
    return [line.removesuffix(" missing") for line in said.splitlines() if line.endswith("missing")]


class ImportedFiles:
    """Objects and, for each thread, a chain of commits with its trees, in `files.git`. Nothing
    refers to them before `keep`.

    Attributes:
        added: how many of the objects were new.
    """

    def __init__(
        self,
        repository: FilesRepository,
        objects: RecordedObjects,
        chains: Mapping[str, Sequence[str]],
    ) -> None:
        """Store what the repository lacks; raises as `imported_files`."""
        self._repository = repository
        self._tips = dict[str, str]()
        missing = _missing(repository, objects)
        self.added = len(missing)
        with incoming(repository) as new:
            _write(new, objects, missing)
            for thread, trees in chains.items():
                tip = repository.newest(thread)
                for tree in trees:
                    tip = new.add_commit(tree, tip)
                if tip is not None:
                    self._tips[thread] = tip
            new.keep()

    def keep(self) -> None:
        """Keep the files for their threads.

        Raises:
            StoreError: they cannot be kept.
        """
        crash_points.reach("snapshot")
        with reported(self._repository, "kept"):
            for thread, tip in self._tips.items():
                self._repository.set_newest(thread, tip)


@contextmanager
def imported_files(
    home: str, objects: RecordedObjects, chains: Mapping[str, Sequence[str]]
) -> Iterator[ImportedFiles]:
    """Store objects; nothing deletes them in this block, so that they can be kept in it.

    Args:
        home: the folder of uwf.
        objects: checked objects.
        chains: the trees of each thread, oldest first.

    Raises:
        StoreError: they cannot be stored.
    """
    with ExitStack() as stack:
        try:
            repository = open_repository(home)
        except (GitFailed, OSError) as error:
            raise StoreError(f"the recorded files cannot be stored: {error}", where=home) from error
        with reported(repository, "stored"):
            stack.enter_context(repository.lock())
            files = ImportedFiles(repository, objects, chains)
        yield files


def _write(new: Incoming, objects: RecordedObjects, names: Sequence[str]) -> None:
    """Write some of the objects."""
    if not names:
        return
    found = objects.found()
    with TemporaryFile(dir=new.path) as file:
        pack = PackFile(file, len(names))
        for name in names:
            each = found[name]
            pack.add(each.kind, each.size, objects.content(name))
        pack.end()
        file.seek(0)
        options, env = new.writing()
        new.repository.git(*options, "index-pack", "--stdin", env=env, stdin=file)
