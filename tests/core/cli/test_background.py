"""`run`, `exec`, `resume` and `poke` share --agent, --until-done and --background."""

import subprocess
import sys

import pytest
from cli_kit import APPROVED, ASKS, WROTE, Uwf

from uwf_core.cli.complete import options_of
from uwf_core.operations.rows import own_commands
from uwf_core.testing.project import Project


@pytest.mark.parametrize("name", ["run", "exec", "resume", "poke"])
def test_every_command_that_runs_steps_has_the_same_options(name):
    rows = own_commands().rows
    names = options_of(rows[name] if name in rows else rows["thread"].rows[name])
    assert {"--agent", "--cwd", "--until-done", "--background"} <= set(names)


def running(uwf: Uwf, *words: str) -> str:
    """Call a command in the background, which must have begun; its thread."""
    begun = uwf(*words, "--background")
    assert begun.code == 0, begun.err
    assert (begun.document["steps"], begun.document["status"]) == ([], "running")
    return begun.document["thread"]


def test_a_workflow_runs_to_its_end_in_the_background(uwf):
    thread = running(uwf, "run", "pair", "-p", "a task")
    waited = uwf("thread", "wait", thread).document
    assert (waited["status"], len(waited["steps"])) == ("completed", 2)


def test_resume_in_the_background_gets_a_text_longer_than_an_argument_can_be(uwf, project: Project):
    project.script([ASKS, WROTE, APPROVED])
    thread = uwf("run", "pair", "-p", "x").document["thread"]
    text = "é" * 200_000
    project.folder.joinpath("answer.txt").write_text(f"@{text}", encoding="utf-8")
    running(uwf, "thread", "resume", thread, "-p", "@answer.txt", "--until-done")
    waited = uwf("thread", "wait", thread).document
    assert (waited["status"], len(waited["steps"])) == ("completed", 2)
    prompt = uwf("step", "read", waited["steps"][0]["step"], "--prompt").out
    assert f"@{text}" in prompt, "it is the text itself, although it begins with @"


def test_an_answer_is_given_in_the_background(uwf, project: Project):
    thread = uwf("run", "pair", "-p", "x", "--agent", "human").document["thread"]
    head = uwf("thread", "show", thread).document["head"]
    refused = uwf("thread", "resume", thread, "--answer", "summary=5", "--background")
    assert (refused.code, refused.out) == (4, "")
    assert "$status" in refused.error["message"]
    assert uwf("thread", "show", thread).document["head"] == head
    answer = ("--answer", "summary=s", "--status", "done")
    running(uwf, "thread", "resume", thread, *answer)
    waited = uwf("thread", "wait", thread).document
    assert (waited["steps"][0]["agent"], waited["status"]) == ("human", "idle")


def test_poke_takes_an_agent_and_runs_on_in_the_background(uwf, project: Project):
    project.script([{"role": "writer", "outputs": [WROTE["output"]] * 2}, APPROVED])
    thread = uwf("thread", "start", "pair", "-p", "x").document["thread"]
    step = uwf("thread", "exec", thread).document["steps"][0]["step"]
    words = ("thread", "poke", thread, "-p", "more", "--agent", "human")
    running(uwf, *words)
    asked = uwf("thread", "wait", thread)
    assert (asked.code, asked.document["suspendReason"]) == (3, "role")
    uwf("thread", "resume", thread, "--answer", "summary=s", "--status", "done")
    replaced = uwf("thread", "show", thread).document["head"]
    assert uwf("step", "show", replaced).document["attempt"]["replaces"] == step
    assert uwf("step", "show", replaced).document["agent"] == "human"
    running(uwf, "thread", "poke", thread, "-p", "again", "--agent", "mock", "--until-done")
    waited = uwf("thread", "wait", thread).document
    assert (waited["status"], len(waited["steps"])) == ("completed", 2)


def test_a_refused_poke_in_the_background_answers_with_its_own_error(uwf, project: Project):
    thread = uwf("run", "pair", "-p", "x", "--agent", "human").document["thread"]
    refused = uwf("thread", "poke", thread, "-p", "more", "--background")
    assert (refused.code, refused.out) == (2, "")
    assert "waits for an answer" in refused.error["message"]


NO_TEMPORARY_FOLDER = (
    "import sys, tempfile; tempfile.tempdir = '/nonexistent'; "
    "from uwf_core.cli.main import process; sys.exit(process(sys.argv[1:]))"
)


def test_a_background_run_needs_no_folder_for_temporary_files(uwf: Uwf, project: Project):
    thread = uwf("thread", "start", "pair", "-p", "x", "--agent", "human").document["thread"]
    uwf("thread", "exec", thread)
    words = ("thread", "resume", thread, "--status", "done", "--answer", "summary=s")
    done = subprocess.run(
        [sys.executable, "-c", NO_TEMPORARY_FOLDER, *words, "--background"],
        cwd=project.folder, env=project.env, capture_output=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert uwf("thread", "wait", thread, "--timeout", "60").code == 0
