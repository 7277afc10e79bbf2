"""Write bundles: the same thread of the same store gives the same bytes."""

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple

from uwf_core.api.store import Record, Variable
from uwf_core.cas import bundle_lines, manifest, node_file, tar
from uwf_core.cas.bundle import CAPS, ENDING, FOLDER, MANIFEST, OBJECTS, TAGS, VARIABLES
from uwf_core.cas.codec import decode
from uwf_core.cas.manifest import Manifest
from uwf_core.cas.verify import scan_from
from uwf_core.errors import BundleError, CorruptNodeError
from uwf_core.ids import Ref

if TYPE_CHECKING:
    from uwf_core.cas.store import Store

Inspect = Callable[[str, Any], None]
"""Called with each node's reference and payload before it is written; may raise."""


class BundledObject(NamedTuple):
    """An object of recorded files: its SHA-256, its bytes, and these in chunks."""

    name: str
    size: int
    chunks: Iterable[bytes]


def write_bundle(
    store: "Store",
    file: BinaryIO,
    threads: Sequence[str],
    head: Ref,
    variables: Sequence[Variable],
    inspect: Inspect,
    objects: Iterable[BundledObject] = (),
) -> Manifest:
    """Write everything reachable from `variables`.

    Args:
        store: where it is.
        file: open for writing, from its beginning.
        threads: the threads that the variables are of; the first is that of the bundle.
        head: the head of that.
        variables: what to write, of these threads alone.
        inspect: looks at each payload first.
        objects: the recorded files, sorted by name.

    Raises:
        CorruptNodeError: a node is damaged or missing.
        BundleError: a node is too large for a bundle.
    """
    nodes: list[tuple[str, str]] = []
    for ref in _closure(store, [variable.value for variable in variables]):
        record = store.record(ref)
        inspect(ref, decode(record.data))
        _write_node(file, record)
        nodes.append((ref, record.sha256.hex()))
    lines = bundle_lines.to_bytes(variables, lambda ref: store.record(ref).type)
    _write(file, VARIABLES, lines, 0)
    _write(file, TAGS, b"", 0)
    names = [_write_object(file, each) for each in objects]
    promised = manifest.manifest_of(threads[0], head, threads, nodes, names)
    _write(file, MANIFEST, manifest.to_bytes(promised), 0)
    file.write(tar.END)
    return promised


def _closure(store: "Store", roots: Sequence[str]) -> list[str]:
    """All nodes that are reached, checked and sorted."""
    scan = scan_from(store, roots)
    for fault in scan.faults:
        raise CorruptNodeError(
            f"the node {fault.ref} is {fault.kind}: {fault.message}",
            hint="next: uwf cas verify",
        )
    return sorted(map(scan.graph.ref, range(len(scan.graph))))


def _write_node(file: BinaryIO, record: Record) -> None:
    content = node_file.to_bytes(node_file.NodeFile(record.type, record.data, record.created_ms))
    if len(content) > CAPS.node_bytes:
        raise BundleError(f"the node {record.ref} is too large for a bundle: {len(content)} bytes")
    _write(file, f"{FOLDER}{record.ref}{ENDING}", content, record.created_ms // 1000)


def _write_object(file: BinaryIO, each: BundledObject) -> str:
    file.write(tar.header(f"{OBJECTS}{each.name}", each.size, 0))
    file.writelines(each.chunks)
    file.write(tar.padding(each.size))
    return each.name


def _write(file: BinaryIO, name: str, content: bytes, mtime: int) -> None:
    file.write(tar.header(name, len(content), mtime))
    file.write(content)
    file.write(tar.padding(len(content)))
