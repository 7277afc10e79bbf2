"""Run trials of uwf-eval: open ones as `uwf eval run` does, sealed ones without a figure."""

import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from uwf_core.api.record import record
from uwf_core.client import Client
from uwf_core.commands import Session, cancel_on_signals, working_folder
from uwf_eval.judges.launcher import hide
from uwf_eval.records import Run, Trial
from uwf_eval.run.pool import ProcessPool
from uwf_eval.run.prepare import Prepared, Request
from uwf_eval.run.progress import Progress
from uwf_eval.run.start import RunOutcome, RunServices, resume_run, start_run
from uwf_eval.run.worker_process import first_worker
from uwf_eval.store.results import SEALED, Results


@record
class Match:
    """Trials of both versions of a workflow on the same tasks, interleaved.

    Attributes:
        name: of the run. tasks: folders. workflows: the published versions.
        agent, model: None: those of each task.
    """

    name: str
    tasks: Sequence[Path]
    workflows: Sequence[str]
    repeats: int
    jobs: int = 1
    agent: str | None = None
    model: str | None = None


class Counter:
    """Shows how many sealed trials have ended, and nothing else of them."""

    def __init__(self, session: Session, run: Run, trials: Sequence[Trial]) -> None:
        self._session, self._total = session, run.trials
        self._done = sum(each.state not in ("not_run", "infra_error") for each in trials)

    def __enter__(self) -> "Counter":
        return self

    def __exit__(self, *_error: object) -> None:
        pass

    def stored(self, _trial: Trial) -> None:
        """A trial has ended."""
        self._done += 1
        if self._done % 10 == 0 or self._done >= self._total:
            self._session.note(f"[{min(self._done, self._total)}/{self._total}] sealed trials")

    def tick(self, running: Sequence[int]) -> None:
        """Nothing to show."""

    def notice(self, text: str) -> None:
        """What a notice says of trials stays sealed."""


def run_match(session: Session, client: Client, env: Mapping[str, str], match: Match) -> RunOutcome:
    """Run all trials of a match, or those that remain of an earlier call with its name.

    Raises:
        UwfError: as `uwf eval run`.
    """
    sealed = match.name.startswith(SEALED)
    hide()  # judges and agents do not see this process
    with first_worker(working_folder(), env) as worker, cancel_on_signals(session) as cancel:
        watch: Callable[[Prepared], Any] = lambda run: (  # noqa: E731
            Counter(session, run.run, run.trials)
            if sealed
            else Progress(session, run.run, run.trials)
        )
        silent: Callable[[str], None] = lambda text: (  # noqa: E731
            None if sealed else session.note(f"note: {text}")
        )
        pool = ProcessPool(match.jobs, silent, worker)
        services = RunServices(pool, cancel, watch, env, sealed=sealed)
        known = run_named(client, match.name)
        if known is None:
            return start_run(client, _request(match), services)
        return resume_run(client, known.run, None, services)


def run_named(client: Client, name: str) -> Run | None:
    """The run of that name in the store of a client."""
    runs = Results(client, sealed=name.startswith(SEALED)).runs()
    return next((each for each in runs if each.name == name), None)


def _request(match: Match) -> Request:
    return Request(
        tasks=[str(each) for each in match.tasks],
        agents=[] if match.agent is None else [match.agent],
        models=[] if match.model is None else [match.model],
        workflows=match.workflows,
        repeat=match.repeats,
        jobs=match.jobs,
        seed=int.from_bytes(os.urandom(4)) >> 1,
        name=match.name,
        command=["improve"],
        cwd=Path(working_folder()),
    )
