"""Import the nodes of a bundle of ocas: it names no thread, and has no manifest."""

from typing import TYPE_CHECKING

from uwf_core.cas.bundle import Bundle
from uwf_core.cas.bundle_check import check_plain
from uwf_core.cas.codec import encode
from uwf_core.cas.hashing import META, ref_of
from uwf_core.cas.plain_bundle import PlainBundle
from uwf_core.cas.records import check_same
from uwf_core.errors import BundleError
from uwf_core.thread.nodes import schema_of

if TYPE_CHECKING:
    from uwf_core.engine.bundle_documents import ImportDocument
    from uwf_core.engine.engine import Engine


def import_nodes(engine: "Engine", path: str, *, dry_run: bool = False) -> "ImportDocument":
    """Store all nodes of a bundle; any error rejects all of it. No name refers to them.

    Raises:
        BundleError: a check of the bundle fails.
        CollisionError: the store has another payload under one of its references.
    """
    with PlainBundle(path) as bundle:
        graph, store = check_plain(bundle), engine.store
        _check_foreign(bundle)
        added = 0
        for record in bundle.records():
            there = store.stored(record.ref)
            if there is None:
                added += 1
            else:
                check_same(there, record)
        if added and not dry_run:
            with store.transaction():
                for position in range(len(graph)):
                    node = bundle.get(graph.ref(position))
                    assert node is not None, "the graph is that of the bundle"
                    store.import_record(node._replace(edges=graph.edge_numbers(position)))
        return {
            **dict.fromkeys(("thread", "head", "root")),  # type: ignore[typeddict-item]
            "threads": 0,
            "nodes": len(bundle),
            "added": added,
            "files": 0,
            "filesAdded": 0,
            "imported": bool(added) and not dry_run,
            "dryRun": dry_run,
        }


def _check_foreign(bundle: Bundle) -> None:
    """Reject a bundle of uwf that has lost its manifest: a thread cannot be checked without it."""
    if bundle.get(ref_of(META, encode(schema_of("started")))) is not None:
        raise BundleError(
            "the bundle of a thread lacks its manifest.json",
            where=bundle.location(),
            hint="export it again: uwf thread export THREAD -o FILE",
        )
