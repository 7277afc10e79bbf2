"""The interface of executors, so that another engine can replace the process pool.

An executor gets the settings of the run once and takes a job when it has a free worker, so that the
run can stop at any time. It reports the end of each job in the calling thread.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from uwf_core.api import Cancel
from uwf_eval.records import Trial
from uwf_eval.task.model import Task
from uwf_eval.trial.tampering import Stamps


@dataclass(frozen=True, kw_only=True)
class RunSettings:
    """What all trials of a run share.

    Attributes:
        folder: for the private folders of trials.
        cwd: the base of relative paths in `--agent`. env: the caller's environment.
        tasks: the run's copies. stamps: of these copies, by the task's name.
        keep: whether the folders of trials are kept.
        ahead: whether a worker may get its next job early, because no limit depends on usage.
    """

    folder: Path
    cwd: Path
    env: Mapping[str, str] = field(repr=False)
    tasks: Sequence[Task]
    stamps: Mapping[str, Stamps]
    keep: bool = False
    ahead: bool = False


class Listener(Protocol):
    """Receives the events of trials."""

    def ended(self, trial: Trial) -> None:
        """A trial has ended; called before the next job is requested."""

    def store(self, trial: Trial) -> None:
        """Store a finished trial, while others run. Its thread is already in the main store.

        Raises:
            UwfError: trials can no longer be stored.
        """

    def tick(self, running: Sequence[int]) -> None:
        """Called regularly with the numbers of the running trials."""


class Executor(Protocol):
    """Runs trials."""

    def execute(
        self, settings: RunSettings, jobs: Iterator[Trial], listener: Listener, cancel: Cancel
    ) -> None:
        """Run every job; return when all have ended and are stored.

        Args:
            settings: shared by the jobs.
            jobs: taken when a worker is free, or earlier (`RunSettings.ahead`).
            listener: called in the calling thread.
            cancel: stops the running trials; no further one starts.

        Raises:
            UwfError: trials can no longer be run or stored. Stored ones stay.
        """
