"""Free the disk of objects that nothing refers to, and put many small packs into few."""

import os
from collections.abc import Iterator
from typing import Final

from uwf_core.files.incoming import delete_interrupted
from uwf_core.files.packs import names_in
from uwf_core.files.repository import FilesRepository
from uwf_core.process.folders import sync_names
from uwf_core.process.git import LONG_SECONDS, GitFailed

_MOST_PACKS: Final = 50
"""A git command opens every pack. Each snapshot with changes makes one or two."""
_REPACK: Final = ("-c", "pack.window=0", "-c", "repack.writeBitmaps=false", "repack", "-d", "-q")


def free(repository: FilesRepository, lock: int, since_ms: int, *, dry_run: bool) -> int:
    """Delete the objects that no reference leads to; those stored since then stay. The caller holds
    the lock alone, and git holds it on if the caller is killed.

    Returns:
        How many were deleted, or with `dry_run` would be.

    Raises:
        GitFailed, OSError, ValueError: git failed, or the repository is damaged; then nothing was
            deleted.
    """
    old = [path for path in _packs(repository) if os.stat(path).st_mtime * 1000 < since_ms]
    packed = {name for path in old for name in names_in(path)}
    if packed:
        listed = repository.git(
            "rev-list", "--objects", "--no-object-names", "--all", seconds=LONG_SECONDS
        )
        packed -= {*listed.decode().split()}
    expire = f"@{since_ms // 1000} +0000"
    if packed and not dry_run:
        options = (*_REPACK, "-A", f"--unpack-unreachable={expire}")
        repository.git(*options, inherits=(lock,), seconds=LONG_SECONDS)
        sync_names(repository.packs)
    words = ("prune", "-v", f"--expire={expire}", *(("-n",) * dry_run))
    loose = repository.git(*words, inherits=(lock,), seconds=LONG_SECONDS).splitlines()
    if not dry_run:
        delete_interrupted(repository)
    return len(packed | {line.split()[0].decode() for line in loose})


def join_packs(repository: FilesRepository) -> None:
    """Put small packs into a larger one if there are many, unless anybody works with them now."""
    if sum(1 for _ in _packs(repository)) <= _MOST_PACKS:
        return
    try:
        with repository.lock(alone=True, wait=False) as lock:
            repository.git(*_REPACK, "--geometric=2", inherits=(lock,))
            sync_names(repository.packs)
    except (BlockingIOError, GitFailed):
        return  # a later snapshot does it


def _packs(repository: FilesRepository) -> Iterator[str]:
    """The paths of the indexes of all packs."""
    for name in os.listdir(repository.packs):
        if name.endswith(".idx"):
            yield os.path.join(repository.packs, name)
