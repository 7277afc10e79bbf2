"""Bundles: a thread as one file that anyone can verify, in the layout of ocas 0.4 export.

A plain tar of `cas/<REF>.bin` sorted by reference, `vars.jsonl`, `tags.jsonl` (always empty here),
then what ocas ignores: `files/<SHA-256>` sorted by name, if recorded files were exported too, and
`manifest.json`. A plain bundle, of ocas, has no manifest: its names and tags mean something to
other programs, and only its nodes are read. A bundle is read in place: its nodes are a store that
can be looked into like any other, and only then copied.
"""

import os
import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from hashlib import sha256
from operator import attrgetter
from typing import BinaryIO, NamedTuple

from uwf_core.api.store import Record, Variable
from uwf_core.cas import bundle_lines, manifest, node_file, tar
from uwf_core.cas.hashing import META, sha256_of
from uwf_core.cas.manifest import Manifest
from uwf_core.errors import BundleError, CorruptNodeError
from uwf_core.ids import number_of
from uwf_core.process.path_walk import open_named

FOLDER, ENDING = "cas/", ".bin"
OBJECTS = "files/"
VARIABLES, TAGS, MANIFEST = "vars.jsonl", "tags.jsonl", "manifest.json"


class Caps(NamedTuple):
    """How much a bundle may hold: nodes, bytes of one node, bytes of each other file, objects of
    recorded files, bytes of one of them.
    """

    nodes: int = 1_000_000
    node_bytes: int = 256 * 1024 * 1024
    file_bytes: int = 256 * 1024 * 1024
    objects: int = 2_000_000
    object_bytes: int = 1_000_000_100


CAPS = Caps()
_NAME = attrgetter("name")


class _FilePosition(NamedTuple):
    """Where a node lies in the archive, and the digest that was taken of it."""

    offset: int
    size: int
    sha256: bytes


_OBJECT = re.compile(r"files/[0-9a-f]{64}")
_CHUNK = 1 << 20


