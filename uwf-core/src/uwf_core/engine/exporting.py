"""Exporters of plugins: loaded, created, and called; errors name the exporter."""

from collections.abc import Iterable, Iterator
from functools import partial
from typing import TYPE_CHECKING, Any

from uwf_core.api.exporters import ExporterSpec
from uwf_core.errors import BundleError, PluginError
from uwf_core.plugins.calling import call_plugin
from uwf_core.plugins.family import check_installed, near_hint
from uwf_core.plugins.guards import interruptible
from uwf_core.plugins.scan import EXPORTERS
from uwf_core.plugins.status import Status

if TYPE_CHECKING:
    from uwf_core.api import RecordedThread
    from uwf_core.engine.engine import Engine
    from uwf_core.plugins.scan import EntryPoint


_LARGE = 1 << 16
"""In characters: each part costs a call of the plugin, a search for secrets and a write."""


class OpenExporter:
    """An exporter that is ready to be called."""

    def __init__(self, engine: "Engine", found: "EntryPoint") -> None:
        self._engine = engine
        self._found = found
        self._call = partial(call_plugin, engine.plugins, found)
        self.spec: ExporterSpec = engine.plugins.record(EXPORTERS, found.name)
        self._made = engine.plugins.made(EXPORTERS, found.name, call="export(thread)")

    def export(self, thread: "RecordedThread") -> Iterator[bytes]:
        """The output, part by part. Plugin code runs only while a part is asked for.

        Raises:
            UwfError: a node of the thread is damaged or missing, or as the exporter raised it.
            InternalFailure: it raised another error, or gave something else than text or bytes.
            BundleError: a part contains a secret that is known now.
        """
        parts = self._call(lambda: _parts(self._made.export(thread)))
        while (part := self._call(lambda: next(parts, None))) is not None:
            yield self._encoded(part)

    def _encoded(self, part: Any) -> bytes:
        if isinstance(part, bytes):
            return part
        if self._engine.redactor.text(part) != part:
            raise BundleError(
                f"the output of the exporter {self._found.name!r} contains a secret that is known "
                "now",
                hint="a node cannot be changed: replace the secret in its service, and remove it "
                "from the configuration and the environment",
            )
        # A text of the store has no lone surrogates; one that the exporter makes is its error.
        return self._call(lambda: str(part).encode())


def open_exporter(engine: "Engine", name: str) -> OpenExporter:
    """The exporter of an installed plugin, or of uwf-core.

    Raises:
        PluginError: it is unknown, blocked, incompatible or claimed twice.
        PluginBroken: it cannot be imported, or creates no exporter.
        TimedOut: not within the limit of a run.
    """
    plugins, seconds = engine.plugins, engine.settings.limits.run_seconds
    if not any(each.found.name == name for each in plugins.list((EXPORTERS,))):
        raise _unknown(engine, name)
    found = plugins.found(EXPORTERS, name)
    with interruptible(found, seconds):
        return OpenExporter(engine, found)


def _unknown(engine: "Engine", name: str) -> PluginError:
    from uwf_core.plugins.repair import install_line

    check_installed(f"the format {name!r}", EXPORTERS, name)
    plugins = engine.plugins.list((EXPORTERS,))
    known = sorted({each.found.name for each in plugins if each.status is Status.READY})
    near = near_hint(name, [*known, "bundle", "text", "json", "yaml"], (EXPORTERS,))
    return PluginError(
        f"unknown format {name!r}",
        hint=f"{f'{near}; ' if near else ''}exporters: {', '.join(known) or 'none'}; "
        f"install another one: {install_line('DISTRIBUTION')}",
    )


def _parts(given: Any) -> Iterator[str | bytes]:
    """The parts of an output, each checked; small texts are joined."""
    if not isinstance(given, Iterable):
        raise TypeError(f"export() returned {type(given).__name__}, not parts of text or bytes")
    texts, size = list[str](), 0
    for part in (given,) if isinstance(given, str | bytes) else given:
        if not isinstance(part, str | bytes):
            raise TypeError(f"export() gave {type(part).__name__}, not text or bytes")
        if isinstance(part, str):
            texts.append(part)
            size += len(part)
        if texts and (size >= _LARGE or isinstance(part, bytes)):
            yield "".join(texts)
            texts, size = [], 0
        if isinstance(part, bytes):
            yield part
    if texts:
        yield "".join(texts)
