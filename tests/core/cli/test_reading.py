"""Finding threads, and reading no more of them than is wanted."""

import json
import re
import shlex
import sys
from datetime import UTC, datetime

import pytest
from cli_kit import APPROVED, ASKS, WROTE

REJECTED = {"role": "reviewer", "output": "---\n$status: rejected\nwhy: no\n---\n"}


@pytest.fixture
def three(uwf, project):
    """Threads of `pair`, oldest first: completed, cancelled, idle."""
    project.script([WROTE, APPROVED])
    threads = [uwf("thread", "start", "pair", "-p", "x").document["thread"] for _ in range(3)]
    uwf("thread", "exec", threads[0], "--until-done")
    uwf("thread", "cancel", threads[1])
    return threads


@pytest.fixture
def listed(uwf, three):
    """The places among `three` of the threads that `thread list` gives."""

    def call(*words):
        return [
            three.index(row["thread"]) for row in uwf("thread", "list", *words).document["threads"]
        ]

    return call


LISTS = [
    ((), [2]),
    (("--all",), [2, 1, 0]),
    (("--status", "completed"), [0]),
    (("--status", "active"), [2]),
    (("--status", "active,cancelled"), [2, 1]),
    (("--all", "--status", "idle"), [2]),
    (("--all", "--limit", "1"), [2]),
    (("--all", "--limit", "1", "--offset", "1"), [1]),
    (("--all", "--offset", "2"), [0]),
    (("--limit", "1", "--offset", "1"), []),
    (("--all", "--workflow", "pair"), [2, 1, 0]),
    (("--all", "--workflow", "other"), []),
    (("--after", "1d"), [2]),
    (("--all", "--before", "30m"), []),
    (("--all", "--after", "2020-01-01"), [2, 1, 0]),
]


def test_threads_are_listed_newest_first_by_what_is_asked_for(listed):
    assert [(words, listed(*words)) for words, _ in LISTS] == LISTS


def test_a_moment_is_outside_of_the_time_that_it_bounds(uwf, listed):
    rows = uwf("thread", "list", "--all").document["threads"]
    times = [datetime.fromtimestamp(row["startedAtMs"] / 1000, UTC).isoformat() for row in rows]
    assert listed("--all", "--after", times[1]) == [2]
    assert listed("--all", "--before", times[1]) == [0]
    assert listed("--all", "--after", times[2], "--before", times[0]) == [1]


def test_a_thread_is_named_by_its_beginning_in_any_case_and_documents_say_its_whole_id(uwf, three):
    last = three[-1]
    for word in (last, last.lower(), last[:-1], "@last"):
        assert uwf("thread", "read", word, "--format", "json").document["thread"] == last
        assert uwf("thread", "show", word).document["thread"] == last
    for word in (last[:3], last[:4], "zzzz"):
        answer = uwf("thread", "show", word)
        assert (answer.code, answer.out) == (2, "")


def test_three_characters_are_no_name_of_a_thread_though_there_is_but_one(uwf, project):
    project.script([WROTE])
    thread = uwf("thread", "start", "pair", "-p", "x").document["thread"]
    assert uwf("thread", "show", thread[:3]).code == 2
    assert uwf("thread", "show", thread[:4]).document["thread"] == thread


def test_what_is_left_out_is_counted_and_shown_by_the_command_that_is_named(uwf, project):
    project.script([WROTE, REJECTED, WROTE, APPROVED])
    thread = uwf("run", "pair", "-p", "x").document["thread"]
    numbers = []
    words = ["thread", "read", thread, "--quota", "1"]
    while True:
        text = uwf(*words).out
        numbers += [int(found) for found in re.findall(r"^## Step (\d+)", text, re.MULTILINE)]
        left = re.search(r"\((\d+) earlier steps? (?:is|are) left out: `uwf (.+)`\)", text)
        if left is None:
            break
        assert int(left[1]) == numbers[-1] - 1
        words = [*shlex.split(left[2]), "--quota", "1"]
    assert numbers == [4, 3, 2, 1], "each call shows one step, at least and at most"
    whole = uwf("thread", "read", thread).out
    assert len(re.findall(r"^## Step", whole, re.MULTILINE)) == 4
    assert "left out" not in whole


