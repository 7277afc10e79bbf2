"""A run under way: which trial is next, what was used, what is left when it ends."""

import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Protocol

from uwf_core.api import Cancel
from uwf_core.client import Client
from uwf_core.named_tuple import NamedTuple
from uwf_eval.plan.budget import exhausted, spent_by, unenforceable
from uwf_eval.plan.matrix import in_order
from uwf_eval.records import Budget, Run, Trial
from uwf_eval.run.executor import Executor, Setting
from uwf_eval.store import pages
from uwf_eval.store.results import Results

LEFT = ("not_run", "infra_error")
"""The states of trials that `resume` runs again."""


class Watch(Protocol):
    """Who is told how a run goes."""

    def kept(self, trial: Trial) -> None:
        """A trial has ended and is stored."""

    def tick(self, running: Sequence[int]) -> None:
        """These trials are under way."""

    def notice(self, text: str) -> None:
        """A line for people."""


class Stopped(NamedTuple):
    """How a run came to its end: what of its budget was used up, if that was it; whether it was
    interrupted.
    """

    exhausted: str | None
    interrupted: bool


class Conductor:
    """Runs what is left of a run, and stores how it stands: the executor's listener."""

    def __init__(
        self, main: Client, run: Run, trials: Sequence[Trial], budget: Budget, watch: Watch
    ) -> None:
        self._main = main
        self._results = Results(main)
        self._run = run
        self._left = [each for each in trials if each.state in LEFT]
        self._spent = spent_by(trials)
        self._budget = budget
        self._watch = watch
        self._began = time.monotonic()
        self._begun = 0
        self._kept = 0
        self._exhausted: str | None = None
        self._told: set[str] = set()

    def conduct(self, executor: Executor, setting: Setting, cancel: Cancel) -> Stopped:
        """Run what is left; what was kept is stored, whatever happens.

        Raises:
            UwfError: trials cannot be run or stored any more.
        """
        try:
            executor.execute(setting, self._jobs(), self, cancel)
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
        """As `Listener.ended`: what it used counts before another trial begins."""
        self._spent = self._spent.plus(trial)
        for text in unenforceable(self._budget, self._spent):
            if text not in self._told:
                self._told.add(text)
                self._watch.notice(text)

    def keep(self, trial: Trial) -> None:
        """As `Listener.keep`."""
        self._results.save_trial(trial)
        self._watch.kept(trial)
        self._kept += 1
        if self._kept % pages.SIZE == 0:
            self._results.write_pages(self._run.run)

    def tick(self, running: Sequence[int]) -> None:
        """As `Listener.tick`: while the first trials run, what stores them is imported."""
        self._watch.tick(running)
        if not self._kept:
            self._main.installation.warm_up_to_store()


def finished(run: Run, trials: Sequence[Trial]) -> Run:
    """The run as it stands after these trials: finished once none was left out."""
    left = any(each.state == "not_run" for each in trials)
    return replace(run, finished_at_ms=None if left else time.time_ns() // 1_000_000)
