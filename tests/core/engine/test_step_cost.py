"""What a step costs inside a process: counts that are the same on every machine."""

import gc
import sqlite3
import sys
import threading
from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest
from tests.core.engine.conftest import ONE_ROLE

from uwf_core.client import Client
from uwf_core.stores.locks import WaitingConnection
from uwf_core.testing.mock import MockAgent
from uwf_core.testing.project import Project

STEPS = 8
CALLS = 2500  # of Python and of builtin functions together
AGAIN = {"role": "worker", "output": "---\n$status: again\n---\n" + "x" * 200}


@pytest.fixture
def counted(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """The statements that SQLite is given; many rows in one call are one."""
    found: Counter[str] = Counter()

    class Counting(WaitingConnection):
        def execute(self, sql: str, parameters: Any = (), /) -> sqlite3.Cursor:
            found["statements"] += 1
            found["reads"] += sql.startswith("SELECT") and " FROM node " in sql
            return super().execute(sql, parameters)

        def executemany(self, sql: str, *values: Any) -> sqlite3.Cursor:
            found["statements"] += 1
            return super().executemany(sql, *values)

    monkeypatch.setattr("uwf_core.stores.database.WaitingConnection", Counting)
    return found


@pytest.fixture
def run(project: Project, monkeypatch: pytest.MonkeyPatch) -> Callable[[int], None]:
    # What an agent has done so far is stored again where a busy machine makes a step slow:
    monkeypatch.setattr("uwf_core.engine.progress.FLUSH_SECONDS", 60.0)
    project.workflow("one-role", ONE_ROLE)
    project.script([AGAIN], repeat=True)
    uwf = project.client()
    thread = uwf.start("one-role", "The task.")["thread"]
    uwf.exec(thread, count=4)  # what only the first steps of a process cost
    return lambda count: _done(uwf, thread, count)


def _done(uwf: Client, thread: str, count: int) -> None:
    assert len(uwf.exec(thread, count=count).document["steps"]) == count


def per_step(measure: Callable[[int], Counter[str]]) -> dict[str, float]:
    """What one step more costs: what all steps of a call have in common falls out."""
    few, many = measure(STEPS), measure(2 * STEPS)
    return {key: (many[key] - few[key]) / STEPS for key in many}


def test_a_step_takes_at_most_2500_calls(run) -> None:
    """Those of builtin functions, which are nearly half of them, are counted as well."""

    def measure(count: int) -> Counter[str]:
        calls: Counter[str] = Counter()

        def count_call(_frame: Any, event: str, _argument: Any) -> None:
            calls[event] += event in ("call", "c_call")

        gc.disable()  # what others left behind is not freed within our count
        threading.setprofile(count_call)
        sys.setprofile(count_call)
        try:
            run(count)
        finally:
            sys.setprofile(None)
            threading.setprofile(None)
            gc.enable()
        return calls

    measure(2 * STEPS)  # until every decoder is learned, steps differ in what they cost
    cost = per_step(measure)
    print(f"{cost['call']:.0f} calls of Python, {cost['c_call']:.0f} of builtin functions")
    assert cost["call"] + cost["c_call"] <= CALLS


def test_a_step_takes_at_most_12_statements_and_reads_no_node_back(counted, run) -> None:
    def measure(count: int) -> Counter[str]:
        counted.clear()
        run(count)
        return Counter(counted)

    cost = per_step(measure)
    print(cost)
    assert 0 < cost["statements"] <= 12
    assert cost.get("reads", 0) <= 1


def test_a_step_writes_at_most_40_kb(project: Project, run) -> None:
    """What it adds to the log of the store, page by page, in both of its commits."""
    log = project.home / "store.db-wal"

    def measure(count: int) -> Counter[str]:
        before = log.stat().st_size
        run(count)
        return Counter(bytes=log.stat().st_size - before)

    cost = per_step(measure)
    print(cost)
    assert 0 < cost["bytes"] <= 40_000


def test_all_steps_of_a_call_run_in_one_thread(run, monkeypatch: pytest.MonkeyPatch) -> None:
    """Their agent is opened once, and closed at the end of the call."""
    started: list[str] = []
    closed: list[MockAgent] = []
    real = threading.Thread.start

    def start(thread: threading.Thread) -> None:
        started.append(thread.name)
        real(thread)

    monkeypatch.setattr(threading.Thread, "start", start)
    monkeypatch.setattr(MockAgent, "close", lambda agent: closed.append(agent))
    run(STEPS)
    assert started == ["agent mock"]
    assert len(closed) == 1
