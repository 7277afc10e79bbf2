"""The exporter contract."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from uwf_core import API_VERSION

if TYPE_CHECKING:
    from uwf_core.views.recorded import RecordedThread


@dataclass(frozen=True, kw_only=True)
class ExporterSpec:
    """An exporter as its distribution announces it; import paths are text, so nothing is loaded.

    Attributes:
        name: what a user types (`uwf thread export THREAD --format NAME`); equals the entry
            point's name. `bundle`, `text`, `json` and `yaml` are taken.
        summary: one line for people.
        factory: `module:attribute`, called without arguments, gives an `Exporter`.
        suffix: the end of a file's name in this format, for example `.json`.
        api: the version of this contract that the exporter was written for.
    """

    name: str
    summary: str
    factory: str
    suffix: str = ".txt"
    api: str = API_VERSION


class Exporter(Protocol):
    """Writes a recorded thread in another format. The same thread gives the same output."""

    def export(self, thread: "RecordedThread") -> Iterable[str | bytes]:
        """The output, part by part. Texts are written as UTF-8."""
