"""Threads that workers run: what the store keeps of them, from `--queue` until they have ended."""

from typing import Any

import pytest

from uwf_core.client import Cancel, Client, ThreadFilter
from uwf_core.engine import attempt, children
from uwf_core.engine.retry import UNWATCHED
from uwf_core.errors import LeaseLostError, PayloadError, UsageError
from uwf_core.testing.project import Project
from uwf_core.thread.names import lock_name
from uwf_store_postgres.backend import open_postgres
from uwf_testing.store_records import holder

DONE = {"$status": "done"}
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
ASKS = TWO.replace("  writer: *any", "  writer: {<<: *any, human: true}").replace("two", "asks")
CALLS = """\
version: 1
name: calls
roles:
  planner:
    goal: Do it.
    procedure: Do it.
    output: A status.
    frontmatter: {type: object, properties: {$status: {const: done}}, required: [$status]}
  part: {workflow: two}
graph:
  $START: {new: {role: planner, prompt: Plan it.}, resume: {role: planner, prompt: More.}}
  planner:
    done:
      parallel:
        one: {role: part, prompt: First.}
        two: {role: part, prompt: Second.}
        three: {role: part, prompt: Third.}
      maxParallel: 2
      then:
        done: {role: $END, prompt: "Done."}
        $mixed: {role: $END, prompt: "Done."}
"""


@pytest.fixture
def project(tmp_path, url) -> Project:
    made = Project(tmp_path)
    made.env["UWF_STORE"] = url
    made.workflow("two", TWO)
    made.workflow("asks", ASKS)
    made.workflow("calls", CALLS)
    replies = [{"role": "planner", "output": DONE}, {"role": "writer", "output": DONE}]
    made.script(replies, repeat=True)
    return made


def started(uwf: Client, workflow: str) -> str:
    return uwf.start(workflow, "Task.", queue=True)["thread"]


def work(uwf: Client, labels: list[str] | None = None, most: int = 50) -> list[str]:
    """Run whatever may be run, one thread after the other; the threads."""
    queued, found = uwf.queued, []
    labels = queued.own_labels() if labels is None else labels
    while len(found) < most:
        claim = queued.backend.claim("w", labels, queued.limits)
        if claim is None:
            break
        found.append(claim.thread)
        queued.settle(claim, queued.run(claim, labels, Cancel(), lambda: True))
    return found


def test_a_queued_thread_is_run_by_a_worker_and_its_row_goes(project):
    with project.client() as uwf:
        thread = started(uwf, "two")
        assert uwf.show(thread)["steps"] == 0
        assert work(uwf) == [thread]
        assert uwf.show(thread)["status"] == "completed"
        assert uwf.queued.backend.row(thread) is None


def test_a_thread_moves_to_the_worker_that_has_the_agent_of_its_next_role(project):
    project.config(
        "defaultAgent: mock\nagents: {big: {use: mock}}\nagentOverrides: {two: {writer: human}}\n"
    )
    with project.client() as uwf:
        thread, host = started(uwf, "two"), uwf.queued.own_labels()[0]
        assert work(uwf, [host, "agent:mock"]) == [thread]
        assert uwf.show(thread)["steps"] == 1
        assert work(uwf, [host, "agent:mock"]) == []
        [waiting] = uwf.queued.backend.waiting(10)
        assert "agent:human" in waiting.needs
        assert not waiting.can_run


def test_a_call_wants_its_branches_and_the_last_one_wants_the_caller(project):
    """The caller rests while its branches run, at most two at a time, each as a job of its own."""
    with project.client() as uwf:
        thread = started(uwf, "calls")
        labels, queued = uwf.queued.own_labels(), uwf.queued
        claim = queued.backend.claim("w", labels, {})
        queued.settle(claim, queued.run(claim, labels, Cancel(), lambda: True))
        assert uwf.show(thread)["steps"] == 1, "the branches have begun and nobody runs them"
        taken = [queued.backend.claim(f"w{number}", labels, {}) for number in range(4)]
        assert sum(each is not None for each in taken) == 2
        for each in filter(None, taken):
            assert each.thread != thread
            queued.backend.release(each)
        ran = work(uwf)
        assert ran[-1] == thread, ran
        assert len(ran) == len({*ran}) == 4, (thread, ran)
        assert uwf.show(thread)["status"] == "completed"
        assert not uwf.queued.backend.waiting(10)


def test_whoever_moves_a_queued_thread_wants_it(project):
    """A person who answers on another machine, without --queue, leaves the rest to workers."""
    with project.client() as uwf:
        thread = started(uwf, "asks")
        assert work(uwf) == [thread]
        assert uwf.show(thread)["suspendReason"] == "role"
        assert work(uwf) == []
        uwf.resume(thread, answer=DONE, queue=True)
        assert work(uwf) == [thread]
        assert uwf.show(thread)["status"] == "completed"
        step = uwf.steps(thread)[-1]
        assert step["role"] == "writer"


def test_a_wrong_answer_is_refused_before_it_is_queued(project):
    with project.client() as uwf:
        thread = started(uwf, "asks")
        work(uwf)
        before = uwf.queued.backend.row(thread)
        with pytest.raises(PayloadError):
            uwf.resume(thread, answer={"$status": "maybe"}, queue=True)
        assert uwf.queued.backend.row(thread) == before


def test_queue_on_the_command_line(project):
    done = project.uwf("run", "two", "-p", "Task.", "--queue")
    assert done.exit_code == 0, done
    thread = done.document["thread"]
    refused = project.uwf("thread", "exec", thread, "--queue", "--agent", "mock")
    assert "--queue and --agent" in refused.error["message"]
    with project.client() as uwf:
        assert work(uwf) == [thread]


