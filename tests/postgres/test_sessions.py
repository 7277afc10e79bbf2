"""Sessions of agents stay on the machine that made them: threads wait for it, and then move."""

import os
from types import SimpleNamespace
from typing import Any

import pytest
from test_dispatch import DONE, work
from tests.step_parts import session_of

from uwf_core.client import Client
from uwf_core.process import crash_points
from uwf_core.testing.project import Project

HERE = os.uname().nodename
AGAIN = """\
version: 1
name: again
roles:
  planner:
    goal: Do it.
    procedure: Do it.
    output: A status.
    frontmatter:
      oneOf:
        - {type: object, properties: {$status: {const: more}}, required: [$status]}
        - {type: object, properties: {$status: {const: done}}, required: [$status]}
  reviewer:
    goal: Ask.
    procedure: Ask.
    output: A status.
    human: true
    frontmatter: {type: object, properties: {$status: {const: done}}, required: [$status]}
graph:
  $START: {new: {role: planner, prompt: Plan it.}, resume: {role: planner, prompt: More.}}
  planner: {more: {role: reviewer, prompt: "Look."}, done: {role: $END, prompt: "Done."}}
  reviewer: {done: {role: planner, prompt: "Again."}}
"""


@pytest.fixture
def project(tmp_path, url) -> Project:
    made = Project(tmp_path)
    made.env["UWF_STORE"] = url
    made.workflow("again", AGAIN)
    made.script([{"role": "planner", "output": {"$status": word}} for word in ("more", "done")],
                by_role=True)  # fmt: skip
    return made


@pytest.fixture
def moved(monkeypatch):
    """Let this process be on another machine from now on."""

    def move(name: str) -> None:
        given = SimpleNamespace(nodename=name)
        monkeypatch.setattr("uwf_core.process.identity.os.uname", lambda: given)

    yield move
    monkeypatch.undo()


def begun(uwf: Client, **tags: str) -> str:
    """A thread whose planner has a session on this machine, and whose reviewer waits."""
    thread: str = uwf.start("again", "Task.", queue=True, tags=tags)["thread"]
    assert work(uwf) == [thread]
    return thread


def answered(uwf: Client, thread: str) -> list[str]:
    """What a worker of this machine runs after the reviewer has answered."""
    uwf.resume(thread, answer=DONE, queue=True)
    return work(uwf)


def labels(uwf: Client) -> list[str]:
    """The labels of a worker on this machine."""
    return uwf.queued.own_labels()


def waits_for(uwf: Client, thread: str) -> tuple[list[str], bool]:
    """The machines that a thread waits for, and whether it moves later."""
    [row] = [each for each, _ in uwf.queued.waiting(9) if each.thread == thread]
    return [each for each in row.needs if each.startswith("host:")], row.moves_at_ms > 0


def let_move(server: Any, uwf: Client) -> None:
    """Let the time pass for which threads wait, and a worker sweep."""
    schema = uwf.queued.store_url.partition("schema=")[2]
    server.execute(f"UPDATE {schema}.dispatch SET moves_at = 1 WHERE moves_at > 0")
    uwf.queued.backend.due(labels(uwf), {}, 8, 0)


def test_a_thread_waits_for_the_machine_of_its_session_and_then_runs_anywhere(
    project, server, moved, tmp_path
):
    """There it begins a new session, with the whole history; the step says that one was lost."""
    with project.client() as uwf:
        thread = begun(uwf, host="any")
    moved("moon")
    with project.client() as uwf:
        assert answered(uwf, thread) == [thread]
        assert uwf.show(thread)["steps"] == 2, "the answer, which needs no session"
        assert waits_for(uwf, thread) == ([f"host:{HERE}"], True)
        status = project.uwf("worker", "status", "--format", "text").stdout
        assert f"host:{HERE}; on any machine from" in status
        assert list(uwf.inbox()) == [], "no worker is missing"
    project.config("defaultAgent: mock\nworker: {sessionWait: 0}\n")  # it was long enough
    notes: list[str] = []
    with Client.open(
        home=project.home, cwd=str(project.folder), env=project.env, on_notice=notes.append
    ) as uwf:
        assert work(uwf) == [], "no worker has looked at the time yet"
        let_move(server, uwf)
        assert waits_for(uwf, thread) == ([], False)
        assert work(uwf) == [thread]
        assert uwf.show(thread)["status"] == "completed"
        step = uwf.nodes.get(uwf.steps(thread)[-1]["step"])
        assert (session_of(step)["continuation"], step["attempt"]["ownSession"]) == (
            "restarted",
            False,
        )
        assert "This is a new session: your earlier replies are below." in uwf.nodes.get(
            step["attempt"]["prompt"]
        )
    assert any(
        each.startswith(f"session_lost: the session of role planner is on {HERE}") for each in notes
    ), notes
    verified = project.uwf("cas", "verify").document
    assert verified["valid"], verified["problems"]


def test_the_machine_of_the_session_continues_it(project):
    with project.client() as uwf:
        thread = begun(uwf, host="any")
        assert answered(uwf, thread) == [thread]
        step = uwf.nodes.get(uwf.steps(thread)[-1]["step"])
        assert (session_of(step)["continuation"], step["attempt"]["ownSession"]) == (
            "continued",
            True,
        )


def test_a_thread_whose_folder_is_on_one_machine_never_moves(project, server):
    with project.client() as uwf:
        thread = begun(uwf)
        uwf.resume(thread, answer=DONE, queue=True)
        assert waits_for(uwf, thread) == ([f"host:{HERE}"], False)
        let_move(server, uwf)
        assert waits_for(uwf, thread) == ([f"host:{HERE}"], False)


def test_without_a_wait_a_thread_moves_at_once(project, moved):
    project.config("defaultAgent: mock\nworker: {sessionWait: 0}\n")
    with project.client() as uwf:
        thread = begun(uwf, host="any")
        moved("moon")
        assert answered(uwf, thread) == [thread]
        assert uwf.show(thread)["status"] == "completed"


def test_a_session_is_on_the_machine_that_has_made_it(project, moved):
    """There a thread that was started elsewhere continues."""
    with project.client() as uwf:
        thread = uwf.start("again", "Task.", queue=True, tags={"host": "any"})["thread"]
        moved("moon")
        assert work(uwf) == [thread]
        moved(HERE)
        assert answered(uwf, thread) == [thread]
        assert waits_for(uwf, thread) == (["host:moon"], True)


class Killed(BaseException):
    """The process ends at this point."""


def test_a_session_is_where_its_attempt_ran_whoever_records_its_end(project, moved, monkeypatch):
    """A worker dies before it records a step; one of another machine finds the attempt open."""
    reach = crash_points.reach

    def killed(place: str) -> None:
        if place == "reply":
            raise Killed

    with project.client() as uwf:
        thread = uwf.start("again", "Task.", queue=True, tags={"host": "any"})["thread"]
        moved("moon")
        monkeypatch.setattr("uwf_core.engine.progress.FLUSH_SECONDS", 0)
        monkeypatch.setattr(crash_points, "reach", killed)
        with pytest.raises(Killed):
            work(uwf)
        monkeypatch.setattr(crash_points, "reach", reach)
        moved(HERE)
        uwf.queued.backend.leave("w")
        assert work(uwf) == [thread]
        assert uwf.show(thread)["steps"] == 0, "the interrupted attempt is recorded"
        assert waits_for(uwf, thread) == (["host:moon"], True)
