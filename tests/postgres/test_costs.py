"""What a worker asks the store: counts that are the same on every machine."""

from collections import Counter
from typing import Any

import psycopg
import pytest
from test_dispatch import DONE, TWO, started, work

from uwf_core.testing.project import Project

A_STEP = 2
"""The start of its attempt, and its record."""

A_THREAD = 6
"""A claim, and to find no other; the lease, taken and freed; the head, and its nodes' presence."""


@pytest.fixture
def counted(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """The statements that the server is given, each a round trip, by their first words."""
    found: Counter[str] = Counter()
    real = psycopg.Cursor.execute

    def execute(self: Any, query: Any, *words: Any, **options: Any) -> Any:
        found[str(query)[:90]] += 1
        return real(self, query, *words, **options)

    monkeypatch.setattr(psycopg.Cursor, "execute", execute)
    # What an agent has done so far is stored again where a busy machine makes a step slow:
    monkeypatch.setattr("uwf_core.engine.progress.FLUSH_SECONDS", 60.0)
    return found


def test_a_step_takes_two_round_trips_and_a_thread_six_more(tmp_path, url, counted):
    project = Project(tmp_path)
    project.env["UWF_STORE"] = url
    project.workflow("two", TWO)
    roles = ("planner", "writer")
    project.script([{"role": role, "output": DONE} for role in roles], by_role=True)
    with project.client() as uwf:
        started(uwf, "two")
        work(uwf)  # what only the first thread of a process costs
        thread = started(uwf, "two")
        counted.clear()
        assert work(uwf) == [thread]
        assert counted.total() <= 2 * A_STEP + A_THREAD, counted
