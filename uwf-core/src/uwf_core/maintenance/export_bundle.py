"""Export a thread to a file that others can verify and import."""

from collections.abc import Iterable, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

from uwf_core.api.store import Variable
from uwf_core.engine.find import find_thread
from uwf_core.errors import BundleError
from uwf_core.maintenance.replaced_file import replaced_file
from uwf_core.thread.own_variables import tree_variables

if TYPE_CHECKING:
    from uwf_core.cas.bundle_write import BundledObject, Inspect
    from uwf_core.cas.manifest import Manifest
    from uwf_core.engine.bundle_documents import BundleDocument
    from uwf_core.engine.engine import Engine


def export_thread(
    engine: "Engine", word: str, path: str, *, with_files: bool = False, attest: bool = False
) -> "BundleDocument":
    """Write a thread and all threads below it to a file: their variables and all that these reach,
    `with_files` their recorded files too; `attest` also writes a statement about the file.

    The file (0600) appears once it is complete, and replaces an existing one.

    Raises:
        UnknownIdError: unknown thread. BusyError: one of them is running.
        CorruptNodeError: a node of it is damaged or missing.
        StoreError: recorded files are damaged or missing. WrongStateError: there are none.
        BundleError: it contains a secret that is known now, or files that no bundle may have.
        UsageError: the file cannot be written.
    """
    from uwf_core.cas.bundle_write import write_bundle

    thread = find_thread(engine, word)
    heads, variables = tree_variables(engine.store, thread)
    head, threads = heads[0], [each.thread for each in heads]
    target = Path(engine.cwd, path)
    inspect = _inspect(engine, variables)
    with ExitStack() as stack:
        objects: Iterable[BundledObject] = ()
        if with_files:
            from uwf_core.maintenance.bundle_files import files_to_export

            objects = stack.enter_context(files_to_export(engine, heads))
        file = stack.enter_context(replaced_file(target, "the bundle"))
        manifest = write_bundle(engine.store, file, threads, head.ref, variables, inspect, objects)
        size = file.tell()
    document = document_of(manifest, size, str(target))
    if with_files:
        from uwf_core.maintenance.recorded_trees import gaps_of

        document["notRecorded"] = gaps_of(engine.store, heads)
    if attest:
        from uwf_core.maintenance.attest import write_statement

        document["statement"] = write_statement(engine, document)
    return document


def document_of(manifest: "Manifest", size: int, file: str) -> "BundleDocument":
    """What a bundle of so many bytes in a file has."""
    return {
        "thread": manifest.thread,
        "head": manifest.head,
        "root": manifest.root,
        "threads": len(manifest.threads) - 1,
        "nodes": len(manifest.nodes),
        "files": len(manifest.files),
        "bytes": size,
        "file": file,
    }


def _inspect(engine: "Engine", variables: Sequence[Variable]) -> "Inspect":
    """Reject what was stored before a secret was known."""
    redactor = engine.redactor

    def inspect(place: str, payload: Any) -> None:
        if redactor.value(payload) != payload:
            raise BundleError(
                f"{place} contains a secret that is known now; nothing was exported",
                hint="a node cannot be changed: replace the secret in its service, and remove it "
                "from the configuration and the environment",
            )

    for variable in variables:
        inspect(variable.name, dict(variable.tags))
    return lambda ref, payload: inspect(f"the node {ref}", payload)
