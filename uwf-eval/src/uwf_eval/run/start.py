"""The two ways in: a new run, and one that goes on."""

import time
from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any

from uwf_core.api import Cancel
from uwf_core.api.fields import write_record
from uwf_core.client import Client
from uwf_core.errors import ExitCode, UsageError
from uwf_core.ids import ThreadId
from uwf_core.named_tuple import NamedTuple
from uwf_eval.records import Budget, Run, Trial
from uwf_eval.report.groups import mean_score
from uwf_eval.run.conduct import LEFT, Conductor, Stopped, finished
from uwf_eval.run.executor import Executor, Setting
from uwf_eval.run.folder import RunFolder, run_folder
from uwf_eval.run.prepare import Prepared, Request, prepare, reload_tasks
from uwf_eval.store.results import Results
from uwf_eval.trial.guard import stamps

Opened = Callable[[Prepared], Any]
"""Makes the context in which a run is watched: gives its `Watch`."""


class Hands(NamedTuple):
    """What a run works with: who runs its trials, what stops it, who watches it."""

    executor: Executor
    cancel: Cancel
    watching: Opened
    env: Mapping[str, str]
    keep: bool = False


class Done(NamedTuple):
    """A run as it stands when a command ends."""

    run: Run
    trials: list[Trial]
    stopped: Stopped

    @property
    def exit_code(self) -> int:
        """0; 130 interrupted; 5 the budget is used up; 1 trials to look at: infrastructure errors,
        tampered ones, and those of which a judge or the process was ended.
        """
        if self.stopped.interrupted:
            return ExitCode.INTERRUPTED
        if self.stopped.exhausted is not None:
            return ExitCode.LIMIT
        bad = {"infra_error", "tampered", "not_run", "judge_aborted", "worker_died"}
        kinds = {each.failure.kind for each in self.trials if each.failure}
        return ExitCode.FAILED if bad & {*kinds, *(t.state for t in self.trials)} else ExitCode.DONE

    def document(self) -> dict[str, Any]:
        """The run, how many trials are in which state, the score as `report` has it, what is
        next.
        """
        states = Counter(each.state for each in self.trials)
        document: dict[str, Any] = write_record(self.run)
        return {
            **document,
            "states": dict(sorted(states.items())),
            "passed": sum(bool(each.passed) for each in self.trials),
            "score": mean_score(self.trials),
            "stopped": self.stopped.exhausted,
            "hint": self._hint(),
        }

    def _hint(self) -> str:
        if any(each.state in LEFT for each in self.trials):
            return f"uwf-eval resume {self.run.run}"
        return f"uwf-eval report {self.run.run}"


def start_run(client: Client, request: Request, hands: Hands) -> Done:
    """Prepare a run, store it, and run its trials.

    Raises:
        UwfError: as `prepare`; or trials cannot be run or stored any more.
    """
    run = str(ThreadId.new(time.time_ns() // 1_000_000))
    folder = run_folder(client.home, run)
    begun = False
    with folder.held():
        try:
            prepared = prepare(client, request, run, folder, _nothing)
            folder.write_cwd(request.cwd)
            Results(client).save_run(prepared.run, prepared.trials)
            begun = True
            return _go(client, prepared, request.budget, hands, folder)
        finally:
            if not begun:
                folder.remove()


def resume_run(client: Client, word: str, budget: Budget | None, hands: Hands) -> Done:
    """Run the trials of a run that are left, or ended by an infrastructure error.

    Raises:
        UsageError: there is no such run, or nothing is left of it. BusyError: it is under way.
        UwfError: as `start_run`.
    """
    results = Results(client)
    run = results.run(word)
    folder = run_folder(client.home, run.run)
    trials = list(results.trials(run.run))
    if not any(each.state in LEFT for each in trials):
        raise UsageError(
            f"run {run.run} has no trials left to run",
            hint=f"`uwf-eval report {run.run}` shows its results",
        )
    with folder.held():
        tasks = reload_tasks(run, folder)
        prepared = Prepared(run=run, tasks=tasks, trials=trials, cwd=folder.cwd)
        return _go(client, prepared, budget or run.budget, hands, folder)


def _go(
    client: Client, prepared: Prepared, budget: Budget, hands: Hands, folder: RunFolder
) -> Done:
    results = Results(client)
    setting = Setting(
        folder=folder.trials,
        cwd=prepared.cwd,
        env=hands.env,
        tasks=prepared.tasks,
        stamps={task.name: stamps(task.folder) for task in prepared.tasks},
        keep=hands.keep,
        ahead=(budget.cost_usd, budget.tokens, budget.minutes) == (None, None, None),
    )
    with hands.watching(prepared) as watch:
        conductor = Conductor(client, prepared.run, prepared.trials, budget, watch)
        try:
            stopped = conductor.conduct(hands.executor, setting, hands.cancel)
        finally:
            if not hands.keep:
                folder.remove_leftovers()
    trials = list(results.trials(prepared.run.run))
    run = finished(prepared.run, trials)
    results.save_run(run)
    if not any(each.state in LEFT for each in trials) and not hands.keep:
        folder.remove()
    return Done(run, trials, stopped)


def _nothing(_text: str) -> None:
    """Warnings of a task are `uwf-eval check`'s to tell."""
