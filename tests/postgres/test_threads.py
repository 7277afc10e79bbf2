"""Threads in PostgreSQL: what people see, and what happens to a run that lost its thread."""

import os
import signal
import threading
import time
from contextlib import suppress
from typing import Any

import pytest

from uwf_core.api import AgentReply
from uwf_core.client import Client
from uwf_core.errors import BusyError, LeaseLostError, StoreError
from uwf_core.testing.mock import MockAgent
from uwf_core.testing.project import Project

TWO = """\
version: 1
name: two
roles:
  planner: &any
    goal: Do it.
    procedure: Do it.
    output: A status.
    frontmatter: {type: object, properties: {$status: {const: done}}, required: [$status]}
  writer: *any
graph:
  $START: {new: {role: planner, prompt: Plan it.}, resume: {role: planner, prompt: More.}}
  planner: {done: {role: writer, prompt: "Write it."}}
  writer: {done: {role: $END, prompt: "Done."}}
"""
DONE = {"$status": "done"}
BOTH = [{"role": "planner", "output": DONE}, {"role": "writer", "output": DONE}]


@pytest.fixture
def project(tmp_path, url) -> Project:
    made = Project(tmp_path)
    made.env["UWF_STORE"] = url
    made.workflow("two", TWO)
    made.script(BOTH)
    return made


def test_a_thread_runs_and_every_reader_sees_it(project):
    """Another process, with another home, sees the same as the one that ran the thread."""
    run = project.uwf("run", "two", "-p", "The task.")
    assert run.document["status"] == "completed", run
    thread = run.document["thread"]
    with project.client() as uwf:
        shown = uwf.show(thread)
        assert (shown["status"], shown["steps"]) == ("completed", 2)
    for words in (
        ("thread", "read", thread),
        ("thread", "list", "--all"),
        ("step", "list", thread),
        ("usage", thread),
        ("inbox",),
        ("watch", thread),
        ("log", "list"),
    ):
        done = project.uwf(*words)
        assert done.exit_code == 0, done
    verified = project.uwf("cas", "verify").document
    assert verified["valid"], verified["problems"]
    assert project.uwf("cas", "gc", "--grace", "0s").document["freed"] == 0, "all of it is young"
    exported = project.uwf("thread", "export", thread, "-o", "thread.tar")
    assert project.uwf("bundle", "verify", "thread.tar").exit_code == 0, exported


def test_of_two_clients_one_runs_the_thread_and_no_step_is_doubled(project):
    """Both run the same threads at once: each step occurs once, and nobody waits forever."""
    project.script(BOTH, repeat=True)
    with project.client() as first, project.client() as second:
        threads = [first.start("two", f"Task {n}.")["thread"] for n in range(4)]

        def run(uwf: Client) -> None:
            for thread in threads:
                with suppress(BusyError):
                    uwf.exec(thread, count=2)

        both = [threading.Thread(target=run, args=(uwf,)) for uwf in (first, second)]
        for each in both:
            each.start()
        for each in both:
            each.join(60)
        for thread in threads:
            with suppress(BusyError):
                first.exec(thread, until_done=True)
            assert first.show(thread)["status"] == "completed"
            assert [step["number"] for step in first.steps(thread)] == [0, 1, 2]


def test_a_run_that_lost_its_thread_is_refused_and_its_use_counts(
    project, server, url, monkeypatch
):
    """While its agent works, another process takes the thread: the step is refused (75), kept
    beside the thread, and what it used is in the ledger. The thread continues where it was.
    """
    schema = url.partition("schema=")[2].partition("&")[0]
    project.script([{"role": "planner", "output": DONE, "usage": {"costUsd": 0.5}}])
    run = MockAgent.run

    def run_without_the_lease(*words: Any) -> AgentReply:
        reply = run(*words)
        server.execute(f"UPDATE {schema}.lease SET token = 1, owner_host = 'moon'")
        return reply

    monkeypatch.setattr(MockAgent, "run", run_without_the_lease)
    with project.client() as uwf:
        thread = uwf.start("two", "The task.")["thread"]
        with pytest.raises(LeaseLostError):
            uwf.exec(thread)
        monkeypatch.undo()
        server.execute(f"DELETE FROM {schema}.lease")
    with project.client() as uwf:
        assert uwf.show(thread)["steps"] == 0
        project.script(BOTH, repeat=True)
        assert uwf.exec(thread, until_done=True).document["status"] == "completed"
        # Of the refused attempt, or, if it was reported in time, of the one that was ended for it.
        usage = uwf.usage(thread)
        assert usage["total"]["usage"]["costUsd"] == pytest.approx(0.5)
    verified = project.uwf("cas", "verify").document
    assert verified["valid"], verified["problems"]


def test_a_killed_run_is_continued_at_once_on_the_same_machine(project, another_url):
    """kill -9 of a run frees its thread long before its lease ends: its process is known to be
    dead.
    """
    project.env["UWF_STORE"] = another_url(lease="600")
    project.script([{"role": "planner", "output": DONE, "delayMs": 60000}])
    thread = project.uwf("thread", "start", "two", "-p", "Task.").document["thread"]
    child = project.start_uwf("thread", "exec", thread)
    _wait(lambda: project.uwf("thread", "show", thread).document["status"] == "running")
    os.kill(child.pid, signal.SIGKILL)
    child.communicate()
    project.script(BOTH, repeat=True)
    done = project.uwf("thread", "exec", thread, "--until-done")
    assert done.document["status"] == "completed", done


def _wait(condition) -> None:
    until = time.monotonic() + 120
    while not condition():
        assert time.monotonic() < until
        time.sleep(0.2)


def test_without_tables_the_error_names_the_command(project, server):
    project.env["UWF_STORE"] = server.url(schema="nothing")
    done = project.uwf("thread", "list")
    assert done.exit_code == StoreError.exit_code
    assert "uwf store migrate" in done.error["hint"]
