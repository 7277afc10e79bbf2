"""The folder of loose files: `nodes/<REF>.bin` and `_index/<TYPE>`.

A file is written whole or not at all. What is written can be lost by a power cut until `sync`.
"""

import os
from collections.abc import Collection, Mapping
from pathlib import Path

from uwf_core.api import Record, StoreError
from uwf_store_files.node_file import pack, payload_of


class Folder:
    """The files below `root`."""

    def __init__(self, root: Path) -> None:
        self._nodes = root / "nodes"
        self._index = root / "_index"

    def make(self) -> None:
        """Make the folders."""
        for folder in (self._nodes, self._index):
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)

    def write(self, record: Record) -> None:
        """Write a node's file. Its line in the index comes with `add_lines`."""
        file = self._file(record.ref)
        fresh = file.with_suffix(f".{os.getpid()}")
        fresh.write_bytes(pack(record.type, record.data, record.created_ms))
        fresh.replace(file)

    def read(self, ref: str) -> bytes:
        """A node's payload.

        Raises:
            StoreError: its file is gone or damaged.
        """
        file = self._file(ref)
        try:
            return payload_of(file.read_bytes())
        except FileNotFoundError as error:
            raise StoreError("the file of a node is gone", where=str(file), hint=_CURE) from error
        except ValueError as error:
            raise StoreError(f"a file is damaged: {error}", where=str(file), hint=_CURE) from error

    def sync(self, refs: Collection[str]) -> None:
        """Wait until the files of these nodes, and their names, are on the disk."""
        for ref in refs:
            _sync(self._file(ref))
        if refs:
            _sync(self._nodes)

    def add_lines(self, refs_of: Mapping[str, Collection[str]]) -> None:
        """Append references to the lists of their types."""
        for type_, refs in refs_of.items():
            with open(self._index / type_, "a", encoding="ascii") as lines:
                lines.writelines(f"{ref}\n" for ref in refs)

    def remove(self, refs: Collection[str], types: Collection[str]) -> None:
        """Remove nodes' files and their lines from the lists of `types`."""
        for ref in refs:
            self._file(ref).unlink(missing_ok=True)
        for type_ in types:
            file = self._index / type_
            lines = file.read_text("ascii").splitlines() if file.exists() else []
            kept = "".join(f"{line}\n" for line in lines if line not in refs)
            fresh = file.with_suffix(f".{os.getpid()}")
            fresh.write_text(kept, "ascii")
            fresh.replace(file)

    def _file(self, ref: str) -> Path:
        return self._nodes / f"{ref}.bin"


_CURE = "bring the file back from a backup; `uwf cas verify` names all that is damaged"


def _sync(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