class Bundle:
    """A bundle that matches its manifest; `check_nodes` looks whether each node matches its
    reference. To be closed, or used with `with`.

    It is also the reading half of a `StoreBackend`: `Store(bundle, clock)` reads its nodes.

    Attributes:
        is_plain: whether it has no manifest.
        contents: the variables, sorted by name. size: in bytes.
        schemas: the references of its schemas.
        objects: where each object of recorded files lies, by its SHA-256.

    Raises:
        BundleError: it is not a bundle, or does not match its manifest.
    """

    def __init__(self, path: str, caps: Caps = CAPS) -> None:
        self._path = path
        self._caps = caps
        self._places: dict[str, _FilePosition] = {}
        self.schemas: list[str] = []
        self.objects: dict[str, tar.TarEntry] = {}
        self._file, self.size = opened(path)
        try:
            self._archive = tar.Reader(self._file, self.size)
            self._manifest, self.contents = self._read()
        except BundleError as error:
            self.close()
            if error.where is None:
                error.where = path
            raise
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> "Bundle":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __len__(self) -> int:
        return len(self._places)

    @property
    def is_plain(self) -> bool:
        """Whether it has no manifest."""
        return self._manifest is None

    @property
    def manifest(self) -> Manifest:
        """Its manifest.

        Raises:
            BundleError: it is plain.
        """
        if self._manifest is None:
            raise _no_manifest(self._path)
        return self._manifest

    def _read(self) -> tuple[Manifest | None, Sequence[Variable]]:
        entry = self._next()
        while entry.name.startswith(FOLDER):
            self._add(entry)
            entry = self._next()
        lines, tags = self._content(entry, VARIABLES), self._content(self._next(), TAGS)
        first = self._archive.next()
        if first is None:
            if not self._places:
                raise BundleError("the bundle has no nodes")
            return None, ()
        variables = bundle_lines.from_bytes(lines, self._type_of)
        if tags:
            raise BundleError("the bundle has tags of nodes, which uwf does not support")
        entry = first
        while entry.name.startswith(OBJECTS):
            self._add_object(entry)
            entry = self._next()
        nodes = [(ref, place.sha256.hex()) for ref, place in self._places.items()]
        promised = manifest.from_bytes(self._content(entry, MANIFEST), nodes, [*self.objects])
        if self._archive.next() is not None:
            raise BundleError("the bundle has data after its manifest")
        return promised, variables

    def _next(self) -> tar.TarEntry:
        entry = self._archive.next()
        if entry is None:
            raise _no_manifest(None)
        return entry

    def _content(self, entry: tar.TarEntry, name: str) -> bytes:
        if entry.name != name or entry.mtime:
            raise BundleError(f"the bundle has {entry.name} in place of {name}")
        if entry.size > self._caps.file_bytes:
            raise BundleError(f"{name} is larger than {self._caps.file_bytes} bytes")
        return self._archive.read(entry.offset, entry.size)

    def _add(self, entry: tar.TarEntry) -> None:
        ref = entry.name.removeprefix(FOLDER).removesuffix(ENDING)
        if entry.name != f"{FOLDER}{ref}{ENDING}" or number_of(ref) is None:
            raise BundleError(f"{entry.name!r} is not a name of a node")
        if self._places and ref <= next(reversed(self._places)):
            raise BundleError(f"the node {ref} is out of order or duplicate")
        if len(self._places) >= self._caps.nodes:
            raise BundleError(f"the bundle has more than {self._caps.nodes} nodes")
        if entry.size > self._caps.node_bytes:
            raise BundleError(f"the node {ref} is larger than {self._caps.node_bytes} bytes")
        node = self._node(ref, entry.offset, entry.size)
        if node.timestamp_ms // 1000 != entry.mtime:
            raise BundleError(f"the node {ref} has two times")
        if node.type == META:
            self.schemas.append(ref)
        self._places[ref] = _FilePosition(entry.offset, entry.size, sha256_of(node.type, node.data))

    def _add_object(self, entry: tar.TarEntry) -> None:
        name = entry.name.removeprefix(OBJECTS)
        if not _OBJECT.fullmatch(entry.name) or entry.mtime:
            raise BundleError(f"{entry.name!r} is not a name of a recorded file, or has a time")
        if self.objects and name <= next(reversed(self.objects)):
            raise BundleError(f"the recorded file {name} is out of order or duplicate")
        if len(self.objects) >= self._caps.objects:
            raise BundleError(f"the bundle has more than {self._caps.objects} recorded files")
        if entry.size > self._caps.object_bytes:
            raise BundleError(
                f"the recorded file {name} is larger than {self._caps.object_bytes} bytes"
            )
        self.objects[name] = entry
        digest = sha256()
        for chunk in self.object_chunks(name):
            digest.update(chunk)
        if digest.hexdigest() != name:
            raise BundleError(f"the recorded file {name} does not match its SHA-256")

    def object_chunks(self, name: str) -> Iterator[bytes]:
        """The content of an object of recorded files, in chunks of at most 1 MiB."""
        entry = self.objects[name]
        end = entry.offset + entry.size
        for at in range(entry.offset, end, _CHUNK):
            yield self._archive.read(at, min(_CHUNK, end - at))

    def _node(self, ref: str, offset: int, size: int) -> node_file.NodeFile:
        try:
            return node_file.from_bytes(self._archive.read(offset, size))
        except CorruptNodeError as error:
            raise BundleError(f"the node {ref} cannot be read: {error.message}") from error

    def _type_of(self, ref: str) -> str | None:
        record = self.get(ref)
        return None if record is None else record.type

    # -- as a store, to be read ------------------------------------------------------------------

    def get(self, ref: str) -> Record | None:
        """The node, as a record without edges."""
        place = self._places.get(ref)
        if place is None:
            return None
        node = self._node(ref, place.offset, place.size)
        at = node.timestamp_ms
        return Record(ref, node.type, place.sha256, node.data, (), at, at)

    def present(self, refs: Sequence[str]) -> set[str]:
        """Those of `refs` that are in the bundle."""
        return {ref for ref in refs if ref in self._places}

    def records(self, type: str | None = None) -> Iterator[Record]:
        """All nodes, sorted by reference."""
        for ref in self._places:
            record = self.get(ref)
            if record is not None and type in (None, record.type):
                yield record

    def variable(self, name: str) -> Variable | None:
        """The variable, or None."""
        at = bisect_left(self.contents, name, key=_NAME)
        found = self.contents[at : at + 1]
        return found[0] if found and found[0].name == name else None

    def variables(
        self, prefix: str, *, after: str | None = None, limit: int | None = None
    ) -> list[Variable]:
        """Variables by prefix, sorted by name."""
        first = bisect_left(self.contents, prefix, key=_NAME)
        last = bisect_left(self.contents, prefix + "\U0010ffff", key=_NAME)
        found = self.contents[first:last]
        return [each for each in found if after is None or each.name > after][:limit]

    def location(self) -> str:
        """The path of the file."""
        return self._path

    def close(self) -> None:
        """Close the file."""
        self._file.close()


def _no_manifest(path: str | None) -> BundleError:
    return BundleError(
        f"the bundle has no {MANIFEST}",
        where=path,
        hint="only bundles of `uwf thread export` can be verified",
    )


def opened(path: str) -> tuple[BinaryIO, int]:
    """The file of a bundle, and its size.

    Raises:
        BundleError: it is not a plain file, or cannot be read.
    """
    try:
        descriptor, found = open_named(path)
        return os.fdopen(descriptor, "rb"), found.st_size
    except OSError as error:
        raise BundleError(
            f"cannot read the bundle: {error.strerror}", where=path, hint="give the path of a file"
        ) from error
