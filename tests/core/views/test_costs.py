"""What showing many threads, or a long one, costs: counts, which are the same on every machine."""

import sys
from collections.abc import Callable
from typing import Any

import pytest
from tests.core.engine.conftest import ONE_ROLE

from uwf_core.cas.store import Store
from uwf_core.cli.session import as_json
from uwf_core.client import ThreadFilter
from uwf_core.stores.sqlite import open_sqlite
from uwf_core.testing.project import Project

CALLS_OF_A_ROW = 11
CALLS_OF_A_STEP = 75


@pytest.fixture
def project(tmp_path):
    """A project with a workflow of one role."""
    project = Project(tmp_path)
    project.workflow("one-role", ONE_ROLE)
    project.script(
        [
            {"role": "worker", "output": {"$status": "again"}, "body": f"Text {number}."}
            for number in range(60)
        ]
    )
    return project


def calls_of(work: Callable[[], Any]) -> int:
    """How many functions and methods of Python this calls."""
    count = 0

    def seen(_frame: Any, event: str, _argument: Any) -> None:
        nonlocal count
        count += event == "call"

    sys.setprofile(seen)
    try:
        work()
    finally:
        sys.setprofile(None)
    return count


def test_a_row_more_of_a_list_of_threads_takes_few_calls(project: Project):
    with project.client() as uwf:
        for _ in range(160):
            uwf.start("one-role", "a task")

        def shown(limit: int) -> int:
            wanted = ThreadFilter(all=True, limit=limit)
            return calls_of(lambda: as_json({"threads": uwf.list(wanted)}))

        shown(160)
        assert (shown(160) - shown(110)) / 50 <= CALLS_OF_A_ROW


def test_a_step_more_of_a_thread_takes_few_calls(project: Project):
    def shown() -> int:
        with project.client() as reader:
            return calls_of(lambda: reader.read(thread, quota=10**8))

    with project.client() as uwf:
        thread = uwf.start("one-role", "a task")["thread"]
        uwf.exec(thread, count=20)
        shown()
        short = shown()
        uwf.exec(thread, count=30)
    assert (shown() - short) / 30 <= CALLS_OF_A_STEP


@pytest.mark.parametrize(
    "view",
    [
        lambda uwf, thread: uwf.read(thread, quota=2000),
        lambda uwf, thread: uwf.show(thread),
        lambda uwf, thread: uwf.step(uwf.thread(thread).head),
        lambda uwf, thread: next(uwf.thread(thread).newest_first()).prompt,
        lambda uwf, thread: uwf.usage(),
    ],
    ids=["read", "show", "step", "newest", "usage"],
)
def test_a_view_of_the_newest_steps_reads_no_more_of_a_longer_thread(project: Project, view):
    """SQLite's own steps, counted."""

    def reads() -> int:
        with project.client() as uwf:
            counts = [0]
            reader = uwf._engine.backend._database.reader()
            reader.set_progress_handler(lambda: counts.append(counts.pop() + 1), 10)
            view(uwf, thread)
            return counts[0]

    with project.client() as uwf:
        thread = uwf.start("one-role", "a task")["thread"]
        uwf.exec(thread, count=30)
        short = reads()
        uwf.exec(thread, count=30)
    assert short > 0 and reads() <= 1.2 * short


def test_the_last_page_of_a_long_list_costs_as_little_as_the_first(tmp_path):
    """SQLite's own steps, counted."""
    backend = open_sqlite("sqlite:store.db", str(tmp_path))
    store = Store(backend, lambda: 1000)
    node = store.put_text("x")
    with store.transaction():
        for number in range(4000):
            store.set_variable(f"@uwf/thread/{number:04}", node, {"status": "idle"}, None)
    counts = []
    for after in ("@uwf/thread/4000", "@uwf/thread/0100"):
        counts.append(0)
        count = lambda: counts.append(counts.pop() + 1)  # noqa: E731
        backend._database.reader().set_progress_handler(count, 100)
        store.variable_texts("@uwf/thread/", after=after, limit=50, descending=True)
    assert counts[1] <= counts[0] + 1
