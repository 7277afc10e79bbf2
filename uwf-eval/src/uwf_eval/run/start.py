"""Starts a new run, or resumes one."""

import shlex
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from uwf_core.api import Cancel
from uwf_core.client import Client
from uwf_core.errors import ExitCode, UsageError
from uwf_core.fields.records import write_record
from uwf_core.ids import ThreadId
from uwf_eval.records import Budget, Run, Trial
from uwf_eval.report.groups import mean_score
from uwf_eval.run.corrected import replace_tasks, resume_notes
from uwf_eval.run.executor import Executor, RunSettings
from uwf_eval.run.folder import RunFolder, run_folder
from uwf_eval.run.prepare import Prepared, Request, prepare, reload_tasks
from uwf_eval.run.run_loop import LEFT, RunLoop, Stopped, finished
from uwf_eval.store.results import Results
from uwf_eval.trial.tampering import stamps

OpenObserver = Callable[[Prepared], Any]
"""Makes a context manager that gives the `RunObserver` of a run."""


class RunServices(NamedTuple):
    """What a run needs: an executor, a cancel, an observer, the environment; `sealed`: its run is
    sealed (`store.results.SEALED`).
    """

    executor: Executor
    cancel: Cancel
    observe: OpenObserver
    env: Mapping[str, str]
    keep: bool = False
    sealed: bool = False


class RunOutcome(NamedTuple):
    """The state of a run at the end of a command."""

    run: Run
    trials: list[Trial]
    stopped: Stopped

    @property
    def exit_code(self) -> int:
        """0; 130: interrupted; 5: the budget is used up; 1: some trials have infrastructure errors,
        were tampered with, or a judge or their process was killed.
        """
        if self.stopped.interrupted:
            return ExitCode.INTERRUPTED
        if self.stopped.exhausted is not None:
            return ExitCode.LIMIT
        bad = {"infra_error", "tampered", "not_run", "judge_aborted", "worker_died"}
        kinds = {each.failure.kind for each in self.trials if each.failure}
        return ExitCode.FAILED if bad & {*kinds, *(t.state for t in self.trials)} else ExitCode.DONE

    def document(self) -> dict[str, Any]:
        """The run, the number of trials in each state, the score of `report`, the next command."""
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
        left = [each for each in self.trials if each.state in LEFT]
        if left and all(each.failure and each.failure.kind == "judge" for each in left):
            tasks = {each.cell.task for each in left if each.state == "infra_error"}
            words = [f"--task {shlex.quote(each.place)}" for each in self.run.tasks
                     if each.name in tasks and each.source != "distribution"]  # fmt: skip
            return " ".join([f"uwf eval resume {self.run.run}", *words])
        if left:
            return f"uwf eval resume {self.run.run}"
        return f"uwf eval report {self.run.run}"


def start_run(client: Client, request: Request, services: RunServices) -> RunOutcome:
    """Prepare a run, store it, and run its trials.

    Raises:
        UwfError: as `prepare`; or trials can no longer be run or stored.
    """
    run = str(ThreadId.new(time.time_ns() // 1_000_000))
    folder = run_folder(client.home, run)
    begun = False
    with folder.held():
        try:
            prepared = prepare(client, request, run, folder)
            folder.write_cwd(request.cwd)
            Results(client).save_run(prepared.run, prepared.trials)
            begun = True
            return _run_trials(client, prepared, request.budget, services, folder)
        finally:
            if not begun:
                folder.remove()


def resume_run(
    client: Client,
    word: str,
    budget: Budget | None,
    services: RunServices,
    corrected: Sequence[str] = (),
) -> RunOutcome:
    """Run the remaining trials of a run, and those with an infrastructure error; a trial that only
    lacks judges is judged.

    Args:
        client: of the main store. word: names the run. budget: None: that of the run.
        services: as for `start_run`.
        corrected: tasks that replace the run's copies.

    Raises:
        UsageError: unknown run, no trial remains, or a corrected task that differs in more than its
            judges. BusyError: the run is running.
        UwfError: as `start_run`.
    """
    results = Results(client, sealed=services.sealed)
    run = results.run(word)
    folder = run_folder(client.home, run.run)
    trials = list(results.trials(run.run))
    if not any(each.state in LEFT for each in trials):
        raise UsageError(
            f"run {run.run} has no trials left to run",
            hint=f"`uwf eval report {run.run}` shows its results",
        )
    with folder.held():
        if corrected:
            run, trials = replace_tasks(client, run, trials, folder, corrected)
            results.save_run(run)
        tasks = reload_tasks(run, folder, services.env)
        notes = resume_notes(run, trials, folder)
        prepared = Prepared(run=run, tasks=tasks, trials=trials, cwd=folder.cwd, notes=notes)
        return _run_trials(client, prepared, budget or run.budget, services, folder)


def _run_trials(
    client: Client, prepared: Prepared, budget: Budget, services: RunServices, folder: RunFolder
) -> RunOutcome:
    results = Results(client)
    settings = RunSettings(
        folder=folder.trials,
        cwd=prepared.cwd,
        env=services.env,
        tasks=prepared.tasks,
        stamps={task.name: stamps(task.folder) for task in prepared.tasks},
        keep=services.keep,
        ahead=(budget.cost_usd, budget.tokens, budget.minutes) == (None, None, None),
    )
    with services.observe(prepared) as observer:
        loop = RunLoop(client, prepared.run, prepared.trials, budget, observer)
        try:
            stopped = loop.run(services.executor, settings, services.cancel)
        finally:
            if not services.keep:
                folder.remove_leftovers()
    trials = list(results.trials(prepared.run.run))
    run = finished(prepared.run, trials)
    results.save_run(run)
    if not any(each.state in LEFT for each in trials) and not services.keep:
        folder.remove()
    return RunOutcome(run, trials, stopped)
