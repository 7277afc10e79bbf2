"""Import what another program has recorded: an importer makes bundles, which are checked and stored
as any other; all of them or, where a file is damaged, none.
"""

import json
import re
from collections.abc import Iterator
from contextlib import closing, suppress
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from uwf_core.api.importers import BundleMaker, ImportedThread, ImportedWorkflow, Importer
from uwf_core.errors import BundleError, PayloadError, UsageError
from uwf_core.ids import ThreadId
from uwf_core.importers.write_bundles import BundleWriter, publish_plain
from uwf_core.maintenance.import_bundle import ImportOptions, import_bundle, verify_bundle
from uwf_core.plugins.calling import call_plugin
from uwf_core.plugins.guards import interruptible
from uwf_core.plugins.scan import IMPORTERS
from uwf_core.plugins.status import RESERVED, Status
from uwf_core.thread.head import DAMAGE, IMPORTED, ORIGINAL
from uwf_core.thread.names import head_name, prefixes_of
from uwf_core.workflow.definition import NAME_PATTERN
from uwf_core.workflow.discover import register, registered

if TYPE_CHECKING:
    from collections.abc import Callable
    from os import PathLike

    from uwf_core.cas.store import Store
    from uwf_core.engine.bundle_documents import (
        ImportDocument,
        SourceDocument,
        SourceThreadDocument,
        SourceWorkflowDocument,
    )
    from uwf_core.engine.engine import Engine
    from uwf_core.plugins.scan import EntryPoint


class OpenImporter:
    """An importer that is ready to be called."""

    def __init__(self, engine: "Engine", found: "EntryPoint") -> None:
        self.name = found.name
        self._call = partial(call_plugin, engine.plugins, found)
        with interruptible(found, engine.settings.limits.run_seconds):
            made = engine.plugins.made(IMPORTERS, found.name, call="recognizes(path)")
        self._made: Importer = made

    def recognizes(self, path: str) -> bool:
        """Whether it can convert a file or folder."""
        return self._call(lambda: self._made.recognizes(path) is True)

    def convert(self, path: str, maker: BundleMaker) -> Iterator[ImportedThread | ImportedWorkflow]:
        """The threads and names of workflows; plugin code runs only while one is asked for."""
        items = self._call(lambda: iter(self._made.convert(path, maker)))
        while True:
            item = self._call(lambda: _next(items))
            if item is None:
                return
            yield item


def _next(items: Iterator[Any]) -> ImportedThread | ImportedWorkflow | None:
    item = next(items, None)
    if item is None or isinstance(item, ImportedThread | ImportedWorkflow):
        return item
    raise TypeError(f"convert() gave {type(item).__name__}, not a thread or a workflow")


def find_importer(engine: "Engine", path: str) -> OpenImporter | None:
    """The first importer that recognizes a file or folder, None if there is none.

    Raises:
        PluginBroken: one cannot be loaded.
    """
    for plugin in engine.plugins.list((IMPORTERS,)):
        if plugin.status is Status.READY:
            importer = OpenImporter(engine, plugin.found)
            if importer.recognizes(path):
                return importer
    return None


def unrecognized(engine: "Engine", path: str) -> UsageError:
    """The error for what neither is a bundle nor recognized by an importer, with what installs the
    importers that are missing.
    """
    from uwf_core.plugins.repair import install_line

    known = {each.found.name for each in engine.plugins.list((IMPORTERS,))}
    owners = [owner for name, owner in RESERVED[IMPORTERS].items() if name not in known]
    hints = [f"for a home of the original uwf: {install_line(each)}" for each in owners]
    return UsageError(
        "this is neither a bundle nor a folder that an importer recognizes",
        where=path,
        hint="; ".join(hints) or f"importers: {', '.join(sorted(known))}",
    )


_NOT_OF_STEPS = (DAMAGE, IMPORTED)
"""The tags of a head that change while the thread's steps stay."""


class _Undone(Exception):
    """Ends the transaction of a dry run."""


def import_file(
    engine: "Engine",
    file: "str | PathLike[str]",
    options: ImportOptions,
    notice: "Callable[[str], None]",
) -> "ImportDocument | SourceDocument":
    """Import a bundle, or what an importer recognizes; errors as `import_bundle` and
    `import_source`.
    """
    path = str(Path(engine.cwd, file))
    engine.imports_original = Path(path).is_dir()
    document = _imported(engine, path, options)
    if "source" not in document and document["thread"] is None and not options.dry_run:
        notice("note: no name refers to these nodes; `uwf cas gc` deletes them after a day")
    return document


