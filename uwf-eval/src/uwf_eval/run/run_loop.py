"""The loop of a run: selects the next trial, counts usage, stores results."""

import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple, Protocol

from uwf_core.api import Cancel
from uwf_core.client import Client
from uwf_eval.plan.budget import exhausted, spending_of, unknown_limits
from uwf_eval.plan.matrix import in_order
from uwf_eval.records import Budget, Run, Trial
from uwf_eval.run.executor import Executor, RunSettings
from uwf_eval.store import pages
from uwf_eval.store.results import Results

LEFT = ("not_run", "infra_error")
"""The states of the trials that `resume` runs."""


class RunObserver(Protocol):
    """Observes a run."""

    def stored(self, trial: Trial) -> None:
        """A trial has ended and is stored."""

    def tick(self, running: Sequence[int]) -> None:
        """These trials are running."""

    def notice(self, text: str) -> None:
        """A line for the user."""


class Stopped(NamedTuple):
    """Why a run ended: the limit that was reached, if any; whether it was interrupted."""

    exhausted: str | None
    interrupted: bool


class RunLoop:
    """Runs the remaining trials of a run and stores each; the listener of the executor."""

    def __init__(
        self, main: Client, run: Run, trials: Sequence[Trial], budget: Budget, observer: RunObserver
    ) -> None:
        self._results = Results(main)
        self._run = run
        self._left = [each for each in trials if each.state in LEFT]
        self._spent = spending_of(trials)
        self._budget = budget
        self._observer = observer
        self._began = time.monotonic()
        self._begun = 0
        self._stored = 0
        self._exhausted: str | None = None
        self._reported: set[str] = set()

    def run(self, executor: Executor, settings: RunSettings, cancel: Cancel) -> Stopped:
        """Run the remaining trials; finished ones are stored in any case.

        Raises:
            UwfError: trials can no longer be run or stored.
        """
        try:
            executor.execute(settings, self._jobs(), self, cancel)
        finally:
            self._results.write_pages(self._run.run)
        return Stopped(self._exhausted, cancel.is_set())

    def _jobs(self) -> Iterator[Trial]:
        for trial in in_order(self._left, self._run.seed):
            minutes = (time.monotonic() - self._began) / 60
            self._exhausted = exhausted(self._budget, self._spent, self._begun, minutes)
            if self._exhausted is not None:
                return
            self._begun += 1
            yield trial

    def ended(self, trial: Trial) -> None:
        """As `Listener.ended`: its usage counts before another trial starts."""
        self._spent = self._spent.plus(trial)
        for text in unknown_limits(self._budget, self._spent.usage):
            if text not in self._reported:
                self._reported.add(text)
                self._observer.notice(text)

    def store(self, trial: Trial) -> None:
        """As `Listener.store`."""
        self._results.save_trial(trial)
        self._observer.stored(trial)
        self._stored += 1
        if self._stored % pages.SIZE == 0:
            self._results.write_pages(self._run.run)

    def tick(self, running: Sequence[int]) -> None:
        """As `Listener.tick`."""
        self._observer.tick(running)


def finished(run: Run, trials: Sequence[Trial]) -> Run:
    """The run after these trials; finished if none remains."""
    left = any(each.state == "not_run" for each in trials)
    return replace(run, finished_at_ms=None if left else time.time_ns() // 1_000_000)
