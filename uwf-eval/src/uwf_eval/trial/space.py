"""Where a trial lives: the agent's folder, and, far from it, what no agent is told of."""

import os
import stat
from pathlib import Path

from uwf_core.named_tuple import NamedTuple
from uwf_eval.task.tree import remove_tree

_PREFIX = "uwf-trial-"


class Space(NamedTuple):
    """The folders of one trial.

    Attributes:
        work: the agent's own, in the system's place for temporary files, outside of everything
            (so no project, repository or setting is found above it).
        private: what judges get; made when one of them needs it.
    """

    work: Path
    private: Path

    @property
    def store(self) -> str:
        """The URL of the store that judges which are programs find the thread in; made when one
        of them needs it.
        """
        return f"sqlite:{self.private / 'store.db'}"

    @property
    def judged(self) -> Path:
        """The judges' copy of the agent's folder."""
        return self.private / "judged"

    @property
    def judges(self) -> Path:
        """A folder of the judges' own, made when one of them needs it."""
        return self.private / "judges"

    def remove(self) -> None:
        """Remove all of it."""
        remove_tree(self.work)
        remove_tree(self.private)


def places(run: str) -> str:
    """Where the agents' folders of a run's trials are: a pattern."""
    import tempfile

    return str(Path(tempfile.gettempdir(), f"{_PREFIX}{run}-*"))


def make_space(folder: Path, run: str, name: str) -> Space:
    """The folders of a trial, new and empty.

    Args:
        folder: where private folders of the run are.
        run: the run's id. name: of letters and digits, unique within the run.

    Raises:
        OSError: they cannot be made.
    """
    import tempfile

    work = Path(tempfile.mkdtemp(prefix=f"{_PREFIX}{run}-{name}-"))
    return Space(work, folder / name)


def remove_leftovers(folder: Path, run: str) -> None:
    """Remove what trials of a run left that were killed; only where none of them runs any more.

    Args:
        folder: where private folders of the run are. run: its id.
    """
    pattern = Path(places(run))
    for work in pattern.parent.glob(pattern.name):
        there = work.lstat()
        if stat.S_ISDIR(there.st_mode) and there.st_uid == os.getuid():
            remove_tree(work)
    remove_tree(folder)
