"""`files.git` of the home: the bare repository in which uwf records files.

Nothing of it is in the user's repositories: there `git gc` would delete trees, `push --mirror`
would send them, and filters would change them.
"""

import os
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Final, NamedTuple, Unpack

from uwf_core.process.folders import (
    make_folder,
    make_lasting_folder,
    open_private,
    sync_names,
)
from uwf_core.process.git import NO_ENV, GitFailed, GitOptions, own_git, wait_for_lock

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
_FILES: Final = {
    "HEAD": "ref: refs/heads/none\n",
    "config": _CONFIG,
    "info/attributes": _ATTRIBUTES,
}
_FOLDERS: Final = ("info", "objects/pack", "refs/threads")
_COMMIT: Final = re.compile(rb"[0-9a-f]{64}\n")
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
        **options: Unpack[GitOptions],
    ) -> bytes:
        """The output of a git command.

        Args:
            words: its arguments.
            folder: the working tree.
            index: the index file.
            options: see `GitOptions`.

        Raises:
            GitFailed: it failed.
        """
        env = {"GIT_DIR": self.path, **_PERSON, **options.get("env", NO_ENV)}
        if folder is not None:
            env["GIT_WORK_TREE"] = folder
        if index is not None:
            env["GIT_INDEX_FILE"] = index
        options["env"] = env
        return own_git(folder or self.path, *words, **options)

    @property
    def objects(self) -> str:
        """The folder with the objects."""
        return os.path.join(self.path, "objects")

    @property
    def packs(self) -> str:
        """The folder with the packs of objects."""
        return os.path.join(self.path, "objects", "pack")

    def newest(self, thread: str) -> str | None:
        """The newest commit of a thread; None if none of its files are recorded.

        Raises:
            OSError: its reference cannot be read.
            GitFailed: the reference is damaged.
        """
        try:
            with open(os.path.join(self.path, reference(thread)), "rb") as file:
                line = file.read()
        except FileNotFoundError:
            return None
        if not _COMMIT.fullmatch(line):
            raise GitFailed(f"{reference(thread)} is damaged")
        return line.decode().strip()

    def set_newest(self, thread: str, commit: str) -> None:
        """Let the reference of a thread be a commit; that is on the disk afterwards. The caller
        alone changes it.

        Raises:
            OSError: it cannot be written.
        """
        place = os.path.join(self.path, reference(thread))
        draft = (
            f"{place}.lock"  # git takes no reference for it; one of a killed process is replaced
        )
        _write(draft, f"{commit}\n")
        os.rename(draft, place)
        sync_names(os.path.dirname(place))

    def drop(self, thread: str) -> None:
        """Delete the reference of a thread, also a damaged one.

        Raises:
            OSError: it cannot be deleted.
        """
        place = os.path.join(self.path, reference(thread))
        for path in (place, f"{place}.lock"):
            with suppress(FileNotFoundError):
                os.unlink(path)
        sync_names(os.path.dirname(place))

    @contextmanager
    def lock(self, *, alone: bool = False, wait: bool = True) -> Iterator[int]:
        """Hold the lock for one block: many record at a time, but nobody while objects are deleted.

        The result is its file descriptor. A git that deletes has to inherit it: that one runs on if
        uwf is killed.

        Args:
            alone: whether nobody else may hold it.
            wait: whether to wait for those who hold it.

        Raises:
            BlockingIOError: others hold it, and `wait` is False.
            GitStopped: others hold it for too long.
            OSError: the lock file cannot be opened.
        """
        import fcntl

        descriptor = os.open(
            os.path.join(self.path, "uwf.lock"), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600
        )
        try:
            how = fcntl.LOCK_EX if alone else fcntl.LOCK_SH
            if wait:
                wait_for_lock(descriptor, how)
            else:
                fcntl.flock(descriptor, how | fcntl.LOCK_NB)
            yield descriptor
        finally:
            os.close(descriptor)


def reference(thread: str) -> str:
    """The name of the git reference that keeps the recorded files of a thread."""
    return f"refs/threads/{thread}"


def find_repository(home: str) -> FilesRepository | None:
    """The repository of a home, None if nothing was recorded.

    Raises:
        OSError: it cannot be read.
    """
    path = os.path.join(home, NAME)
    if not os.path.isdir(path):
        return None
    _repair(path)
    return FilesRepository(path)


def open_repository(home: str) -> FilesRepository:
    """The repository of a home, made if it is missing. Several processes may do that at once.

    Raises:
        OSError: it cannot be made or read.
    """
    found = find_repository(home)
    if found is None:
        _make(home, os.path.join(home, NAME))
    return found or FilesRepository(os.path.join(home, NAME))


def _repair(path: str) -> None:
    """Write the files anew by which git treats the repository as uwf needs it, if they are not as
    uwf wrote them: with other attributes, git would change the bytes of files.
    """
    for name, text in _FILES.items():
        place = os.path.join(path, name)
        try:
            with open(place, "rb") as file:
                if file.read() == text.encode():
                    continue
        except FileNotFoundError:
            make_folder(os.path.dirname(place))
        draft = f"{place}.new-{os.getpid()}"
        _write(draft, text)
        os.rename(draft, place)


def _write(path: str, text: str) -> None:
    """Write a file that nobody else may read, and wait until it is on the disk."""
    with open(path, "w", encoding="ascii", opener=open_private) as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())


def _make(home: str, path: str) -> None:
    """Make the repository beside its place, and move it there unless another process was first."""
    from tempfile import mkdtemp

    make_lasting_folder(home)
    draft = mkdtemp(prefix=_MAKING, dir=home)
    try:
        for folder in _FOLDERS:
            make_folder(os.path.join(draft, folder))
        for name, text in _FILES.items():
            _write(os.path.join(draft, name), text)
        for folder in (*_FOLDERS, "objects", "refs", ""):
            sync_names(os.path.join(draft, folder))
        try:
            os.rename(draft, path)
        except OSError:
            if not os.path.isdir(path):
                raise
        sync_names(home)
    finally:
        shutil.rmtree(draft, ignore_errors=True)
