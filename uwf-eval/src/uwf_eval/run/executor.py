"""Who runs trials: an interface, so that another engine can take the place of the process pool.

An executor gets the run's setting once, takes jobs as it has room for them (so that whoever gives
them can stop giving), and tells of each end in the thread that called it.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import field
from pathlib import Path
from typing import NamedTuple, Protocol

from uwf_core.api import Cancel
from uwf_core.api.record import record
from uwf_eval.plan.budget import Spent
from uwf_eval.records import Failure, Trial, TrialState
from uwf_eval.task.model import Task
from uwf_eval.trial.guard import Stamps


@record
class Setting:
    """What all trials of a run share, for whoever runs them.

    Attributes:
        folder: where private folders of trials are made.
        cwd: what paths in `--agent` are relative to. env: the caller's environment.
        tasks: as copied for the run. stamps: of these copies, by the task's name.
        keep: whether the folders of trials stay.
    """

    folder: Path
    cwd: Path
    env: Mapping[str, str] = field(repr=False)
    tasks: Sequence[Task]
    stamps: Mapping[str, Stamps]
    keep: bool = False


class Note(NamedTuple):
    """What a run needs to know of a trial that has ended; the trial itself is in the store."""

    number: int
    state: TrialState
    score: float | None
    passed: bool | None
    duration_ms: int
    failure: Failure | None
    spent: Spent


class Lost(NamedTuple):
    """A trial whose process ended before it did: nothing of it is stored."""

    trial: Trial
    message: str


End = Note | Lost


class Executor(Protocol):
    """Runs trials and stores them."""

    def execute(
        self,
        setting: Setting,
        jobs: Iterator[Trial],
        ended: Callable[[End], None],
        tick: Callable[[Sequence[int]], None],
        cancel: Cancel,
    ) -> None:
        """Run every job; return once none is under way.

        Args:
            setting: what they share.
            jobs: asked for one whenever there is room for it.
            ended: told of each that has ended, and is stored, in the calling thread.
            tick: told now and then which trials are under way (their numbers).
            cancel: once set, trials under way are stopped, and no further one is begun.

        Raises:
            UwfError: trials cannot be run or stored any more. Those told of are stored.
        """
