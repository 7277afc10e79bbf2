"""The manifest of a bundle: its nodes with their SHA-256, and the root over all of them.

`{version, thread, head, root, threads, nodes: [[ref, sha256], …]}`: `threads` are the thread and
those that it called, sorted; nodes are sorted by reference. The root is
SHA-256 over the head and a line feed, then for each node its reference, a space, its SHA-256 in
hexadecimal and a line feed: the same in every store that has the same nodes.
"""

import json
from collections.abc import Iterable, Sequence
from hashlib import sha256
from typing import Any

from uwf_core.errors import BundleError
from uwf_core.ids import Ref, ThreadId
from uwf_core.named_tuple import NamedTuple

VERSION = 1
_KEYS = ("version", "thread", "head", "root", "threads", "nodes")


class Manifest(NamedTuple):
    """The manifest. `threads`: all whose variables the bundle has; `nodes`: pairs of reference and
    SHA-256 in hexadecimal.
    """

    thread: str
    head: str
    root: str
    threads: Sequence[str]
    nodes: Sequence[tuple[str, str]]


def root_of(head: str, nodes: Iterable[tuple[str, str]]) -> str:
    """The root over a head and nodes that are sorted by reference, in hexadecimal."""
    digest = sha256(f"{head}\n".encode())
    for ref, each in nodes:
        digest.update(f"{ref} {each}\n".encode())
    return digest.hexdigest()


def manifest_of(
    thread: str, head: str, threads: Iterable[str], nodes: Sequence[tuple[str, str]]
) -> Manifest:
    """The manifest of nodes that are sorted by reference."""
    return Manifest(thread, head, root_of(head, nodes), sorted(map(str, threads)), nodes)


def to_bytes(manifest: Manifest) -> bytes:
    """The file's content."""
    document = {"version": VERSION, **manifest._asdict()}
    return json.dumps(document, separators=(",", ":")).encode() + b"\n"


def from_bytes(content: bytes, nodes: Sequence[tuple[str, str]]) -> Manifest:
    """The manifest of an archive that holds `nodes`.

    Raises:
        BundleError: it is invalid, or does not match the nodes.
    """
    document = _document(content)
    if document.get("version") != VERSION:
        raise BundleError(
            f"unsupported bundle version {document.get('version')!r}; this uwf supports {VERSION}",
            hint="upgrade uwf",
        )
    if tuple(document) != _KEYS:
        raise BundleError(f"the manifest must have the keys {', '.join(_KEYS)}, in this order")
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
    manifest = manifest_of(thread, head, threads, nodes)
    if document["root"] != manifest.root:
        raise BundleError("the root of the manifest does not match its nodes")
    return manifest


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
