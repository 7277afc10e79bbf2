"""A server that crashes forgets the commits that did not wait for its disk: the work of a thread
goes on nevertheless.
"""

import signal
import time
from collections.abc import Iterator
from typing import Any

import pytest
from postgres_server import MISSING, Server, programs
from test_dispatch import CALLS, DONE, TWO, started, work

from conftest import made
from uwf_core.testing.project import Project
from uwf_store_postgres.backend import PostgresBackend


@pytest.fixture
def forgetful() -> Iterator[Server]:
    """A server that writes its log for no other reason than a commit that waits for it."""
    if programs() is None:
        pytest.skip(MISSING)
    running = Server(wal_writer_delay="10s", bgwriter_lru_maxpages="0", checkpoint_timeout="1h")
    yield running
    running.remove()


def crash(server: Server) -> None:
    """As a machine does that loses power."""
    server.stop(signal.SIGKILL)
    server.start()


def test_a_caller_whose_branches_a_crash_forgot_is_not_left_alone(forgetful, tmp_path, monkeypatch):
    """A worker has begun the branches and knows that their caller waits for them; the server
    crashes before it writes that.
    """
    project = Project(tmp_path)
    project.env["UWF_STORE"] = made(forgetful, lease="2")
    project.workflow("two", TWO)
    project.workflow("calls", CALLS)
    both = [{"role": "planner", "output": DONE}, {"role": "writer", "output": DONE}]
    project.script(both, repeat=True)
    settle = PostgresBackend.settle
    crashed: list[None] = []

    def crash_and_settle(*words: Any, **options: Any) -> bool:
        if not crashed:
            crashed.append(crash(forgetful))
        return settle(*words, **options)

    monkeypatch.setattr(PostgresBackend, "settle", crash_and_settle)
    with project.client() as uwf:
        thread, until = started(uwf, "calls"), time.monotonic() + 60
        while uwf.show(thread)["status"] != "completed":
            work(uwf)
            assert time.monotonic() < until, uwf.show(thread)
            time.sleep(0.2)
