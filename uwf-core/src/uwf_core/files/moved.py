"""The recorded files of a thread as packs of git, on their way to another machine.

A pack has what the newest snapshot of the thread added to the one before it, commits included.
"""

from collections.abc import Iterable
from typing import Final

from uwf_core.files.incoming import incoming
from uwf_core.files.repository import find_repository, open_repository
from uwf_core.process.git import GitFailed, user_git

MOST_BYTES: Final = 64_000_000
"""Of what one step may add: the store keeps it."""

_ANCESTORS: Final = "20"


class NewFiles:
    """What the newest snapshot of a thread adds to the commit `since` of its chain (None: all).

    Attributes:
        commit: the newest snapshot. size: how many bytes its new objects have.
    """

    def __init__(self, home: str, thread: str, since: str | None) -> None:
        """Find them.

        Raises:
            GitFailed, OSError: they cannot be read.
        """
        found = find_repository(home)
        commit = found and found.newest(thread)
        if found is None or commit is None:
            raise GitFailed("nothing is recorded")
        self._repository, self.commit = found, commit
        self._range = f"{commit}\n" + ("" if since is None else f"^{since}\n")
        words = "rev-list", "--objects", "--no-object-names", "--stdin"
        self._names = found.git(*words, stdin=self._range.encode())
        sizes = found.git("cat-file", "--batch-check=%(objectsize)", stdin=self._names)
        self.size = sum(map(int, sizes.split()))

    def content(self) -> bytes:
        """All of it, one object after the other."""
        return self._repository.git("cat-file", "--batch", "--buffer", stdin=self._names)

    def pack(self) -> bytes:
        """All of it as a pack."""
        words = "pack-objects", "--stdout", "--revs", "-q"
        return self._repository.git(*words, stdin=self._range.encode())


def has_commit(home: str, commit: str) -> bool:
    """Whether a snapshot is in `files.git`."""
    found = find_repository(home)
    try:
        return found is not None and bool(found.git("cat-file", "-t", commit))
    except GitFailed:
        return False


def unpack(home: str, thread: str, commit: str, pack: Iterable[bytes]) -> None:
    """Store a pack, whose newest snapshot is `commit`, for a thread; git checks every object.

    Raises:
        GitFailed, OSError: it is damaged, or it cannot be stored.
    """
    repository = open_repository(home)
    with repository.lock(), incoming(repository) as new:
        options, env = new.writing()
        words = *options, "index-pack", "--stdin", "--strict"
        repository.git(*words, env=env, stdin=b"".join(pack))
        repository.git("cat-file", "-e", f"{commit}^{{commit}}", env=env)
        new.keep()
        repository.set_newest(thread, commit)


def commits_of(folder: str) -> list[str]:
    """The commit that is checked out in a working tree, and those before it, at most 20.

    Raises:
        GitFailed: it cannot be read.
    """
    words = "rev-list", "--first-parent", "-n", _ANCESTORS, "HEAD"
    return user_git(folder, *words).decode().split()


def newest_known(top: str, commits: Iterable[str]) -> str | None:
    """The first of `commits` that a repository has."""
    for commit in commits:
        try:
            user_git(top, "cat-file", "-e", f"{commit}^{{commit}}")
        except GitFailed:
            continue
        return commit
    return None
