"""Export a thread in the format of an exporter."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from uwf_core.engine.exporting import open_exporter
from uwf_core.maintenance.replaced_file import replaced_file
from uwf_core.views.recorded import open_thread

if TYPE_CHECKING:
    from uwf_core.engine.bundle_documents import ExportDocument
    from uwf_core.engine.engine import Engine


def export_parts(engine: "Engine", word: str, name: str) -> Iterator[bytes]:
    """The output of the exporter `name` for a thread, part by part.

    Raises:
        UnknownIdError: unknown thread. CorruptNodeError: a node of it is damaged or missing.
        PluginError, PluginBroken, InternalFailure: the exporter is unknown, broken or fails.
        BundleError: the output contains a secret that is known now.
    """
    exporter = open_exporter(engine, name)
    return exporter.export(open_thread(engine, word))


def export_file(engine: "Engine", word: str, name: str, path: str) -> "ExportDocument":
    """Write the output of the exporter `name` to a file (0600), which appears once it is complete,
    and replaces an existing one.

    Raises:
        UsageError: the file cannot be written. Otherwise as `export_parts`.
    """
    exporter = open_exporter(engine, name)
    thread = open_thread(engine, word)
    target = Path(engine.cwd, path)
    with replaced_file(target, "the file") as file:
        file.writelines(exporter.export(thread))
        size = file.tell()
    return {
        "thread": thread.id,
        "head": thread.head,
        "format": name,
        "bytes": size,
        "file": str(target),
    }
