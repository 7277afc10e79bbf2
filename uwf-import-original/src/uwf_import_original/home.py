"""A home of the original on the disk: its nodes, and the names of its threads and workflows.

Nothing in it is written or trusted. Files are opened without following links, and its database is
copied before it is opened, because SQLite writes beside a database even to read it.
"""

import os
from collections.abc import Iterator
from pathlib import Path

from uwf_core.api import read_regular
from uwf_core.errors import (
    BundleError,
    CorruptNodeError,
    MissingNodeError,
    PayloadError,
    UsageError,
)
from uwf_core.ids import Ref
from uwf_core.importers.write_bundles import NodeRecord, read_node

MOST_BYTES = 256 * 1024 * 1024
"""The largest file of a home that is read."""

NODES = ("nodes", "", "cas")
"""Where a store has its nodes: since ocas 0.4, before, and in the first versions of uwf."""
DATABASES = ("vars/_store.db", "_store.db")
"""Where it has its names: in a home of uwf, and in one of ocas alone."""
LISTS = ("threads.yaml", "workflows.yaml", "history.jsonl")
"""The names in the first versions of uwf; a later one renames the files when it takes them over."""


class OriginalHome:
    """The parts of a home that exist.

    Args:
        path: the folder of the user (with `.uwf` and `.ocas`), one of these two, or a copy.

    Attributes:
        path: that folder, absolute.
        databases, lists: where its names can be, the newest form first.

    Raises:
        UsageError: the folder does not exist, or has no nodes.
    """

    def __init__(self, path: str) -> None:
        self.path = Path(path).absolute()
        if not self.path.is_dir():
            raise UsageError("this is not a folder", where=path, hint="give the folder of ~/.uwf")
        bases = [base for base in _bases(self.path) if base.is_dir()]
        folders = [base / name for base in bases for name in NODES]
        self._folders = [each for each in folders if next(_names_of_nodes(each), None)]
        self.databases = [base / name for name in DATABASES for base in bases]
        self.lists = [base / name for name in LISTS for base in bases]
        if not self._folders:
            raise UsageError(
                "this folder has no nodes of the original uwf",
                where=path,
                hint="give your home folder, ~/.ocas, or a copy that has both .uwf and .ocas",
            )

    def node(self, ref: str) -> NodeRecord:
        """A node; its reference is computed again.

        Raises:
            MissingNodeError: the home lacks it.
            BundleError: its bytes do not match its name.
        """
        if not Ref.matches(ref):
            raise MissingNodeError(f"{ref!r} is not a reference")
        for folder in self._folders:
            file = folder / f"{ref}.bin"
            content = read_plain(file)
            if content is not None:
                return _checked(Ref(ref), content, file)
        raise MissingNodeError(f"the home lacks the node {ref}")


def read_plain(file: Path) -> bytes | None:
    """The content of a plain file, None if there is none.

    Raises:
        BundleError: it is a link or a device, is too large, or cannot be read.
    """
    try:
        return read_regular(str(file), MOST_BYTES, within=str(file.parent))
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise BundleError(f"cannot read the file: {error.strerror}", where=str(file)) from error


_RESTORE = "the file was changed or damaged: restore it, or import a copy of the folder without it"


def _checked(ref: Ref, content: bytes, file: Path) -> NodeRecord:
    try:
        node = read_node(content)
    except (CorruptNodeError, PayloadError) as error:
        raise BundleError(
            f"the node {ref} cannot be read: {error.message}", where=str(file), hint=_RESTORE
        ) from error
    if node.ref != ref:
        raise BundleError(
            f"the content of node {ref} does not match its name",
            where=str(file),
            hint=_RESTORE,
        )
    return node


def _bases(path: Path) -> list[Path]:
    """The folders that can have parts of the home whose folder is `path`."""
    beside = [path.parent / ".ocas"] if path.name == ".uwf" else []
    return [path, path / ".ocas", path / ".uwf", *beside]


def _names_of_nodes(folder: Path) -> Iterator[str]:
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                name, _, ending = entry.name.partition(".")
                if ending == "bin" and Ref.matches(name):
                    yield name
    except (FileNotFoundError, NotADirectoryError):
        return
    except OSError as error:
        raise BundleError(f"cannot read the folder: {error.strerror}", where=str(folder)) from error
