"""Workers: what they run, how they end, and that no failure loses or doubles a step."""

import threading
import time
from typing import Any

import chaos
import pytest
from test_dispatch import DONE, TWO, started

from conftest import made_for_workers
from uwf_core.api import AgentReply
from uwf_core.client import Client
from uwf_core.testing.mock import MockAgent
from uwf_core.testing.project import Project
from uwf_worker.engines.engine import Engine
from uwf_worker.engines.memory import MemoryEngine
from uwf_worker.worker import Ended, Worker, WorkerOptions

FAULTS = 8


def script(project: Project, delay_ms: int = 0) -> None:
    """What both roles answer, and after which time."""
    roles = ("planner", "writer")
    replies = [{"role": role, "output": DONE, "delayMs": delay_ms} for role in roles]
    project.script(replies, by_role=True)


@pytest.fixture
def project(tmp_path, workers_url) -> Project:
    made = Project(tmp_path)
    made.env["UWF_STORE"] = workers_url
    made.workflow("two", TWO)
    script(made)
    return made


class Thread:
    """A worker in a thread of this process."""

    def __init__(self, project: Project, engine: Engine | None = None, **options) -> None:
        self.client = project.client()
        self.said: list[str] = []
        labels = options.pop("labels", self.client.queued.own_labels())
        given = WorkerOptions(labels, 2.0, **options)
        self.worker = Worker(self.client, engine or MemoryEngine(), given, self.said.append)
        self.ended: Ended | None = None
        self._thread = threading.Thread(target=self._run)
        self._thread.start()

    def _run(self) -> None:
        self.ended = self.worker.run()

    def join(self) -> Ended:
        self._thread.join(60)
        self.client.close()
        assert self.ended is not None
        return self.ended

    def drain(self) -> Ended:
        self.worker.drain()
        return self.join()


def wait(condition, seconds: float = 60) -> None:
    until = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < until
        time.sleep(0.05)


def is_done(uwf: Client, thread: str) -> bool:
    return uwf.show(thread)["status"] == "completed"


def test_a_worker_runs_what_is_handed_over_and_leaves_nothing_behind(project):
    """Without any queue, by looking into the store."""
    with project.client() as uwf:
        worker = Thread(project)
        threads = [started(uwf, "two") for _ in range(3)]
        wait(lambda: all(is_done(uwf, each) for each in threads))
        [row] = uwf.queued.backend.workers()
        assert (row.state, row.pid, row.id) == ("running", row.pid, worker.worker.id)
        assert worker.drain() == Ended(False, 3, 6)
        assert uwf.queued.backend.workers() == []
        assert uwf.queued.backend.waiting(9) == []


def test_a_worker_starts_anew_after_many_jobs(project):
    with project.client() as uwf:
        for _ in range(3):
            started(uwf, "two")
        assert Thread(project, most_jobs=2).join() == Ended(True, 2, 4)


def test_drain_ends_after_the_step_and_another_worker_goes_on(project, monkeypatch):
    """Workers are asked while the agent of the first step runs."""
    asked: list[int] = []
    run = MockAgent.run

    def run_and_drain(*words: Any) -> AgentReply:
        if not asked:
            asked.append(uwf.queued.backend.drain(None))
            wait(worker.worker._ends.is_set)
        return run(*words)

    monkeypatch.setattr(MockAgent, "run", run_and_drain)
    with project.client() as uwf:
        worker = Thread(project)
        thread = started(uwf, "two")
        assert (worker.join().steps, asked) == (1, [1])
        assert uwf.show(thread)["steps"] == 1
        second = Thread(project)
        wait(lambda: is_done(uwf, thread))
        second.drain()


def test_a_thread_takes_turns_after_its_time(project):
    with project.client() as uwf:
        first, second = started(uwf, "two"), started(uwf, "two")
        worker = Thread(project, job_seconds=0.0)
        wait(lambda: is_done(uwf, first) and is_done(uwf, second))
        worker.drain()


def test_stop_and_cancel_reach_the_worker_through_the_row(project):
    """Nobody sends it a signal, so that this also works from another machine."""
    script(project, 600_000)
    with project.client() as uwf:
        worker = Thread(project)
        first, second = started(uwf, "two"), started(uwf, "two")
        running = [first, second]
        wait(lambda: any(uwf.show(each)["status"] == "running" for each in running))
        now = next(each for each in running if uwf.show(each)["status"] == "running")
        uwf.stop(now)
        assert uwf.show(now)["suspendReason"] == "interrupted"
        other = second if now == first else first
        wait(lambda: uwf.show(other)["status"] == "running")
        uwf.cancel(other)
        assert uwf.show(other)["status"] == "cancelled"
        assert uwf.queued.backend.row(other) is None
        time.sleep(1)
        assert uwf.show(now)["status"] == "suspended", "it rests until a person queues it again"
        worker.drain()


def test_a_program_is_run_only_if_the_worker_allows_its_workflow(project):
    text = TWO.replace("  writer: *any", "  writer: {program: {run: [echo, done]}, <<: *any}")
    assert "program" in text
    with project.client() as uwf:
        labels = uwf.queued.own_labels()
        assert not any(each.startswith("program:") for each in labels)
        project.config("defaultAgent: mock\nworker: {allowPrograms: [ABC], labels: [gpu]}\n")
    with project.client() as uwf:
        assert {"program:ABC", "gpu"} <= {*uwf.queued.own_labels()}


def test_workers_that_are_killed_stopped_and_cut_off_lose_and_double_nothing(server, tmp_path):
    """Eight workers. Each acknowledged step is once in its thread, in order; every thread is
    completed. `chaos.py` is the long form.
    """
    report = chaos.run(
        server,
        made_for_workers(server, lease="2"),
        tmp_path,
        seed=7,
        workers=8,
        faults=FAULTS,
        patience=150,
    )
    assert report.wrong == [], report
    assert report.acknowledged > 0
