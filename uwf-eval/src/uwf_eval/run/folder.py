"""The folder of a run: its copies of the tasks and the private folders of its trials."""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from uwf_core.errors import BusyError
from uwf_eval.task.tree import make_private, remove_tree
from uwf_eval.trial.folders import remove_leftovers


@contextmanager
def locked(file: Path, busy: str) -> Iterator[None]:
    """Hold the lock that a file is.

    Raises:
        BusyError: another process holds it; `busy` is the message.
    """
    make_private(file.parent)
    descriptor = os.open(file, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise BusyError(busy, hint="wait until it ends, or stop it") from error
        yield
    finally:
        os.close(descriptor)


class RunFolder(NamedTuple):
    """The folder of one run; only the user can read it."""

    path: Path

    @property
    def trials(self) -> Path:
        """The private folders of the trials."""
        return self.path / "trials"

    def task(self, index: int) -> Path:
        """The copy of the task with this index."""
        return self.path / "tasks" / str(index)

    @property
    def cwd(self) -> Path:
        """The folder in which the run was started."""
        return Path((self.path / "cwd").read_text(encoding="utf-8", errors="surrogateescape"))

    def write_cwd(self, cwd: Path) -> None:
        """Store the folder in which the run was started."""
        (self.path / "cwd").write_text(str(cwd), encoding="utf-8", errors="surrogateescape")

    @contextmanager
    def held(self) -> Iterator[None]:
        """Lock the run, and remove the leftovers of killed trials.

        Raises:
            BusyError: another process runs it.
        """
        what = f"run {self.path.name} is already running in another process"
        with locked(self.path / "lock", what):
            self.remove_leftovers()
            yield

    def remove_leftovers(self) -> None:
        """Remove the folders of killed trials; only valid if no trial of the run is running."""
        remove_leftovers(self.trials, self.path.name)

    def remove(self) -> None:
        """Remove the folder, when no trial remains."""
        remove_tree(self.path)


def run_folder(home: Path, run: str) -> RunFolder:
    """The folder of a run."""
    return RunFolder(home / "eval" / run)
