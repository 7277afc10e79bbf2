"""Where a trial lives: the agent's folder, and, far from it, what no agent is told of."""

from pathlib import Path

from uwf_core.named_tuple import NamedTuple
from uwf_eval.task.tree import make_private, remove_tree

_PREFIX = "uwf-trial-"


class Space(NamedTuple):
    """The folders of one trial.

    Attributes:
        work: the agent's own, in the system's place for temporary files, outside of everything
            (so no project, repository or setting is found above it).
        private: what judges get.
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


def make_space(folder: Path, name: str) -> Space:
    """The folders of the trial called `name`, new and empty.

    Args:
        folder: where private folders are; `name`: of letters and digits, unique within it.

    Raises:
        OSError: they cannot be made.
    """
    private = folder / name
    remove_tree(private)
    make_private(private)
    import tempfile

    work = Path(tempfile.mkdtemp(prefix=f"{_PREFIX}{name}-"))
    (private / "work").write_text(str(work), encoding="utf-8")
    return Space(work, private)


def remove_leftovers(folder: Path) -> None:
    """Remove what trials left that were killed; only where none of them runs any more."""
    if not folder.is_dir():
        return
    import tempfile

    for private in folder.iterdir():
        note = private / "work"
        if note.is_file():
            work = Path(note.read_text(encoding="utf-8"))
            if work.name.startswith(_PREFIX) and work.parent == Path(tempfile.gettempdir()):
                remove_tree(work)
        remove_tree(private)
