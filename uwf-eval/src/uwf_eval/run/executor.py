"""Who runs trials: an interface, so that another engine can take the place of the process pool.

An executor gets the run's setting once, takes jobs as it has room for them (so that whoever gives
them can stop giving), and tells of each end in the thread that called it.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field
from pathlib import Path
from typing import Protocol

from uwf_core.api import Cancel
from uwf_core.api.record import record
from uwf_eval.records import Trial
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
        ahead: whether a job may be asked for before there is room for it: nothing of the budget
            is counted as trials end.
    """

    folder: Path
    cwd: Path
    env: Mapping[str, str] = field(repr=False)
    tasks: Sequence[Task]
    stamps: Mapping[str, Stamps]
    keep: bool = False
    ahead: bool = False


class Listener(Protocol):
    """Who is told how trials go."""

    def ended(self, trial: Trial) -> None:
        """A trial has ended; told before a further job is asked for."""

    def keep(self, trial: Trial) -> None:
        """Store a trial that has ended, while others run. Its thread is in the main store already.

        Raises:
            UwfError: trials cannot be stored any more.
        """

    def tick(self, running: Sequence[int]) -> None:
        """These trials (their numbers) are under way; told now and then."""


class Executor(Protocol):
    """Runs trials."""

    def execute(
        self, setting: Setting, jobs: Iterator[Trial], listener: Listener, cancel: Cancel
    ) -> None:
        """Run every job; return once none is under way and all that have ended are kept.

        Args:
            setting: what they share.
            jobs: asked for one whenever there is room for it, or earlier (`Setting.ahead`).
            listener: told of what happens, in the calling thread.
            cancel: once set, trials under way are stopped, and no further one is begun.

        Raises:
            UwfError: trials cannot be run or stored any more. Those kept are stored.
        """
