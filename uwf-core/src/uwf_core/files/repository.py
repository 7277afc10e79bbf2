"""`files.git` of the home: the bare repository in which uwf records files.

Nothing of it is in the user's repositories: there `git gc` would delete trees, `push --mirror`
would send them, and filters would change them.
"""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from uwf_core.named_tuple import NamedTuple
from uwf_core.process.folders import make_lasting_folder, sync, sync_names
from uwf_core.process.git import own_git

NAME: Final = "files.git"
_MAKING = f"{NAME}.new-"
_ATTRIBUTES = "* -text -eol -filter -ident -working-tree-encoding\n"
_CONFIG = """\
[core]
\trepositoryformatversion = 1
\tbare = true
\tfileMode = true
\tsymlinks = true
\tignoreCase = false
\tautocrlf = false
\tprotectNTFS = false
\tprotectHFS = false
\tlogAllRefUpdates = false
\tfsync = loose-object,pack,pack-metadata,reference
\tfsyncMethod = batch
[extensions]
\tobjectFormat = sha256
[gc]
\tauto = 0
"""
_PERSON = {
    f"GIT_{kind}_{part}": text
    for kind in ("AUTHOR", "COMMITTER")
    for part, text in (("NAME", "uwf"), ("EMAIL", "uwf"))
}


class FilesRepository(NamedTuple):
    """The repository at `path`, an absolute path."""

    path: str

    def git(
        self,
        *words: str,
        folder: str | None = None,
        index: str | None = None,
        stdin: bytes = b"",
        strict: bool = False,
    ) -> bytes:
        """The output of a git command.

        Args:
            words: its arguments.
            folder: the working tree.
            index: the index file.
            stdin: its input.
            strict: whether a warning is an error.

        Raises:
            GitFailed: it failed.
        """
        env = {"GIT_DIR": self.path, **_PERSON}
        if folder is not None:
            env["GIT_WORK_TREE"] = folder
        if index is not None:
            env["GIT_INDEX_FILE"] = index
        return own_git(folder or self.path, *words, env=env, stdin=stdin, strict=strict)

    def index_folder(self, thread: str) -> str:
        """The folder with the index files of a thread."""
        return os.path.join(self.path, "threads", thread)

    def newest(self, thread: str) -> str | None:
        """The newest commit of a thread; None if none of its files are recorded.

        Raises:
            OSError: its reference cannot be read.
        """
        try:
            with open(os.path.join(self.path, reference(thread)), encoding="ascii") as file:
                return file.read().strip()
        except FileNotFoundError:
            return None

    @contextmanager
    def lock(self, *, alone: bool = False) -> Iterator[None]:
        """Wait for the lock: many record at a time, but nobody while objects are deleted.

        Raises:
            OSError: the lock file cannot be opened.
        """
        import fcntl

        descriptor = os.open(
            os.path.join(self.path, "uwf.lock"), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600
        )
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX if alone else fcntl.LOCK_SH)
            yield
        finally:
            os.close(descriptor)


def reference(thread: str) -> str:
    """The name of the git reference that keeps the recorded files of a thread."""
    return f"refs/threads/{thread}"


def find_repository(home: str) -> FilesRepository | None:
    """The repository of a home, None if nothing was recorded."""
    path = os.path.join(home, NAME)
    return FilesRepository(path) if os.path.isdir(path) else None


def open_repository(home: str) -> FilesRepository:
    """The repository of a home, made if it is missing. Several processes may do that at once.

    Raises:
        OSError, GitFailed: it cannot be made.
    """
    path = os.path.join(home, NAME)
    if not os.path.isdir(path):
        _make(home, path)
    return FilesRepository(path)


def _make(home: str, path: str) -> None:
    """Make the repository beside its place, and move it there unless another process was first."""
    from tempfile import mkdtemp

    make_lasting_folder(home)
    draft = mkdtemp(prefix=_MAKING, dir=home)
    try:
        own_git(home, "init", "-q", "--bare", "--template=", "--object-format=sha256", draft)
        os.makedirs(os.path.join(draft, "info"), mode=0o700, exist_ok=True)
        for name, text in (("config", _CONFIG), ("info/attributes", _ATTRIBUTES)):
            file = os.path.join(draft, name)
            with open(file, "w", encoding="ascii") as opened:
                opened.write(text)
            sync(file)
            sync_names(os.path.dirname(file))
        try:
            os.rename(draft, path)
        except OSError:
            if not os.path.isdir(path):
                raise
        sync_names(home)
    finally:
        shutil.rmtree(draft, ignore_errors=True)
