"""What a trial leaves for good: its thread and its result go into the main store together."""

from dataclasses import replace

from uwf_core.client import Client
from uwf_core.errors import StoreError, UwfError
from uwf_eval.records import Trial
from uwf_eval.run.executor import End
from uwf_eval.store.results import Results
from uwf_eval.trial import verdict


def keep_trial(main: Client, results: Results, end: End) -> Trial:
    """Store a trial that has ended and its thread, both or neither; durable once this returns. A
    trial whose thread cannot be taken over is stored as an infrastructure error.

    Args:
        main: a client of the main store. results: those in it. end: the trial.

    Returns:
        The trial as it is stored.

    Raises:
        UwfError: nothing can be stored.
    """
    trial = end.trial
    try:
        with main.nodes.transaction():
            if end.space is not None and trial.thread is not None and trial.head is not None:
                _take_thread(main, end.space.store, trial.thread, trial.head)
            results.save_trial(trial)
            return trial
    except _NotTakenError as error:
        failure = verdict.of_error(error.why, "store").failure
        trial = replace(trial, state="infra_error", score=None, passed=None, failure=failure)
        results.save_trial(trial)
        return trial


class _NotTakenError(Exception):
    def __init__(self, why: Exception) -> None:
        super().__init__(str(why))
        self.why = why


def _take_thread(main: Client, store: str, thread: str, head: str) -> None:
    try:
        with Client.open(store=store, durable=False, beside=main) as client:
            copied = client.nodes.copy_thread(thread, main.nodes, durable=False)
    except (UwfError, OSError) as error:
        raise _NotTakenError(error) from error
    if copied != head:
        words = "the trial's own store was written to after the trial"
        raise _NotTakenError(StoreError(words, where=store))