def test_stop_keeps_workers_away_until_it_is_queued_again(project):
    with project.client() as uwf:
        thread = started(uwf, "two")
        uwf.stop(thread)
        assert work(uwf) == []
        uwf.exec(thread, queue=True)
        assert work(uwf) == [thread]


@pytest.mark.parametrize(("kind", "tries"), [("crashed", 5), ("refused", 1)])
def test_only_transient_failures_are_repeated_and_not_forever(project, kind, tries, monkeypatch):
    """The pause between tries grows; what still fails after five waits for a person."""
    at_once = UNWATCHED._replace(interval=1e-4, backoff=1)
    monkeypatch.setattr("uwf_core.engine.retry.UNWATCHED", at_once)
    project.script([{"role": "planner", "fail": {"kind": kind, "message": "no"}}], repeat=True)
    with project.client() as uwf:
        thread = started(uwf, "two")
        assert set(work(uwf)) == {thread}
        assert len(uwf.thread(thread).pending) == tries
        assert uwf.show(thread)["suspendReason"] == "failure"
        uwf.exec(thread, queue=True)
        assert work(uwf) == [thread], "a person asks for one more"


def test_a_store_without_rows_says_so(tmp_path):
    project = Project(tmp_path)
    project.workflow("two", TWO)
    with project.client() as uwf:
        with pytest.raises(UsageError) as caught:
            started(uwf, "two")
        assert "PostgreSQL" in (caught.value.hint or "")
        assert list(uwf.list()) == []


def test_a_worker_runs_no_agent_that_its_owner_has_not_configured(project, server, url):
    """The store can name any command, and its rows can be forged by those who write to it."""
    mark = project.folder / "mark"
    with project.client() as uwf:
        thread = uwf.start("two", "Task.", agent=f"touch {mark}", queue=True)["thread"]
        assert work(uwf) == []
        schema = url.partition("schema=")[2]
        server.execute(f"UPDATE {schema}.dispatch SET needs = '{{}}'")
        assert work(uwf) == [thread]
        assert not mark.exists()
        assert uwf.show(thread)["steps"] == 0


def test_an_agent_that_only_an_earlier_attempt_names_is_not_run(project):
    """Such an attempt is a node, which others can have written."""
    mark = project.folder / "mark"
    with project.client() as uwf:
        thread = uwf.start("two", "Task.")["thread"]
        project.script([{"role": "planner", "fail": {"kind": "refused", "message": "no"}}])
        uwf.exec(thread)
        engine = uwf._engine
        engine.worker_labels = {"agent:human"}
        outcome = None
        with pytest.raises(UsageError, match="does not run agent:mock"):
            outcome = uwf.exec(thread)
        assert outcome is None and not mark.exists()


@pytest.mark.parametrize("stage", ["begin_calls", "record_children"])
def test_a_worker_that_has_lost_its_thread_begins_no_branches_and_joins_none(
    project, server, url, monkeypatch, stage
):
    """It was stopped for longer than its lease: another process has the thread, and has read it."""
    late = getattr(children, stage)
    schema = url.partition("schema=")[2]
    taken: list[object] = []

    def call_late(run: Any, *words: Any) -> Any:
        if not taken:
            name = lock_name(run.head.thread)
            server.execute(
                f"UPDATE {schema}.lease SET expires = now() - interval '1 s' WHERE name = '{name}'"
            )
            taken.append(other.lock(name, holder(9)))
        return late(run, *words)

    monkeypatch.setattr(children, stage, call_late)
    other = open_postgres(url, "")
    with project.client() as uwf:
        thread = started(uwf, "calls")
        work(uwf)
        assert taken and taken[0] is not None
        assert uwf.show(thread)["steps"] == 1
        called = [each for each in uwf.list(ThreadFilter(all=True, children=True))
                  if each["parent"] == thread]  # fmt: skip
        assert len(called) == (0 if stage == "begin_calls" else 3)
        monkeypatch.undo()
        taken[0].release()
        uwf.exec(thread, count=100)
        assert uwf.show(thread)["status"] == "completed"
        assert uwf.verify()["problems"] == []
    other.close()


@pytest.mark.parametrize("limits", [None, {"maxSteps": 5}], ids=["commit", "transaction"])
def test_a_lease_that_is_lost_while_an_attempt_opens_leaves_no_attempt(
    project, server, url, monkeypatch, limits
):
    schema, other = url.partition("schema=")[2], open_postgres(url, "")
    asked_for, taken = attempt._asked_for, []

    def lose(engine: Any, opening: Any) -> Any:
        name = lock_name(opening.head.thread)
        server.execute(
            f"UPDATE {schema}.lease SET expires = now() - interval '1 s' WHERE name = '{name}'"
        )
        taken.append(other.lock(name, holder(9)))
        return asked_for(engine, opening)

    with project.client() as uwf:
        thread = uwf.start("two", "Task.", limits=limits)["thread"]
        monkeypatch.setattr(attempt, "_asked_for", lose)
        with pytest.raises(LeaseLostError):
            uwf.exec(thread)
        monkeypatch.setattr(attempt, "_asked_for", asked_for)
        taken[0].release()
        assert uwf.verify()["problems"] == []
        uwf.exec(thread, until_done=True)
        assert uwf.show(thread)["status"] == "completed"
        assert uwf.verify()["problems"] == []
    other.close()
