"""Check recorded trees that came from elsewhere, or that go there: what a folder may get of them.

Nothing is trusted: each object has the form that git itself writes, no path leads out of the
folder or into a repository, and the limits of snapshots hold for the whole tree, although a small
one can name itself many times.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Final, NamedTuple, Protocol

from uwf_core.errors import BundleError
from uwf_core.files.hazards import is_refused
from uwf_core.files.paths import shown
from uwf_core.files.snapshot import MOST_BYTES, MOST_FILES

BLOB: Final = "blob"
TREE: Final = "tree"
MOST_TREE_BYTES: Final = 64_000_000
"""The most bytes of one tree."""
_ID_BYTES: Final = 32
_FOLDER: Final = b"40000"
_LINK: Final = b"120000"
_MODES: Final = (_FOLDER, _LINK, b"100644", b"100755")
_LONGEST_NAME: Final = 255
_LONGEST_PATH: Final = 4_095


class GitObject(NamedTuple):
    """The kind of an object, and the bytes of its content."""

    kind: str
    size: int


class RecordedObjects(Protocol):
    """Objects of recorded files, each of which is known to match its name, its SHA-256."""

    def found(self) -> Mapping[str, GitObject]:
        """All of them, by name."""

    def content(self, name: str) -> Iterator[bytes]:
        """The content of one, in chunks."""


class TreeEntry(NamedTuple):
    """An entry of a tree."""

    mode: bytes
    name: bytes
    object: str

    @property
    def is_folder(self) -> bool:
        """Whether it is a tree."""
        return self.mode == _FOLDER


class _Rejected(Exception):
    """Why a tree is rejected. The message ends a sentence."""


class _Extent(NamedTuple):
    """What is below a tree: files, bytes, the longest path, how far above it links lead, and one
    that leads furthest.
    """

    files: int = 0
    size: int = 0
    longest: int = 0
    climbs: int = 0
    link: bytes = b""


def check_trees(objects: RecordedObjects, trees: Mapping[str, str]) -> None:
    """Check that the objects are those of some trees, all of them and no others.

    Args:
        objects: the objects.
        trees: the trees by their id; the moment of each: `before step X`.

    Raises:
        BundleError: an object is missing, superfluous or invalid, a tree is too large, or a path
            or link leads out of it.
    """
    extents = dict[str, _Extent]()
    reached = set[str]()
    for tree, moment in trees.items():
        try:
            _check_extent(_measure(objects, tree, extents, reached))
        except _Rejected as why:
            raise BundleError(
                f"the files {moment} {why}",
                hint="without --with-files, a bundle does not contain them",
            ) from why
    strays = objects.found().keys() - reached
    if strays:
        raise BundleError(f"the recorded file {min(strays)} is not part of the thread")


def entries_of(objects: RecordedObjects, tree: str) -> list[TreeEntry]:
    """The entries of a tree that `check_trees` has checked."""
    return list(_entries(b"".join(objects.content(tree))))


def paths_to(objects: RecordedObjects, tree: str, wanted: Iterable[str]) -> Iterator[bytes]:
    """The paths of the entries of a checked tree that have one of the wanted objects."""
    names, waiting = {*wanted}, [(b"", tree)]
    while waiting:
        above, inner = waiting.pop()
        for entry in entries_of(objects, inner):
            path = above + entry.name
            if entry.object in names:
                yield path
            if entry.is_folder:
                waiting.append((path + b"/", entry.object))


def _check_extent(extent: _Extent) -> None:
    if extent.files > MOST_FILES or extent.size > MOST_BYTES:
        raise _Rejected(
            f"are more than {MOST_FILES:,} files or {MOST_BYTES:,} bytes, which uwf does not record"
        )
    if extent.longest > _LONGEST_PATH:
        raise _Rejected(f"have a path of more than {_LONGEST_PATH:,} bytes")
    if extent.climbs > 0:
        raise _Rejected(f"have a link that leads outside of their folder: {shown(extent.link)!r}")


def _measure(
    objects: RecordedObjects, tree: str, extents: dict[str, _Extent], reached: set[str]
) -> _Extent:
    """Check a tree with all below it, each once: those that it contains first."""
    waiting = [tree]
    while waiting:
        name = waiting[-1]
        if name in extents:
            waiting.pop()
            continue
        reached.add(name)
        entries = _checked_entries(objects, name)
        inner = [each.object for each in entries if each.is_folder and each.object not in extents]
        if inner:
            waiting += inner
            continue
        extent = _Extent()
        for entry in entries:
            if not entry.is_folder:
                reached.add(entry.object)
            extent = _added(extent, entry, _extent_of(objects, entry, extents))
        extents[name] = extent
    return extents[tree]


def _added(extent: _Extent, entry: TreeEntry, inner: _Extent) -> _Extent:
    """The extent with one more entry; above the limits, figures no longer grow."""
    climbs, link = extent.climbs, extent.link
    above = inner.climbs - entry.is_folder
    if above > climbs:
        climbs = above
        link = entry.name + (b"/" + inner.link if entry.is_folder else b"")
    longest = len(entry.name) + (1 + inner.longest if entry.is_folder else 0)
    return _Extent(
        min(extent.files + inner.files, MOST_FILES + 1),
        min(extent.size + inner.size, MOST_BYTES + 1),
        min(max(extent.longest, longest), _LONGEST_PATH + 1),
        climbs,
        link[: _LONGEST_PATH + 1],
    )


def _extent_of(objects: RecordedObjects, entry: TreeEntry, extents: dict[str, _Extent]) -> _Extent:
    if entry.is_folder:
        return extents[entry.object]
    size = _object(objects, entry.object, BLOB).size
    if entry.mode != _LINK:
        return _Extent(1, size)
    if not 0 < size <= _LONGEST_PATH:
        raise _Rejected(f"have a link whose target has {size:,} bytes: {shown(entry.name)!r}")
    target = b"".join(objects.content(entry.object))
    return _Extent(1, size, climbs=_climbs(target), link=entry.name)


def _climbs(target: bytes) -> int:
    """How many folders above its own a link leads. One that can lead anywhere climbs too far: it is
    absolute, goes up again after a name, which may be that of another link, or leads into `.git`.
    """
    parts = [part for part in target.split(b"/") if part not in (b"", b".")]
    ups = next((at for at, part in enumerate(parts) if part != b".."), len(parts))
    names = parts[ups:]
    if target.startswith(b"/") or b"\0" in target or not all(map(_is_name, names)):
        return _LONGEST_PATH
    return ups


def _object(objects: RecordedObjects, name: str, kind: str) -> GitObject:
    found = objects.found().get(name)
    if found is None:
        raise _Rejected(f"are incomplete: {kind} {name} is missing")
    if found.kind != kind:
        raise _Rejected(f"are invalid: {name} is a {found.kind}, not a {kind}")
    return found


def _checked_entries(objects: RecordedObjects, tree: str) -> list[TreeEntry]:
    size = _object(objects, tree, TREE).size
    if size > MOST_TREE_BYTES:
        raise _Rejected(f"are invalid: tree {tree} has {size:,} bytes")
    entries, last, names = [], b"", set[bytes]()
    for entry in _entries(b"".join(objects.content(tree))):
        key = entry.name + b"/" * entry.is_folder
        if key <= last or entry.name in names or entry.mode not in _MODES:
            raise _Rejected(f"are invalid: tree {tree} is not in the form of git")
        if not _is_name(entry.name):
            raise _Rejected(f"have the name {shown(entry.name)!r}, which no file may have")
        names.add(entry.name)
        entries.append(entry)
        last = key
    return entries


def _entries(content: bytes) -> Iterator[TreeEntry]:
    at = 0
    while at < len(content):
        end = content.find(b"\0", at)
        after = end + 1 + _ID_BYTES
        mode, blank, name = content[at:end].partition(b" ")
        if end < 0 or after > len(content) or not blank:
            raise _Rejected("are invalid: a tree is truncated")
        yield TreeEntry(mode, name, content[end + 1 : after].hex())
        at = after


def _is_name(name: bytes) -> bool:
    if name in (b"", b".", b"..") or b"/" in name or len(name) > _LONGEST_NAME:
        return False
    return not is_refused(name)
