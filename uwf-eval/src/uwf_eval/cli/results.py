"""Commands that read stored runs: `list`, `show`."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager

from uwf_core.client import Client
from uwf_core.commands import Session, working_folder
from uwf_core.fields.records import write_record
from uwf_eval.report.runs import run_row, runs_text
from uwf_eval.report.trial_text import reading, trial_text
from uwf_eval.store.results import Results


@contextmanager
def results_of(session: Session) -> Iterator[tuple[Client, Results]]:
    """Open the client and the stored results.

    The garbage collector is off meanwhile: thousands of trials without reference cycles are read,
    and the search for cycles would take a quarter of the time.
    """
    gc.disable()
    try:
        with Client.open(env=session.env, cwd=working_folder(), on_notice=session.note) as client:
            yield client, Results(client)
    finally:
        gc.enable()


def list_(session: Session, limit: int | None) -> None:
    """List the runs, newest first."""
    with results_of(session) as (_, results):
        rows = [run_row(run, results.counts(run.run)) for run in results.runs()[:limit]]
    session.emit({"runs": rows}, runs_text)


def show(session: Session, trial: str) -> None:
    """Show one trial."""
    with results_of(session) as (_, results):
        found = results.trial(trial)
    document = {**write_record(found), "commands": reading(found)}
    session.emit(document, lambda _, screen: trial_text(found, screen))
