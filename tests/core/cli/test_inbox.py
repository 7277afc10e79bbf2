"""What waits for a person: `uwf inbox`, and questions that are asked on the terminal."""

import json
import os
import subprocess
import sys
import time

import pytest
from cli_kit import APPROVED, ASKS, WROTE, check_golden, on_terminal

from uwf_core.client import Client

FAILS = {"role": "writer", "fail": {"kind": "auth", "message": "the key was refused"}}
PERSON = ("--agent", "human")


def items(uwf):
    return uwf("inbox").document["items"]


@pytest.fixture
def asked(uwf):
    """A thread whose writer, a person, is asked for a summary."""
    done = uwf("run", "pair", "-p", "Write it.\nAll of it.", "--agent", "writer=human")
    assert done.code == 3, done.err
    return done.document["thread"]


def test_it_has_each_thread_that_waits_with_its_reason_and_commands(uwf, project, asked):
    project.script([ASKS])
    yielded = uwf("run", "pair", "-p", "y").document["thread"]
    project.script([FAILS])
    failed = uwf("run", "pair", "-p", "z").document["thread"]
    uwf("thread", "start", "pair", "-p", "idle")
    found = items(uwf)
    assert [each["thread"] for each in found] == [asked, yielded, failed]
    assert [each["kind"] for each in found] == ["question", "message", "failure"]
    question, message, failure = found
    assert (question["task"], question["role"], question["message"]) == (
        "Write it.", "writer", "Begin.",
    )  # fmt: skip
    assert question["form"]["properties"]["summary"] == {"type": "string"}
    assert question["commands"] == [
        f"uwf thread resume {asked} --until-done --status done --answer summary=<text>"
    ]
    assert message["form"] is None and message["message"] == "Which one?"
    assert (failure["failure"], failure["message"]) == ("auth", "the key was refused")
    assert failure["commands"] == [f"uwf thread exec {failed} --until-done"]


def test_a_thread_that_was_killed_in_its_next_attempt_waits_for_that(uwf, project):
    """Not for what it waited for before, which was answered or run again."""
    project.script([FAILS])
    failed = uwf("run", "pair", "-p", "z").document["thread"]
    project.script([WROTE])
    words = [sys.executable, "-m", "uwf_core", "thread", "exec", failed]
    killed = {**os.environ, **project.env, "UWF_TEST_CRASH": "reply:1"}
    subprocess.run(words, env=killed, cwd=project.folder, capture_output=True, check=False)
    (item,) = items(uwf)
    assert (item["thread"], item["kind"], item["failure"]) == (failed, "interrupted", None)
    assert item["commands"] == [f"uwf thread exec {failed} --until-done"]


def test_a_program_reads_what_waits_in_one_thread(project, asked):
    with Client.open() as opened:
        other = opened.start("pair", "Another one.")["thread"]
        assert [each["thread"] for each in opened.inbox(asked)] == [asked]
        assert list(opened.inbox(other)) == []


def test_one_command_approves(uwf, asked):
    (item,) = items(uwf)
    words = item["commands"][0].replace("<text>", "it").split()[1:]
    assert uwf(*words).document["status"] == "completed"
    assert items(uwf) == []
    assert uwf("inbox", "--format", "text").out == "nothing waits for you\n"


@pytest.mark.parametrize("columns", [60, 100])
def test_its_screen(uwf, project, asked, columns):
    project.script([FAILS])
    uwf("run", "pair", "-p", "A task that takes more than sixty columns of a narrow terminal")
    shown = on_terminal(project, ["inbox"], columns=columns)
    text = shown.plain.rstrip("\n")
    for each in items(uwf):
        text = text.replace(each["thread"], "THREAD" + each["kind"].upper()[:1].rjust(20, "0"))
    assert shown.code == 0
    check_golden(f"inbox-{columns}.txt", text)


# -- answered on the terminal ----------------------------------------------------------------------


def test_a_run_asks_right_there_and_continues(project):
    shown = on_terminal(
        project, ["run", "pair", "-p", "x", "--agent", "writer=human"], typed="1\nit\n"
    )
    assert shown.code == 0, shown.plain
    assert "writer asks in thread" in shown.plain
    assert "\\x1b" not in shown.plain, "a colour is shown, not escaped"
    assert shown.plain.count("Begin.") == 1
    with project.client() as uwf:
        (row,) = uwf.list()
        assert row["status"] == "completed"
        first = uwf.step(uwf.steps(row["thread"])[1]["step"])
        assert first["output"] == {"$status": "done", "summary": "it"}
        assert (
            set(first["attempt"]["by"]) == {"user", "host", "via"}
            and first["attempt"]["by"]["via"] == "cli"
        )


