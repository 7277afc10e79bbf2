"""Roles that a program plays: its exit code decides, without a model and without corrections."""

import json
import os
import signal
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.step_parts import session_of

import uwf_explain
from uwf_core.client import Client
from uwf_core.errors import UsageError
from uwf_core.testing.project import Project

CHECKED = """
version: 1
name: checked
LIMITS
roles:
  developer:
    goal: Write it.
    frontmatter:
      properties: {$status: {const: done}, file: {type: string}}
      required: [$status]
  tests:
    program:
      argv: [sh, ./tests.sh, "{{{file}}}", "{{{_body}}}"]
      statuses: {0: passed, 1: failed, 3: unsure}
      env: {COLOUR: red}
      TIMEOUT
    frontmatter:
      oneOf:
        - {properties: {$status: {const: passed}, count: {type: integer}}, required: [$status]}
        - properties: {$status: {const: failed}, stdout: {type: string}, stderr: {type: string}}
          required: [$status]
        - {properties: {$status: {const: unsure}, stdout: {type: string}}, required: [$status]}
graph:
  $START:
    new: {role: developer, prompt: Write it.}
    resume: {role: developer, prompt: Again.}
  developer: {done: {role: tests, prompt: Test it.}}
  tests:
    passed: {role: $END, prompt: Done.}
    failed: {role: developer, prompt: "Fix it: {{{stdout}}}"}
    unsure: {role: $SUSPEND, prompt: "What now?"}
"""
TIMEOUT = "timeout: 3"  # for a program that ends at once, on a busy machine too


@pytest.fixture
def checked(project: Project) -> Callable[..., str]:
    """Starts a thread of `checked`, whose program runs a script."""

    def start(script: str, file: str = "a.py", limits: str = "", timeout: str = "") -> str:
        project.trust()
        text = CHECKED.replace("LIMITS", limits).replace("TIMEOUT", timeout)
        project.workflow("checked", text)
        (project.folder / "tests.sh").write_text(script, encoding="utf-8")
        done = f"---\n$status: done\nfile: {json.dumps(file)}\n---\nthe body"
        project.script([{"role": "developer", "output": done}], repeat=True)
        with project.client() as uwf:
            thread = uwf.start("checked", "The task.")["thread"]
            uwf.exec(thread)
        return thread

    return start


def last(uwf: Client, thread: str) -> Any:
    return uwf.step(uwf.steps(thread)[-1]["step"])


def same(uwf: Client, thread: str) -> None:
    """The record replays, and can be explained."""
    found = uwf.replay(thread)
    assert found["verdict"] == "same", found["first"]
    told = json.dumps(uwf_explain.why(uwf, thread), ensure_ascii=False)
    assert "is played by a program" in told and "“program”" not in told


@pytest.mark.parametrize(
    ("script", "output"),
    [
        ("exit 0", {"$status": "passed"}),
        ("echo one; echo '{\"count\": 3}'", {"$status": "passed", "count": 3}),
        # the exit code alone decides, and unknown fields are dropped
        (
            'echo \'{"$status": "failed", "count": 3, "more": 1}\'',
            {"$status": "passed", "count": 3},
        ),
        ("echo out; echo err >&2; exit 1", {"stdout": "out\n", "stderr": "err\n"}),
        ("echo out; echo err >&2; exit 3", {"stdout": "out\n"}),  # declares no stderr
        ('echo \'{"stderr": "mine"}\'; exit 1', {"stderr": "mine"}),
        ("echo '[1]'; exit 1", {"stdout": "[1]\n", "stderr": ""}),
        ("printf '\\303\\044'; exit 3", {"stdout": "\ufffd$"}),
    ],
)
def test_the_exit_code_is_the_status_and_the_output_the_fields(
    uwf: Client, checked: Callable[..., str], script: str, output: dict[str, Any]
) -> None:
    thread = checked(script)
    uwf.exec(thread)
    step = last(uwf, thread)
    assert {key: step["output"][key] for key in output} == output
    assert set(step["output"]) == {"$status", *output}
    assert (step["role"], step["agent"], session_of(step)["id"]) == ("tests", "program", None)
    same(uwf, thread)


