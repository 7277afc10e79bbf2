"""Which recorded files are kept: those that the reference of a thread leads to."""

import os
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager

from uwf_core.errors import StoreError
from uwf_core.files.freeing import free
from uwf_core.files.index import forget_indexes
from uwf_core.files.repository import FilesRepository, find_repository, reference
from uwf_core.process.git import LONG_SECONDS, GitFailed

_REFERENCES = "refs/threads/"
_VERIFY = ("rev-list", "--verify-objects", "--quiet")
"""A warning is an error, as for a restore: a pack is damaged, perhaps one of other trees."""


@contextmanager
def reported(repository: FilesRepository, what: str) -> Iterator[None]:
    """Report an error of git or of the disk as one of the recorded files, which cannot be `what`.

    Raises:
        StoreError: there was one.
    """
    try:
        yield
    except (GitFailed, OSError, ValueError) as error:
        raise StoreError(
            f"the recorded files cannot be {what}: {error}",
            where=repository.path,
            hint="next: uwf cas verify",
        ) from error


def share(home: str, source: str, thread: str, tree: str | None) -> None:
    """Keep the files of a thread for another one that shares its steps.

    Args:
        home: the folder of uwf.
        source: the thread that took the last shared step.
        thread: the new thread.
        tree: the files after that step; None if they are not recorded.

    Raises:
        StoreError: the reference cannot be stored.
    """
    repository = find_repository(home)
    if repository is None:
        return
    with reported(repository, "kept"), repository.lock():
        newest = repository.newest(source)
        commit = None if tree is None else _commit_with(repository, newest, tree)
        if commit or newest:
            repository.set_newest(thread, commit or str(newest))


def _commit_with(repository: FilesRepository, newest: str | None, tree: str) -> str | None:
    """The newest commit with a tree, of one chain or, if that thread was deleted, of all."""
    begin = newest or "--all"
    for line in repository.git("log", "--format=%H %T", begin).decode().splitlines():
        commit, _, found = line.partition(" ")
        if found == tree:
            return commit
    return None


def forget(home: str, threads: Iterable[str]) -> None:
    """Delete the references and index files of threads; the next collection frees their files.

    Raises:
        StoreError: one cannot be deleted.
    """
    repository = find_repository(home)
    if repository is None:
        return
    with reported(repository, "released"), repository.lock():
        for thread in threads:
            repository.drop(thread)
            forget_indexes(repository, thread)


def collect(home: str, threads: Collection[str], since_ms: int, *, dry_run: bool) -> int:
    """Delete recorded files that no thread keeps. Those stored since then stay, and nobody records
    meanwhile.

    Args:
        home: the folder of uwf.
        threads: all threads of the store.
        since_ms: in ms since 1970.
        dry_run: whether to delete nothing.

    Returns:
        How many objects were deleted, or with `dry_run` would be.

    Raises:
        StoreError: git failed, or the repository is damaged; then nothing was deleted.
    """
    repository = find_repository(home)
    if repository is None:
        return 0
    with reported(repository, "collected"), repository.lock(alone=True) as lock:
        strays = list(_strays(repository, threads, since_ms))
        for thread in strays if not dry_run else ():
            repository.drop(thread)
            forget_indexes(repository, thread)
        return free(repository, lock, since_ms, dry_run=dry_run)


def _strays(repository: FilesRepository, threads: Collection[str], since_ms: int) -> Iterable[str]:
    """The threads whose reference was made before their head, which then never came.

    Raises:
        GitFailed: a reference is damaged; git would free all that it keeps.
    """
    words = ("for-each-ref", "--format=%(refname)", _REFERENCES)
    listed = repository.git(*words, strict=True).decode()
    for name in listed.splitlines():
        thread = name.removeprefix(_REFERENCES)
        try:
            made_ms = os.stat(os.path.join(repository.path, name)).st_mtime * 1000
        except FileNotFoundError:
            continue
        if thread not in threads and made_ms < since_ms:
            yield thread


def kept_trees(home: str, thread: str) -> set[str]:
    """The trees that a thread keeps, whether or not their objects are there.

    Raises:
        StoreError: its commits cannot be read.
    """
    repository = find_repository(home)
    if repository is None or repository.newest(thread) is None:
        return set()
    with reported(repository, "read"):
        return {*repository.git("log", "--format=%T", reference(thread)).decode().split()}


def damaged_trees(home: str, trees: Collection[str]) -> dict[str, str]:
    """Of some trees those that are missing or damaged, with the cause."""
    repository = find_repository(home)
    if repository is None:
        return dict.fromkeys(trees, "there are no recorded files in the home of uwf")
    try:
        names = "".join(f"{tree}\n" for tree in trees).encode()
        repository.git(*_VERIFY, "--stdin", stdin=names, strict=True, seconds=LONG_SECONDS)
    except GitFailed:
        found = {tree: _damage(repository, tree) for tree in trees}
        return {tree: cause for tree, cause in found.items() if cause is not None}
    return {}


def _damage(repository: FilesRepository, tree: str) -> str | None:
    try:
        repository.git(*_VERIFY, tree, strict=True)
    except GitFailed as error:
        return str(error)
    return None