def _imported(
    engine: "Engine", path: str, options: ImportOptions
) -> "ImportDocument | SourceDocument":
    if not Path(path).is_dir():
        try:
            return import_bundle(engine, path, options)
        except BundleError:
            if not Path(path).is_file() or find_importer(engine, path) is None:
                raise
    if options.as_new:
        raise UsageError("--as-new is for bundles", where=path)
    return import_source(engine, path, dry_run=options.dry_run)


def import_source(engine: "Engine", path: str, *, dry_run: bool = False) -> "SourceDocument":
    """Import all threads and names of workflows that an importer finds in a file or folder.

    A thread that has no form here is skipped with the reason. One that was imported before is
    replaced if it has other steps now. Names of workflows never move.

    Raises:
        UsageError: no importer recognizes it.
        BundleError: a part of it is damaged or cannot be read.
        CollisionError: the store has another payload under one of its references.
    """
    path = str(Path(path).absolute())
    importer = find_importer(engine, path)
    if importer is None:
        raise unrecognized(engine, path)
    document: SourceDocument = {
        "source": path,
        "importer": importer.name,
        "threads": [],
        "workflows": [],
        "dryRun": dry_run,
        "complete": True,
    }
    with (
        suppress(_Undone),
        TemporaryDirectory(prefix="uwf-import-") as folder,
        closing(BundleWriter(folder)) as maker,
        maker.engine.store.transaction(),
        engine.store.transaction(),
    ):
        for found in importer.convert(path, maker):
            if isinstance(found, ImportedThread):
                document["threads"].append(_import_thread(engine, maker, found))
            else:
                document["workflows"].append(_import_name(engine.store, found))
        if dry_run:
            raise _Undone
    rows = (*document["threads"], *document["workflows"])
    document["complete"] = all(row["reason"] is None for row in rows)
    return document


def _import_thread(
    engine: "Engine", maker: BundleWriter, found: ImportedThread
) -> "SourceThreadDocument":
    row: SourceThreadDocument = {
        "original": found.original,
        "thread": found.thread,
        "workflowName": found.workflow_name,
        "status": found.status,
        "steps": found.steps,
        "result": "skipped",
        "reason": found.reason,
    }
    if found.bundle is None:
        return row
    thread = ThreadId(found.thread)
    known = engine.store.variable(head_name(thread))
    if known is not None and ORIGINAL not in known.tags:
        return {**row, "reason": "another thread has this id here"}
    if known is not None:
        made = maker.engine.store.variable(head_name(thread))
        tags = {name: text for name, text in known.tags.items() if name not in _NOT_OF_STEPS}
        if made is not None and (known.value, tags) == (made.value, {**made.tags}):
            return {**row, "result": "known"}
    try:
        if known is not None:
            verify_bundle(found.bundle)  # before the names of the earlier import are deleted
            for prefix in (known.name, *prefixes_of(thread)):
                for each in engine.store.rows(prefix):
                    engine.store.delete_variable(each)
        import_bundle(engine, found.bundle, ImportOptions())
    except BundleError as error:
        return {**row, "reason": error.message}
    return {**row, "result": "imported" if known is None else "updated"}


def _import_name(store: "Store", found: ImportedWorkflow) -> "SourceWorkflowDocument":
    row: SourceWorkflowDocument = {
        "name": found.name,
        "workflow": None,
        "result": "skipped",
        "reason": found.reason,
    }
    if found.workflow is None:
        return row
    if not re.match(NAME_PATTERN, found.name):
        return {**row, "reason": f"{json.dumps(found.name)} is not a name of a workflow here"}
    try:
        row["workflow"] = workflow = publish_plain(store, found.workflow)
    except PayloadError as error:
        return {**row, "reason": f"its workflow is invalid here: {error.message}"}
    there = registered(store, found.name)
    if there == workflow:
        return {**row, "result": "known"}
    if there is not None:
        return {**row, "reason": f"the name refers to another workflow here ({there})"}
    register(store, found.name, workflow)
    return {**row, "result": "imported"}
