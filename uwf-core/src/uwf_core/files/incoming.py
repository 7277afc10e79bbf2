"""Objects on their way into `files.git`: written beside the others, and moved to them once they are
on the disk. Whatever happens before that, `files.git` stays as it was.

Git writes them without waiting for the disk. They become one pack, or two, so that a snapshot waits
for a few files, not for each object.
"""

import os
import shutil
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import sha256
from tempfile import mkdtemp
from typing import Final, NamedTuple

from uwf_core.files.packs import FAST, write_pack
from uwf_core.files.repository import FilesRepository
from uwf_core.process.folders import make_folder, open_private, sync, sync_names

_MANY_FILES: Final = 32
_MANY_BYTES: Final = 32_000_000
"""Git packs what is more: of that, uwf reads nothing."""
INCOMING: Final = "incoming-"
RESTORED: Final = "restore-"
EXCLUDES: Final = "excludes-"
"""How the names begin of what is in a repository only while a process works with it."""
_PACK: Final = "pack"
_NO_SYNC: Final = ("-c", "core.fsync=none")
_INTO_PACK: Final = ("-c", "core.bigFileThreshold=0", "-c", f"core.compression={FAST}")
"""Git streams what is above the threshold into a pack, with little memory."""
_PERSON: Final = "uwf <uwf> 0 +0000"
_BEGUN: Final = "tmp_"
"""How the names begin of objects and packs that git has not finished."""


class Incoming(NamedTuple):
    """New objects for a repository, in the folder `path`."""

    repository: FilesRepository
    path: str

    def writing(self, files: int = 0, size: int = 0) -> tuple[tuple[str, ...], dict[str, str]]:
        """Options and variables for a git command that writes here so many files with so many
        bytes.
        """
        many = files > _MANY_FILES or size > _MANY_BYTES
        env = {
            "GIT_OBJECT_DIRECTORY": self.path,
            "GIT_ALTERNATE_OBJECT_DIRECTORIES": self.repository.objects,
        }
        return (*_NO_SYNC, *_INTO_PACK * many), env

    def add_commit(self, tree: str, parent: str | None) -> str:
        """Write a commit with a tree; its name."""
        above = "" if parent is None else f"parent {parent}\n"
        content = f"tree {tree}\n{above}author {_PERSON}\ncommitter {_PERSON}\n\nsnapshot\n"
        data = f"commit {len(content)}\0{content}".encode()
        name = sha256(data).hexdigest()
        folder = os.path.join(self.path, name[:2])
        make_folder(folder)
        with open(os.path.join(folder, name[2:]), "wb", opener=open_private) as file:
            file.write(zlib.compress(data, FAST))
        return name

    def keep(self) -> None:
        """Move the objects to those of the repository; then they are on the disk. What git had
        begun when a file changed while it read (`tmp_obj_…`, `tmp_pack_…`) is not an object.

        Raises:
            OSError: that is not possible.
        """
        folders = [name for name in os.listdir(self.path) if len(name) == 2]
        loose = [
            f"{each}/{name}"
            for each in folders
            for name in os.listdir(self._at(each))
            if not name.startswith(_BEGUN)
        ]
        new = [self._at(name) for name in write_pack(self.path, loose)] if loose else []
        packs = self._at(_PACK)
        if os.path.isdir(packs):
            whole = (name for name in os.listdir(packs) if not name.startswith(_BEGUN))
            new += [os.path.join(packs, name) for name in whole]
        # Without its index, a pack does not exist for git: that comes last.
        new.sort(key=lambda path: path.endswith(".idx"))
        for path in new:
            sync(path)
        for path in new:
            os.rename(path, os.path.join(self.repository.packs, os.path.basename(path)))
        sync_names(self.repository.packs)

    def _at(self, name: str) -> str:
        return os.path.join(self.path, name)


@contextmanager
def incoming(repository: FilesRepository) -> Iterator[Incoming]:
    """A folder for new objects, for one block; those that it does not keep are deleted.

    Raises:
        OSError: it cannot be made.
    """
    path = mkdtemp(prefix=INCOMING, dir=repository.path)
    try:
        yield Incoming(repository, path)
    finally:
        for _ in range(2):  # what one error leaves; the next collection deletes what two do
            shutil.rmtree(path, ignore_errors=True)


def delete_interrupted(repository: FilesRepository) -> None:
    """Delete what killed processes left of a snapshot or restore. The caller holds the lock alone.

    Raises:
        OSError: the repository cannot be read.
    """
    for name in os.listdir(repository.path):
        place = os.path.join(repository.path, name)
        if name.startswith((INCOMING, RESTORED)):
            shutil.rmtree(place, ignore_errors=True)
        elif name.startswith(EXCLUDES):
            os.unlink(place)