def test_of_a_long_output_the_end_is_kept(uwf: Client, checked: Callable[..., str]) -> None:
    thread = checked(
        "i=0; while [ $i -lt 9000 ]; do echo zażółć; i=$((i+1)); done; echo end; exit 1"
    )
    uwf.exec(thread)
    stdout = last(uwf, thread)["output"]["stdout"]
    assert 32_000 < len(stdout.encode()) <= 32 * 1024
    assert stdout.endswith("zażółć\nend\n") and "\ufffd" not in stdout


def test_no_shell_reads_what_an_output_contains(
    project: Project, uwf: Client, checked: Callable[..., str]
) -> None:
    file = "$(touch bad); `touch bad` 'x' \"y\" *"
    thread = checked('printf "%s|%s|%s" "$1" "$2" "$COLOUR"; exit 3', file)
    uwf.exec(thread)
    step = last(uwf, thread)
    assert step["output"]["stdout"] == f"{file}|the body|red"
    assert not (project.folder / "bad").exists()
    [call] = step["turns"][0]["toolCalls"]
    assert call["arguments"].startswith("sh ./tests.sh '$(touch bad); `touch bad`")


def test_what_it_prints_is_a_turn_and_it_costs_nothing(
    project: Project, checked: Callable[..., str]
) -> None:
    thread = checked("echo out; echo err >&2; exit 1", limits="limits: {maxCostUsd: 1}")
    outcome = project.uwf("thread", "exec", thread)
    assert "limit" not in outcome.stderr
    with project.client() as uwf:
        step = last(uwf, thread)
        assert [each["speaker"] for each in step["turns"]] == ["tool", "note"]
        assert step["turns"][0]["toolCalls"][0]["result"] == "out\n"
        assert step["turns"][0]["toolCalls"][0]["isError"] is True
        assert step["turns"][1]["text"] == "err\n"
        assert (step["usage"]["costUsd"], step["usage"]["atLeast"]) == (0, [])
        assert step["usage"]["inputTokens"] == 0
    read = project.uwf("thread", "read", thread, "--format", "text").stdout
    assert "sh ./tests.sh a.py 'the body'" in read


@pytest.mark.parametrize(
    ("script", "kind", "words", "cure"),
    [
        ("echo why >&2; exit 2", "crashed", "exit code 2; on stderr: why", "add this one"),
        ("kill -9 $$", "crashed", "SIGKILL", None),
        ('echo \'{"count": "three"}\'', "invalid_output", "count", "step show"),
        ("sleep 30", "timeout", "did not finish", "runs it again"),
    ],
)
def test_a_program_fails_at_once_and_runs_again_with_the_next_exec(
    project: Project, uwf: Client, checked: Callable[..., str], script: str, kind: str, words: str,
    cure: str | None,
) -> None:  # fmt: skip
    thread = checked(script, timeout=TIMEOUT if kind == "timeout" else "")
    outcome = uwf.exec(thread).document
    failure, told = outcome["steps"][0]["failure"], outcome["suspendMessage"]
    assert failure is not None and failure["kind"] == kind
    assert words in failure["message"]
    assert cure in told if cure else told.endswith(words), told
    (project.folder / "tests.sh").write_text("exit 0")
    assert uwf.exec(thread).document["status"] == "completed"
    [failed] = last(uwf, thread)["previousAttempts"]
    assert uwf.step(failed)["corrections"] == []
    assert uwf.step(failed)["usage"]["costUsd"] == 0
    same(uwf, thread)


def test_a_program_that_is_missing_is_unavailable(
    project: Project, uwf: Client, checked: Callable[..., str]
) -> None:
    project.env["PATH"] = str(project.folder)
    with project.client() as poor:
        thread = checked("exit 0")
        failure = poor.exec(thread).document["steps"][0]["failure"]
    assert failure is not None and failure["kind"] == "unavailable"


def test_an_output_that_would_be_an_option_is_a_failure_of_routing(
    uwf: Client, checked: Callable[..., str]
) -> None:
    thread = checked("exit 0", file="--force")
    outcome = uwf.exec(thread)
    failure = outcome.document["steps"][0]["failure"]
    assert outcome.exit_code == 1
    assert failure is not None and failure["kind"] == "routing"
    same(uwf, thread)


