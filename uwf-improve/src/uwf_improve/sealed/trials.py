"""Run trials of uwf-eval: open ones as `uwf eval run` does, sealed ones without a figure."""

import hashlib
import os
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from uwf_core.client import Client
from uwf_core.commands import Session, cancel_on_signals, working_folder
from uwf_core.errors import ExitCode
from uwf_eval.judges.launcher import hide
from uwf_eval.records import Run, Trial
from uwf_eval.run.pool import ProcessPool
from uwf_eval.run.prepare import Prepared, Request
from uwf_eval.run.progress import Progress
from uwf_eval.run.start import RunOutcome, RunServices, resume_run, start_run
from uwf_eval.run.worker_process import first_worker
from uwf_eval.store.results import SEALED, Results
from uwf_eval.task.tree import digest_of_tree
from uwf_improve.edit.records import WorkflowEdit

if TYPE_CHECKING:
    from uwf_core.client import StepInput
    from uwf_improve.documents import TriedDocument


@dataclass(frozen=True, kw_only=True)
class Match:
    """Trials of both versions of a workflow on the same tasks, interleaved.

    Attributes:
        name: of the run. tasks: their folders. workflows: the published versions.
        agent, model: None: those of each task.
        steps: recorded steps in place of the cases of tasks. files: in place of recorded files.
    """

    name: str
    tasks: Sequence[str]
    workflows: Sequence[str]
    repeats: int
    jobs: int = 1
    agent: str | None = None
    model: str | None = None
    steps: "Sequence[StepInput]" = ()
    files: str | None = None


class Matched(NamedTuple):
    """The trials of a match, its run, and the exit code of the command."""

    trials: Sequence[Trial]
    run: str
    code: int


class SealedCount:
    """Shows how many sealed trials have ended, and nothing else of them."""

    def __init__(self, session: Session, run: Run, trials: Sequence[Trial]) -> None:
        self._session, self._total = session, run.trials
        self._done = sum(each.state not in ("not_run", "infra_error") for each in trials)

    def __enter__(self) -> "SealedCount":
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
            SealedCount(session, run.run, run.trials)
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


def match_once(session: Session, client: Client, match: Match) -> Matched:
    """Run the trials of a match that is not sealed. The same request is the same run: one that was
    interrupted is resumed, one that has ended is shown again.

    Args:
        match: its name gets the digest of what it asks for.

    Raises:
        UwfError: as `uwf eval run`.
    """
    match = replace(match, name=f"{match.name}.{_digest(match)}")
    known = run_named(client, match.name)
    if known is not None and known.finished_at_ms is not None:
        return Matched(Results(client).trials(known.run), known.run, int(ExitCode.DONE))
    outcome = run_match(session, client, session.env, match)
    return Matched(outcome.trials, outcome.run.run, outcome.exit_code)


def _digest(match: Match) -> str:
    folders = [*match.tasks, *([] if match.files is None else [match.files])]
    parts = [*match.workflows, "", *sorted(each.step for each in match.steps), ""]
    parts += [*map(_content, folders), str(match.repeats), str(match.agent), str(match.model)]
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:8]


def _content(word: str) -> str:
    place = Path(working_folder(), word)
    return digest_of_tree(place) if place.is_dir() else word


def tried(
    edit: WorkflowEdit, matched: Matched, set_: str | None, *, screening: bool
) -> "TriedDocument":
    """The document of trials for the search."""
    states = Counter(each.state for each in matched.trials)
    compare = f"uwf eval compare {edit.champion} {edit.challenger} --by workflow"
    return {
        "edit": edit.edit, "run": matched.run, "trials": len(matched.trials),
        "states": dict(sorted(states.items())), "set": set_, "screening": screening,
        "hint": f"{compare} --run {matched.run}",
    }  # fmt: skip


def run_named(client: Client, name: str) -> Run | None:
    """The run of that name in the store of a client."""
    runs = Results(client, sealed=name.startswith(SEALED)).runs()
    return next((each for each in runs if each.name == name), None)


def _request(match: Match) -> Request:
    return Request(
        tasks=match.tasks,
        agents=[] if match.agent is None else [match.agent],
        models=[] if match.model is None else [match.model],
        workflows=match.workflows,
        repeat=match.repeats,
        jobs=match.jobs,
        seed=int.from_bytes(os.urandom(4)) >> 1,
        name=match.name,
        command=["improve"],
        steps=match.steps,
        files=match.files,
        cwd=Path(working_folder()),
    )