@pytest.mark.parametrize("typed", ["\n", "\x04", "\x03", "1\n\n", "1\n\x03"])
def test_an_empty_line_or_ctrl_c_leaves_the_question_pending(project, typed):
    shown = on_terminal(project, ["run", "pair", "-p", "x", "--agent", "writer=human"], typed=typed)
    assert shown.code == 3, shown.plain
    assert shown.plain.count("Begin.") == 1
    assert "--status done --answer summary=<text>" in shown.plain
    with project.client() as uwf:
        assert [each["kind"] for each in uwf.inbox()] == ["question"]


def test_no_input_asks_nothing(project):
    words = ["run", "pair", "-p", "x", "--agent", "writer=human", "--no-input"]
    shown = on_terminal(project, words)
    assert shown.code == 3
    assert "asks in thread" not in shown.plain


def test_a_text_answers_a_role_that_yielded_and_the_editor_writes_it(project, tmp_path):
    project.script([ASKS, WROTE, APPROVED])
    editor = tmp_path / "editor"
    editor.write_text('#!/bin/sh\nprintf "The second one.\\nReally." > "$1"\n')
    editor.chmod(0o755)
    shown = on_terminal(
        project, ["run", "pair", "-p", "x"], typed="e\n", env={"EDITOR": str(editor)}
    )
    assert shown.code == 0, shown.plain
    with project.client() as uwf:
        step = uwf.step(uwf.steps(uwf.list()[0]["thread"])[2]["step"])
        assert step["attempt"]["said"] == "The second one.\nReally."


def test_a_wrong_value_is_reported_and_asked_for_again(project):
    workflow = (project.folder / ".workflow" / "pair.yaml").read_text()
    limited = workflow.replace("summary: {type: string}", "summary: {type: string, minLength: 3}")
    project.workflow("pair", limited)
    shown = on_terminal(
        project, ["run", "pair", "-p", "x", "--agent", "writer=human"], typed="1\nno\ndone\nyes\n"
    )
    assert shown.code == 0, shown.plain
    assert "summary" in shown.plain.partition("does not satisfy the form of writer")[2]


@pytest.mark.parametrize(
    ("line", "problem"),
    [("y" * 5000, "cuts a line after 4095 bytes"), ("caf\udce9", "is not UTF-8 text")],
)
def test_a_line_that_the_terminal_changes_is_not_stored(project, line, problem):
    words = ["run", "pair", "-p", "x", "--agent", "writer=human"]
    shown = on_terminal(project, words, typed=f"1\n{line}\nwhole\n", errors="surrogateescape")
    assert problem in shown.plain
    with project.client() as uwf:
        thread = uwf.list()[0]["thread"]
        step = uwf.steps(thread)[1]["step"]
        assert uwf.step(step)["output"]["summary"] == "whole"


def test_the_inbox_is_answered_one_by_one_and_continues_in_the_background(project):
    with project.client() as uwf:
        first, second, third = (uwf.start("pair", text)["thread"] for text in ("a", "b", "c"))
        for each in (first, second, third):
            assert uwf.exec(each, agent="human").exit_code == 3
        shown = on_terminal(project, ["inbox", "--answer"], typed="1\nit\n\n1\nthat\n")
        assert shown.code == 3, shown.plain
        assert "2 of 3: b" in shown.plain
        for each in (first, third):
            assert uwf.wait(each, 60).document["done"]
        assert uwf.show(second)["status"] == "suspended"


def test_the_inbox_says_what_a_yes_does(project):
    project.script([{"role": "writer", "fail": {"kind": "auth", "message": "no key"}}])
    assert project.uwf("run", "pair", "-p", "x").exit_code == 6
    shown = on_terminal(project, ["inbox", "--answer"], typed="n\n")
    assert (shown.code, "run writer again? (y or n): " in shown.plain) == (3, True), shown.plain


