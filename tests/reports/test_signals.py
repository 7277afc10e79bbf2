"""Commands that are told to end: they end within 2 s whatever they do, and nothing is damaged.

Source: uwf attacked on purpose; kind `signals x phases`.
"""

import contextlib
import os
import shutil
import signal
import sqlite3
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.crash.rig import wait_until_it_hears

from uwf_core.testing.project import Project

SMALL = """
version: 1
name: small
roles:
  a: {goal: g, frontmatter: {properties: {$status: {const: done}}, required: [$status]}}
graph:
  $START: {new: {role: a, prompt: W}, resume: {role: a, prompt: W}}
  a: {done: {role: $END, prompt: E}}
"""
COUNT = 4_000
ROLE = "  r{}: {{goal: g, frontmatter: {{properties: {{$status: {{const: done}}}}}}}}\n"
LARGE = "".join(
    [
        "version: 1\nname: large\nroles:\n",
        *(ROLE.format(each) for each in range(COUNT)),
        "graph:\n  $START: {new: {role: r0, prompt: W}, resume: {role: r0, prompt: W}}\n",
        *(f"  r{at}: {{done: {{role: r{at + 1}, prompt: E}}}}\n" for at in range(COUNT)),
    ]
)
"""A file that takes seconds to read and to check."""
SIGNALS = [signal.SIGTERM, signal.SIGINT]


@pytest.fixture
def project(tmp_path: Path) -> Project:
    made = Project(tmp_path)
    (made.folder / "small.yaml").write_text(SMALL)
    (made.folder / "large.yaml").write_text(LARGE)
    made.script([{"role": "a", "output": {"$status": "done"}}], repeat=True)
    assert made.uwf("workflow", "add", "small.yaml").exit_code == 0
    return made


@contextlib.contextmanager
def held(project: Project) -> Iterator[None]:
    """The store while another process writes."""
    with contextlib.closing(sqlite3.connect(project.home / "store.db", isolation_level=None)) as it:
        it.execute("BEGIN IMMEDIATE")
        yield
        it.execute("ROLLBACK")


def ended_by(project: Project, number: signal.Signals, *words: str) -> float:
    """The seconds that a command takes to end after a signal, which comes once it works."""
    running = project.start_uwf(*words)
    wait_until_it_hears(running.pid, signal.SIGTERM)
    time.sleep(1.0)
    assert running.poll() is None, running.communicate()
    begin = time.monotonic()
    running.send_signal(number)
    running.communicate(timeout=30)
    assert running.returncode == 130
    return time.monotonic() - begin


@pytest.mark.parametrize("number", SIGNALS)
@pytest.mark.parametrize(
    "words",
    ["workflow check large.yaml", "workflow add large.yaml", "run ./large.yaml -p x"],
)
def test_a_command_that_reads_ends(project, number, words):
    assert ended_by(project, number, *words.split()) < 4


@pytest.mark.parametrize("number", SIGNALS)
@pytest.mark.parametrize("words", ["thread exec {}", "run small -p x", "thread cancel {}"])
def test_a_command_that_waits_for_the_store_ends(project, number, words):
    """SQLite waited for a minute, in which no signal was handled."""
    thread = project.uwf("thread", "start", "small", "-p", "x").document["thread"]
    with held(project):
        assert ended_by(project, number, *words.format(thread).split()) < 4
    done = project.uwf("thread", "exec", thread)
    assert done.document["status"] == "completed", done.stderr


def test_a_command_waits_for_another_that_writes_to_the_store(project):
    with held(project):
        running = project.start_uwf("thread", "start", "small", "-p", "x")
        time.sleep(1.5)
        assert running.poll() is None
    assert running.wait(30) == 0
    running.communicate()


@pytest.mark.parametrize("number", SIGNALS)
def test_a_command_that_waits_for_another_snapshot_ends(project, number):
    """A collection holds the lock of the recorded files; its git hangs."""
    import fcntl

    (project.folder / "small.yaml").write_text(SMALL + "record: true\n")
    assert project.uwf("workflow", "add", "small.yaml").exit_code == 0
    assert shutil.which("git")
    first = project.uwf("run", "small", "-p", "x")
    assert first.exit_code == 0, first.stderr
    lock = os.open(project.home / "files.git" / "uwf.lock", os.O_RDWR)
    fcntl.flock(lock, fcntl.LOCK_EX)
    try:
        thread = project.uwf("thread", "start", "small", "-p", "x").document["thread"]
        running = project.start_uwf("thread", "exec", thread)
        wait_until_it_hears(running.pid, signal.SIGTERM)
        time.sleep(1.0)
        assert running.poll() is None
        begin = time.monotonic()
        running.send_signal(number)
        running.communicate(timeout=30)
        assert time.monotonic() - begin < 4
    finally:
        os.close(lock)
    done = project.uwf("thread", "exec", thread, "--until-done")
    assert done.document["status"] == "completed", done.stderr
