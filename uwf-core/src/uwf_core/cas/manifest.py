"""The manifest of a bundle: its nodes with their SHA-256, and the root over all of them.

`{version, thread, head, root, threads, nodes: [[ref, sha256], …]}`: `threads` are the thread and
those that it called, sorted; nodes are sorted by reference. The root is
SHA-256 over the head and a line feed, then for each node its reference, a space, its SHA-256 in
hexadecimal and a line feed: the same in every store that has the same nodes.

With recorded files the version is 2, and `files` lists the SHA-256 of each object, sorted. The root
is the same as without: steps name their trees by SHA-256, and trees name all that they contain.
"""

import json
from collections.abc import Iterable, Sequence
from hashlib import sha256
from typing import TYPE_CHECKING, Any, NamedTuple

from uwf_core.cas.walk import stored_below
from uwf_core.errors import BundleError
from uwf_core.ids import Ref, ThreadId

if TYPE_CHECKING:
    from uwf_core.cas.store import Store

VERSION = 1
VERSION_WITH_FILES = 2
_KEYS = ("version", "thread", "head", "root", "threads", "nodes")


class Manifest(NamedTuple):
    """The manifest. `threads`: all whose variables the bundle has; `nodes`: pairs of reference and
    SHA-256 in hexadecimal; `files`: the SHA-256 of the objects of recorded files.
    """

    thread: str
    head: str
    root: str
    threads: Sequence[str]
    nodes: Sequence[tuple[str, str]]
    files: Sequence[str] = ()


def root_of(head: str, nodes: Iterable[tuple[str, str]]) -> str:
    """The root over a head and nodes that are sorted by reference, in hexadecimal."""
    digest = sha256(f"{head}\n".encode())
    for ref, each in nodes:
        digest.update(f"{ref} {each}\n".encode())
    return digest.hexdigest()


def root_from(store: "Store", head: str, roots: Iterable[str]) -> str:
    """The root over a head and everything that can be reached from `roots`.

    Raises:
        CorruptNodeError, MissingNodeError: a node on the way is damaged or missing.
    """
    nodes = ((record.ref, record.sha256.hex()) for record in stored_below(store, roots))
    return root_of(head, sorted(nodes))


def manifest_of(
    thread: str,
    head: str,
    threads: Iterable[str],
    nodes: Sequence[tuple[str, str]],
    files: Sequence[str] = (),
) -> Manifest:
    """The manifest of nodes that are sorted by reference, and of sorted `files`."""
    return Manifest(thread, head, root_of(head, nodes), sorted(map(str, threads)), nodes, files)


def to_bytes(manifest: Manifest) -> bytes:
    """The file's content."""
    document = {"version": VERSION_WITH_FILES if manifest.files else VERSION, **manifest._asdict()}
    if not manifest.files:
        del document["files"]
    return json.dumps(document, separators=(",", ":")).encode() + b"\n"


def from_bytes(
    content: bytes, nodes: Sequence[tuple[str, str]], files: Sequence[str] = ()
) -> Manifest:
    """The manifest of an archive that holds `nodes` and `files`.

    Raises:
        BundleError: it is invalid, or does not match the nodes.
    """
    document = _document(content)
    _check_form(document, has_files=bool(files))
    thread, head = document["thread"], document["head"]
    if not (isinstance(thread, str) and ThreadId.matches(thread)):
        raise BundleError("the manifest has no thread")
    if not (isinstance(head, str) and Ref.matches(head)):
        raise BundleError("the manifest has no head")
    threads = document["threads"]
    if not _are_threads(threads) or thread not in threads:
        raise BundleError("the threads of the manifest are not ids in their order, with its thread")
    if document["nodes"] != [list(node) for node in nodes]:
        raise BundleError("the nodes of the bundle do not match its manifest")
    if document.get("files", []) != [*files]:
        raise BundleError("the recorded files of the bundle do not match its manifest")
    manifest = manifest_of(thread, head, threads, nodes, files)
    if document["root"] != manifest.root:
        raise BundleError("the root of the manifest does not match its nodes")
    return manifest


def _check_form(document: dict[str, Any], *, has_files: bool) -> None:
    version = document.get("version")
    if version not in (VERSION, VERSION_WITH_FILES):
        raise BundleError(
            f"unsupported bundle version {version!r}; this uwf supports {VERSION} and "
            f"{VERSION_WITH_FILES}",
            hint="upgrade uwf",
        )
    if version != (VERSION_WITH_FILES if has_files else VERSION):
        holds = "has" if has_files else "lacks"
        raise BundleError(f"the manifest has version {version}, but the bundle {holds} files")
    keys = (*_KEYS, "files") if has_files else _KEYS
    if tuple(document) != keys:
        raise BundleError(f"the manifest must have the keys {', '.join(keys)}, in this order")


def _are_threads(threads: Any) -> bool:
    """Whether these are different ids of threads, sorted."""
    if not isinstance(threads, list) or not all(isinstance(each, str) for each in threads):
        return False
    return all(map(ThreadId.matches, threads)) and threads == sorted({*threads})


def _document(content: bytes) -> dict[str, Any]:
    try:
        document = json.loads(content)
    except (ValueError, RecursionError) as error:
        raise BundleError(f"the manifest is not JSON: {error}") from error
    if not isinstance(document, dict):
        raise BundleError("the manifest is not a mapping")
    return document
