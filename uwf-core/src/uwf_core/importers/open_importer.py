"""Find the importer that recognizes a file or folder."""

from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING, Any

from uwf_core.api.importers import BundleMaker, ImportedThread, ImportedWorkflow, Importer
from uwf_core.errors import UsageError
from uwf_core.plugins.calling import call_plugin
from uwf_core.plugins.guards import interruptible
from uwf_core.plugins.scan import IMPORTERS
from uwf_core.plugins.status import RESERVED, Status

if TYPE_CHECKING:
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