def test_a_step_document_says_the_whole_id(uwf, three):
    step = uwf("step", "list", three[0]).document["steps"][1]["step"]
    for word in (step.lower(), step[:8]):
        assert uwf("step", "read", word, "--format", "json").document["step"] == step
        assert uwf("step", "show", word).document["step"] == step


def test_exec_where_nothing_is_to_be_run_says_so_and_why(uwf, project, three):
    done = uwf("thread", "exec", three[0])
    assert (done.code, done.document["steps"]) == (0, [])
    assert "is completed; nothing is run" in done.err
    project.script([ASKS])
    uwf("thread", "exec", three[2])
    asked = uwf("thread", "exec", three[2])
    assert (asked.code, asked.document["status"]) == (3, "suspended")
    assert "suspended (role); nothing is run" in asked.err
    assert asked.document["suspendMessage"] == "Which one?"


def test_the_start_of_a_thread_is_listed_and_forked_but_is_no_step(uwf, three):
    start = uwf("step", "list", three[0]).document["steps"][0]
    assert (start["role"], start["number"]) == ("$START", 0)
    for words in (
        ("show", start["step"]),
        ("read", start["step"]),
        ("ask", start["step"], "-p", "x"),
    ):
        answer = uwf("step", *words)
        assert (answer.code, answer.out) == (2, ""), words
    forked = uwf("step", "fork", start["step"]).document["thread"]
    assert uwf("thread", "show", forked).document["currentRole"] == "writer"


def test_waiting_for_what_nobody_runs_is_over_at_once(uwf, three):
    for thread, status in zip(three, ("completed", "cancelled", "idle"), strict=True):
        answer = uwf("thread", "wait", thread)
        assert (answer.code, answer.document["status"]) == (0, status)


def test_what_failed_is_waited_for_with_its_own_code(uwf, project, three):
    project.script([{"role": "writer", "fail": {"kind": "auth", "message": "x"}}])
    ran = uwf("thread", "exec", three[2])
    waited = uwf("thread", "wait", three[2])
    assert (waited.code, waited.document) == (6, ran.document)


def test_a_deleted_thread_is_reported_as_deleted(uwf, three):
    head = uwf("thread", "show", three[0]).document["head"]
    assert uwf("thread", "rm", three[0]).document == {
        "thread": three[0],
        "status": "completed",
        "steps": 2,
        "head": head,
        "worktrees": [],
        "removed": True,
    }
    text = uwf("thread", "rm", three[1], "--format", "text").out
    assert text == f"{three[1]} deleted; `uwf cas gc` frees its nodes\n"


def test_a_verified_bundle_is_called_ok(uwf, three, tmp_path):
    file = str(tmp_path / "thread.tar")
    uwf("thread", "export", three[0], "-o", file)
    assert uwf("bundle", "verify", file, "--format", "text").out.startswith("bundle OK\n")


def test_a_list_for_people_shows_task_reason_and_folder(uwf, project, monkeypatch):
    project.script([ASKS])
    monkeypatch.setenv("COLUMNS", "300")
    uwf("run", "pair", "-p", "Sum the orders up.")
    heading, row = uwf("thread", "list", "--format", "text").out.splitlines()
    assert {"TASK", "REASON", "FOLDER"} <= set(heading.split())
    assert "Sum the orders up." in row
    assert "role: Which one?" in row
    assert str(project.folder) in row


def test_a_configured_command_is_shown_by_its_alias(project):
    agent = project.folder / "agent.py"
    agent.write_text(f"print({json.dumps(json.dumps({'output': WROTE['output']}))})")
    project.config(f"agents: {{quick: {{command: {sys.executable}, args: [{agent}]}}}}\n")
    started = project.uwf("thread", "start", "pair", "-p", "x", "--agent", "quick")
    thread = started.document["thread"]
    ran = project.uwf("thread", "exec", thread, "--format", "text")
    listed = project.uwf("step", "list", thread, "--format", "text")
    read = project.uwf("thread", "read", thread)
    for text in (ran.stderr, ran.stdout, listed.stdout, read.stdout):
        assert "quick" in text
        assert str(agent) not in text
    (_, step) = project.uwf("step", "list", thread).document["steps"]
    assert (step["alias"], step["agent"]) == ("quick", f"{sys.executable} {agent}")
    shown = project.uwf("step", "show", step["step"], "--format", "text").stdout
    assert f"quick: {sys.executable} {agent}" in shown