def test_an_answer_that_is_neither_yes_nor_no_is_asked_for_again(project):
    project.script([{"role": "writer", "fail": {"kind": "auth", "message": "no key"}}])
    thread = project.uwf("run", "pair", "-p", "x").document["thread"]
    shown = on_terminal(project, ["inbox", "--answer"], typed="1\ny\n")
    assert "'1' is neither y nor n" in shown.plain
    assert shown.plain.count("(y or n): ") == 2
    with project.client() as uwf:
        uwf.wait(thread, 60)
    shown = on_terminal(project, ["inbox", "--answer"], typed="\n")
    assert (shown.code, shown.plain.count("(y or n): ")) == (3, 1)


def test_without_a_terminal_the_inbox_is_only_shown(uwf, asked):
    refused = uwf("inbox", "--answer")
    assert (refused.code, refused.out) == (2, "")
    assert "needs a terminal" in refused.err


# -- who answers -----------------------------------------------------------------------------------


def test_of_two_answers_the_first_wins_and_the_second_learns_the_name(uwf, asked):
    answer = ("thread", "resume", asked, "--status", "done", "--answer", "summary=it")
    first = uwf(*answer)
    second = uwf(*answer)
    assert first.code == 0
    assert second.code == 2
    by = uwf("step", "show", first.document["steps"][0]["step"]).document["attempt"]["by"]
    assert f"{by['user']} on {by['host']} has answered it" in second.err


def test_an_answer_during_the_run_of_the_first_one_is_rejected_with_the_name(project):
    project.script([WROTE, {"role": "reviewer", "hang": True}])
    with project.client() as uwf:
        thread = uwf.start("pair", "x", bindings={"writer": "human"})["thread"]
        uwf.exec(thread)
        answer = json.dumps({"$status": "done", "summary": "it"})
        uwf.resume(thread, answer=answer, until_done=True, background=True)
        while not uwf.show(thread)["steps"]:
            time.sleep(0.05)
        second = project.uwf("thread", "resume", thread, "--answer", answer)
        uwf.stop(thread)
    assert second.exit_code == 2
    assert "has answered it" in second.error["message"]


def test_an_answer_does_not_reach_a_later_question(uwf, asked):
    head = items(uwf)[0]["head"]
    uwf("thread", "resume", asked, "--status", "done", "--answer", "summary=it")
    done = uwf("thread", "resume", asked, "-p", "Again.", "--head", head)
    assert (done.code, done.error["code"]) == (2, "wrong-state")
    assert uwf("thread", "show", asked).document["steps"] == 1


def test_a_command_below_an_agent_cannot_answer_for_a_person(uwf, asked, monkeypatch):
    monkeypatch.setenv("UWF_ATTEMPT", f"{asked}/1.1")
    answer = ("thread", "resume", asked, "--status", "done", "--answer", "summary=it")
    refused = uwf(*answer)
    assert (refused.code, refused.out) == (2, "")
    assert "below an agent" in refused.error["message"]
    monkeypatch.delenv("UWF_ATTEMPT")
    assert uwf(*answer).code == 0


def test_the_surface_of_an_answer_is_recorded_also_in_the_background(uwf, project, asked):
    with Client.open(via="web") as opened:
        answer = json.dumps({"$status": "done", "summary": "it"})
        opened.resume(asked, answer=answer, background=True)
        opened.wait(asked, 60)
        step = opened.step(opened.steps(asked)[1]["step"])
    assert step["attempt"]["by"]["via"] == "web"
    assert os.environ.get("UWF_VIA") is None


def test_a_thread_of_workers_is_shown_while_it_waits_for_a_time(uwf, project, monkeypatch):
    """What workers repeat by themselves waits for nobody, unless a service named the time."""
    until = int(time.time() * 1000) + 7_200_000
    limited = {"kind": "rate_limited", "message": "asks to wait", "untilMs": until}
    threads = []
    for fails in ({**FAILS, "fail": limited}, FAILS):
        project.script([fails])
        threads.append(uwf("run", "pair", "-p", "x").document["thread"])
    monkeypatch.setattr("uwf_core.engine.engine.Engine.has_workers", True)
    monkeypatch.setattr("uwf_core.views.unserved.unserved_threads", lambda _: [])
    monkeypatch.setattr("uwf_core.views.unserved.queued_among", lambda *_: set(threads))
    (found,) = items(uwf)
    assert (found["thread"], found["until"]) == (threads[0], until)
    assert found["commands"] == [f"uwf thread exec {threads[0]} --until-done"]
