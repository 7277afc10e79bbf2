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
from uwf_core.api.store import Commit
from uwf_core.process import crash_points
from uwf_core.testing.project import Project
from uwf_store_postgres.backend import PostgresBackend, open_postgres
from uwf_testing.store_records import record

DELIVERS = """\
version: 1
name: delivers
roles:
  planner:
    goal: Do it.
    procedure: Do it.
    output: A report.
    frontmatter:
      type: object
      properties: {$status: {const: done}, report: {type: string, format: file}}
      required: [$status, report]
graph:
  $START: {new: {role: planner, prompt: Plan it.}, resume: {role: planner, prompt: More.}}
  planner: {done: {role: $END, prompt: "Done."}}
"""


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


def test_a_step_whose_files_a_crash_forgot_is_recorded_with_them(forgetful, tmp_path, monkeypatch):
    """Delivered files are stored without a wait for the disk; the step refers to them."""
    project = Project(tmp_path)
    project.env["UWF_STORE"] = made(forgetful, lease="60")
    project.workflow("delivers", DELIVERS)
    project.script([{"role": "planner", "output": {**DONE, "report": "report.txt"}}])
    (project.folder / "report.txt").write_text("All is well.")
    crashed: list[str] = []

    def crash_at(name: str) -> None:
        if name == "reply":  # until here all is on the disk
            forgetful.execute("CREATE TABLE IF NOT EXISTS synced ()")
        if name == "record" and not crashed:
            crashed.append(name)
            crash(forgetful)

    monkeypatch.setattr(crash_points, "reach", crash_at)
    with project.client() as uwf:
        thread = uwf.start("delivers", "Task.")["thread"]
        uwf.exec(thread)
        assert crashed and uwf.show(thread)["steps"] == 1
    with project.client() as uwf:
        verified = uwf.verify()
        assert verified["valid"], verified["problems"]


@pytest.mark.parametrize("alone", [False, True], ids=["commit", "transaction"])
def test_what_a_crash_forgot_is_stored_again_before_anything_refers_to_it(forgetful, alone):
    """Also if a read was first to meet the new server, and however it was stored."""
    backend = open_postgres(made(forgetful), "")
    one, two, three = record("one"), record("two"), record("three")
    backend.put(one)
    if alone:
        with backend.transaction(durable=False):
            backend.put(two)
    else:
        backend.commit(Commit([two], [], [], False))
    crash(forgetful)
    assert backend.present([one.ref, two.ref]) == {one.ref}, "the crash forgot it"
    if alone:
        with backend.transaction():
            assert backend.present([two.ref]) == {two.ref}
            backend.put(three)
    else:
        backend.commit(Commit([three], [], [], True))
    crash(forgetful)
    assert backend.present([one.ref, two.ref, three.ref]) == {one.ref, two.ref, three.ref}
    backend.close()
