"""Schedules in a store of several machines: each time is fired once, by `tick` or by a worker."""

import json
import time

import pytest
from test_dispatch import TWO, work
from test_threads import BOTH

from uwf_core.client import Client, ThreadFilter
from uwf_core.testing.project import Project
from uwf_core.threads.schedules.stored import find_schedule
from uwf_worker import schedules as schedules_module
from uwf_worker.schedules import firing_schedules


@pytest.fixture
def project(tmp_path, workers_url) -> Project:
    made = Project(tmp_path)
    made.env["UWF_STORE"] = workers_url
    made.workflow("two", TWO)
    made.script(BOTH, repeat=True)
    return made


def add(project: Project, name: str, *more: str) -> dict:
    words = ("schedule", "add", name, "0 0 1 1 *", "two", "-p", "The task.", "--queue")
    done = project.uwf(*words, *more)
    assert done.exit_code == 0, done
    return done.document


def make_due(uwf: Client, *names: str, **fields: object) -> None:
    store = uwf._engine.store
    for name in names:
        found = find_schedule(store, name)
        after = {"next_at_ms": int(time.time() * 1000), **fields}
        found.save(store, found.schedule._replace(**after))


def threads_of(uwf: Client, name: str) -> list[str]:
    return [row["thread"] for row in uwf.list(ThreadFilter(all=True, tags={"schedule": name}))]


def fired(uwf: Client) -> list[str]:
    return [each.name for each in uwf.queued.fire_due() if each.thread is not None]


def test_workers_run_the_thread_of_a_schedule_with_queue(project):
    shown = add(project, "nightly")
    assert (shown["queue"], shown["host"] is None) == (True, False)
    with project.client() as uwf:
        make_due(uwf, "nightly")
        assert fired(uwf) == ["nightly"]
        assert uwf.tick()["started"] == []
        assert work(uwf) == threads_of(uwf, "nightly")
        ran = project.uwf("schedule", "run", "nightly").document
        assert work(uwf) == [ran["thread"]]
        assert uwf.show(ran["thread"])["status"] == "completed"


def test_processes_at_once_fire_a_time_once(project):
    names = [f"s{number}" for number in range(3)]
    for name in names:
        add(project, name)
    with project.client() as uwf:
        make_due(uwf, *names)
        ended = [
            each.communicate(timeout=60) for each in [project.start_uwf("tick") for _ in range(3)]
        ]
        documents = [json.loads(out) for out, _ in ended]
        found = [each["schedule"] for document in documents for each in document["fired"]]
        assert sorted(found) == names, ended
        assert [document["problems"] for document in documents] == [[], [], []]
        assert [len(threads_of(uwf, name)) for name in names] == [1, 1, 1]


def test_a_pass_that_is_killed_as_it_fires_leaves_nothing(project):
    add(project, "one")
    with project.client() as uwf:
        make_due(uwf, "one")
        killed = project.uwf("tick", env={"UWF_TEST_CRASH": "start"})
        assert (killed.exit_code, threads_of(uwf, "one")) == (-9, []), killed
        assert fired(uwf) == ["one"]
        assert len(threads_of(uwf, "one")) == 1


def test_a_schedule_of_another_machine_is_left_to_it(project):
    add(project, "there")
    add(project, "anywhere", "--tag", "host=any")
    with project.client() as uwf:
        make_due(uwf, "there", host="moon")
        make_due(uwf, "anywhere")
        assert fired(uwf) == ["anywhere"]
        assert [each["schedule"] for each in uwf.tick()["fired"]] == []


def test_a_worker_fires_while_it_runs(project, server, monkeypatch):
    """Also after a failure of the database; what `tick` runs it leaves alone."""
    monkeypatch.setattr(schedules_module, "SWEEP_SECONDS", 0.1)
    add(project, "one")
    with project.client() as uwf:
        project.uwf("schedule", "add", "of-tick", "0 0 1 1 *", "two", "-p", "The task.")
        said: list[str] = []
        with firing_schedules(project.client, said.append):
            server.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
                "WHERE pid <> pg_backend_pid()"
            )
            time.sleep(0.3)
            make_due(uwf, "one", "of-tick")
            until = time.monotonic() + 60
            while not threads_of(uwf, "one"):
                assert time.monotonic() < until, said
                time.sleep(0.1)
            time.sleep(0.3)
        assert said[-1] == f"schedule one: thread {threads_of(uwf, 'one')[0]}"
        assert threads_of(uwf, "of-tick") == []


def test_a_worker_wakes_at_the_deadline_of_a_question(project, monkeypatch):
    """Nobody calls a command: the question expires, and a worker runs the role that follows."""
    monkeypatch.setattr(schedules_module, "SWEEP_SECONDS", 0.1)
    late = "  writer: {<<: *any, human: true, within: 2s, expired: {role: planner, prompt: Late.}}"
    project.workflow("asks", TWO.replace("  writer: *any", late).replace("two", "asks"))
    project.script([BOTH[0]], repeat=True)
    with project.client() as uwf:
        thread = uwf.run("asks", "The task.", queue=True).document["thread"]
        assert work(uwf) == [thread]
        assert uwf.show(thread)["suspendReason"] == "role"
        assert work(uwf) == []
        with firing_schedules(project.client, print):
            until = time.monotonic() + 60
            while uwf.show(thread)["suspendReason"] == "role":
                assert time.monotonic() < until
                time.sleep(0.1)
        assert work(uwf) == [thread]
        assert [each["role"] for each in uwf.steps(thread)][-1] == "planner"