def test_a_program_that_waited_for_a_person_gets_the_output_that_led_to_it_again(
    project: Project, uwf: Client, checked: Callable[..., str]
) -> None:
    thread = checked('echo "$1"; exit 3', file="b.py")
    assert uwf.exec(thread).exit_code == 3
    assert uwf.resume(thread, "Once more.").exit_code == 3
    assert last(uwf, thread)["output"]["stdout"] == "b.py\n"
    same(uwf, thread)
    assert uwf.poke(thread, "And again.").exit_code == 3
    assert last(uwf, thread)["output"]["stdout"] == "b.py\n"
    same(uwf, thread)


def test_no_choice_of_an_agent_replaces_a_program(
    project: Project, checked: Callable[..., str]
) -> None:
    thread = checked("exit 0")
    project.config("agentOverrides: {checked: {tests: mock}}\n")
    with project.client() as uwf:
        assert uwf.exec(thread, agent="mock").document["steps"][0]["agent"] == "program"


def test_the_typed_input_is_an_argument(project: Project, checked: Callable[..., str]) -> None:
    checked('printf "%s" "$1"; exit 3')
    text = CHECKED.replace("LIMITS", "input: {properties: {level: {type: integer}}}")
    text = text.replace("TIMEOUT", "").replace("{{{file}}}", "{{input.level}}")
    project.workflow("checked", text)
    with project.client() as uwf:
        thread = uwf.start("checked", "x", input={"level": 3})["thread"]
        uwf.exec(thread, until_done=True)
        assert last(uwf, thread)["output"]["stdout"] == "3"
        same(uwf, thread)


def test_a_program_has_nothing_to_ask(uwf: Client, checked: Callable[..., str]) -> None:
    thread = checked("exit 0")
    uwf.exec(thread)
    with pytest.raises(UsageError, match="cannot be asked"):
        uwf.ask(uwf.steps(thread)[-1]["step"], "Why?")


SLOW = "echo begun; echo $$ > pid; sleep 60 & wait"


def wait_for(file: Path) -> int:
    for _ in range(1200):
        if file.exists() and file.read_text().strip():
            return int(file.read_text())
        time.sleep(0.05)
    raise AssertionError(f"{file} was never written")


def is_gone(pid: int) -> bool:
    for _ in range(1200):
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return True
        time.sleep(0.05)
    return False


@pytest.mark.parametrize("how", ["stop", "kill"])
def test_an_interrupted_program_ends_with_its_run_and_runs_again(
    project: Project, checked: Callable[..., str], how: str
) -> None:
    thread = checked(SLOW)
    running = project.start_uwf("thread", "exec", thread)
    pid = wait_for(project.folder / "pid")
    if how == "stop":
        assert project.uwf("thread", "stop", thread).exit_code == 0
        assert running.wait(60) == 130
    else:
        running.send_signal(signal.SIGKILL)
        running.wait(60)
    running.communicate()
    assert is_gone(pid)
    (project.folder / "tests.sh").write_text("exit 0")
    again = project.uwf("thread", "exec", thread)
    assert again.document["status"] == "completed", again.stderr
    with project.client() as uwf:
        [failed] = last(uwf, thread)["previousAttempts"]
        assert uwf.step(failed)["failure"]["kind"] == "interrupted"
        same(uwf, thread)


def test_what_it_prints_is_seen_while_it_runs(
    project: Project, checked: Callable[..., str]
) -> None:
    thread = checked("echo begun; sleep 1; echo more; echo $$ > pid; sleep 60")
    running = project.start_uwf("thread", "exec", thread)
    try:
        wait_for(project.folder / "pid")
        for _ in range(100):
            turns = project.uwf("step", "turns", thread).document["turns"]
            if any(
                "begun" in (call["result"] or "") for turn in turns for call in turn["toolCalls"]
            ):
                break
            time.sleep(0.1)
        else:
            raise AssertionError("nothing was reported")
    finally:
        project.uwf("thread", "stop", thread)
        running.communicate()
