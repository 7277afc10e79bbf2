"""A bundle of ocas 0.4: nodes, and names and tags that mean something to its own programs."""

from collections.abc import Sequence

from uwf_core.api.store import Variable
from uwf_core.cas import tar
from uwf_core.cas.bundle import FOLDER, TAGS, VARIABLES, Bundle, opened
from uwf_core.cas.manifest import Manifest, manifest_of
from uwf_core.errors import BundleError


class PlainBundle(Bundle):
    """The nodes of a bundle without a manifest; its names and tags are left out."""

    def _read(self) -> tuple[Manifest, Sequence[Variable]]:
        entry = self._read_nodes()
        self._content(entry, VARIABLES)
        self._content(self._next(), TAGS)
        if self._archive.next() is not None:
            raise BundleError(f"the bundle has data after its {TAGS}")
        if not len(self):
            raise BundleError("the bundle has no nodes")
        return manifest_of("", "", (), ()), ()


def is_plain(path: str) -> bool:
    """Whether a bundle has nodes, but no manifest.

    Raises:
        BundleError: it is not a bundle.
    """
    file, size = opened(path)
    with file:
        archive = tar.Reader(file, size)
        others = list[str]()
        try:
            while (entry := archive.next()) is not None and len(others) <= 2:
                if not entry.name.startswith(FOLDER):
                    others.append(entry.name)
        except BundleError as error:
            error.where = error.where or path
            raise
    return others == [VARIABLES, TAGS]
