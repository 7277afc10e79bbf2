"""A run's own folder, below uwf's: its copies of the tasks, the private folders of its trials."""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from uwf_core.errors import BusyError
from uwf_core.named_tuple import NamedTuple
from uwf_eval.task.tree import make_private, remove_tree
from uwf_eval.trial.space import remove_leftovers


class RunFolder(NamedTuple):
    """The folder of one run, of its owner alone."""

    path: Path

    @property
    def trials(self) -> Path:
        """Where private folders of trials are made."""
        return self.path / "trials"

    def task(self, index: int) -> Path:
        """Where the copy of the task of this index is."""
        return self.path / "tasks" / str(index)

    @property
    def cwd(self) -> Path:
        """The folder that the run was begun in."""
        return Path((self.path / "cwd").read_text(encoding="utf-8", errors="surrogateescape"))

    def write_cwd(self, cwd: Path) -> None:
        """Remember the folder that the run was begun in."""
        (self.path / "cwd").write_text(str(cwd), encoding="utf-8", errors="surrogateescape")

    @contextmanager
    def held(self) -> Iterator[None]:
        """Nobody else runs this run meanwhile; what killed trials left is removed first.

        Raises:
            BusyError: somebody does.
        """
        make_private(self.path)
        descriptor = os.open(self.path / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            os.close(descriptor)
            raise BusyError(
                f"run {self.path.name} is already running in another process",
                hint="wait until it ends, or stop it",
            ) from error
        try:
            self.remove_leftovers()
            yield
        finally:
            os.close(descriptor)

    def remove_leftovers(self) -> None:
        """Remove what trials that were killed left; only where none of them runs any more."""
        remove_leftovers(self.trials, self.path.name)

    def remove(self) -> None:
        """Remove all of it: nothing is left to run."""
        remove_tree(self.path)


def run_folder(home: Path, run: str) -> RunFolder:
    """The folder of a run."""
    return RunFolder(home / "eval" / run)
