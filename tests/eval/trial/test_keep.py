"""A trial and its thread go into the main store together, or the trial says why they do not."""

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from trial_kit import Table

from uwf_core.client import Client
from uwf_core.errors import UnknownIdError
from uwf_eval.records import Trial
from uwf_eval.run.executor import End
from uwf_eval.run.keep import keep_trial
from uwf_eval.store.results import Results


@contextmanager
def _main(table: Table) -> Iterator[Client]:
    with Client.open(env=table.env, cwd=table.root) as main:
        yield main


def _keep(table: Table, end: End) -> Trial:
    with _main(table) as main:
        return keep_trial(main, Results(main), end)


def test_a_trial_that_is_kept_brings_its_thread_along(table: Table) -> None:
    end = table.ended(table.task())
    assert end.trial.thread is not None
    kept = _keep(table, end)
    assert kept.state == "scored"
    with _main(table) as main:
        assert main.show(end.trial.thread)["head"] == kept.head
        assert [each["role"] for each in main.steps(end.trial.thread)[1:]] == ["writer"]


def test_a_thread_that_was_moved_after_its_trial_is_not_taken_over(table: Table) -> None:
    end = table.ended(table.task())
    assert end.space is not None and end.trial.thread is not None
    with Client.open(env=table.env, cwd=table.root, store=end.space.store) as intruder:
        intruder.resume(end.trial.thread, "and again")
    kept = _keep(table, end)
    assert (kept.state, kept.score, kept.passed) == ("infra_error", None, None)
    assert kept.failure is not None and kept.failure.kind == "store"
    assert "written to after the trial" in kept.failure.message
    _has_no_thread(table, end)


def test_a_thread_that_is_damaged_is_not_taken_over(table: Table) -> None:
    end = table.ended(table.task())
    assert end.space is not None
    with sqlite3.connect(end.space.store_file) as store:
        store.execute("UPDATE node SET data = data || x'00'")
    kept = _keep(table, end)
    assert kept.state == "infra_error"
    assert kept.failure is not None and "damaged" in kept.failure.message
    _has_no_thread(table, end)


def _has_no_thread(table: Table, end: End) -> None:
    assert end.trial.thread is not None
    with _main(table) as main, pytest.raises(UnknownIdError):
        main.show(end.trial.thread)
