"""The folders of a trial: the agent's, and elsewhere the private one of the judges."""

import os
import stat
from pathlib import Path
from typing import NamedTuple

from uwf_eval.records import Trial
from uwf_eval.task.tree import remove_tree

_PREFIX = "uwf-trial-"


class TrialFolders(NamedTuple):
    """The folders of one trial.

    Attributes:
        work: the agent's, in the system's temporary folder, so that no project, repository or
            configuration is found above it.
        private: for the judges; created on demand.
    """

    work: Path
    private: Path

    @property
    def store(self) -> str:
        """The URL of the store for judges that are programs; created on demand."""
        return f"sqlite:{self.private / 'store.db'}"

    @property
    def judged(self) -> Path:
        """The judges' copy of the agent's folder."""
        return self.private / "judged"

    @property
    def judges(self) -> Path:
        """The working folder of the judges, created on demand."""
        return self.private / "judges"

    def remove(self) -> None:
        """Remove both."""
        remove_tree(self.work)
        remove_tree(self.private)


class TrialResult(NamedTuple):
    """A finished trial and its folders; None: it has none, or a program may still write there.
    `stuck`: an agent in this process does not stop, so no further trial may start in it.
    """

    trial: Trial
    space: TrialFolders | None
    stuck: bool = False


def places(run: str) -> str:
    """The pattern of the agents' folders of a run."""
    import tempfile

    return str(Path(tempfile.gettempdir(), f"{_PREFIX}{run}-*"))


def make_folders(folder: Path, run: str, name: str) -> TrialFolders:
    """Create the folders of a trial.

    Args:
        folder: the private folder of the run.
        run: the run's id. name: unique in the run, of letters and digits.

    Raises:
        OSError: a folder cannot be created.
    """
    import tempfile

    work = Path(tempfile.mkdtemp(prefix=f"{_PREFIX}{run}-{name}-"))
    return TrialFolders(work, folder / name)


def remove_leftovers(folder: Path, run: str) -> None:
    """Remove the folders of killed trials; only valid if no trial of the run is running.

    Args:
        folder: the private folder of the run. run: its id.
    """
    pattern = Path(places(run))
    for work in pattern.parent.glob(pattern.name):
        there = work.lstat()
        if stat.S_ISDIR(there.st_mode) and there.st_uid == os.getuid():
            remove_tree(work)
    remove_tree(folder)
