"""Real processes: pipes, signals, terminals, closed streams."""

import json
import os
import re
import signal
import subprocess
import sys
import time

import pytest
from cli_kit import WORKFLOW, WROTE, on_terminal
from tests.crash.rig import wait_until_it_hears

UWF = [sys.executable, "-m", "uwf_core"]


def start(project, *words, **streams) -> subprocess.Popen:
    settings = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    return subprocess.Popen(
        [*UWF, *words], cwd=project.folder, env=project.env, **{**settings, **streams}
    )


AT_WORK = {"role": "writer", "hang": True, "turns": [{"text": "I am at work"}]}


def wait_until_at_work(project, seconds=60):
    """Until the agent has said something: a thread is running as soon as its lock is taken, which
    is before there is a step that could be interrupted.
    """
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        with project.client() as client:
            if any(client.turns(each["thread"]) for each in client.list()):
                return
        time.sleep(0.05)
    raise AssertionError("no agent is at work")


def test_the_version_is_told_alone(project):
    done = project.uwf("--version")
    assert (done.exit_code, done.stderr) == (0, "")
    assert done.stdout.startswith("uwf ")
    assert project.uwf("-V", "--format", "json").stdout == done.stdout


@pytest.mark.parametrize("format", ["json", "yaml"])
def test_data_on_a_terminal_cannot_drive_it_and_in_a_pipe_are_as_they_are(project, format):
    described = 'description: "red \\x9b31m, \\u202eturned"'
    project.workflow("pair", WORKFLOW.replace("description: One writes, one reviews.", described))
    words = ["workflow", "show", "pair", "--format", format]
    shown = on_terminal(project, words).raw
    assert "\x9b" not in shown
    assert "\u202e" not in shown
    assert r"red \u009b31m, \u202eturned" in shown
    assert format == "yaml" or "red \x9b31m, \u202eturned" in project.uwf(*words).stdout


def test_data_is_json_in_a_pipe_and_text_on_a_terminal(project):
    done = project.uwf("run", "pair", "-p", "x")
    assert done.exit_code == 0
    assert done.document["status"] == "completed"
    assert "#1 writer" in done.stderr
    shown = on_terminal(project, ["thread", "list", "--all"])
    assert shown.code == 0
    assert shown.lines[0].split()[:3] == ["THREAD", "STATUS", "WORKFLOW"]
    assert "\x1b[32mcompleted" in shown.raw


def test_no_color_and_dumb_terminals_get_no_escapes(project):
    project.uwf("thread", "start", "pair", "-p", "x")
    for env in ({"NO_COLOR": "1"}, {"TERM": "dumb"}):
        assert "\x1b" not in on_terminal(project, ["thread", "list"], env=env).raw
    assert "\x1b[" in project.uwf("thread", "list", "--format", "text", "--color", "always").stdout


def test_a_live_line_tells_who_is_at_work_and_leaves_plain_lines(project):
    project.script([{**WROTE, "untilFile": "go"}, {"role": "reviewer", "hang": True}])
    waits = {r" · waiting [1-9]\d*s for the (agent|model)": (project.folder / "go").touch}
    shown = on_terminal(project, ["thread", "exec", started(project)], shown=waits)
    assert shown.code == 0
    assert re.search(r"#1 writer · mock · \d+s", shown.plain)
    assert all(re.search(each, shown.plain) for each in waits)
    final = [line for line in shown.lines if line.startswith("#1 writer: done → reviewer (")]
    assert len(final) == 1


def started(project) -> str:
    thread: str = project.uwf("thread", "start", "pair", "-p", "x").document["thread"]
    return thread


def test_nothing_breaks_on_a_narrow_terminal(project):
    for columns, words in [(40, "run pair -p x"), (20, "thread show @last"), (10, "--help")]:
        assert on_terminal(project, words.split(), columns=columns).code == 0, words


def test_a_reader_who_leaves_is_nobodys_fault(project):
    for _ in range(3):
        project.uwf("thread", "start", "pair", "-p", "x" * 20_000)
    for words in ("thread read @last", "thread list --format json", "--help", "prompt usage"):
        command = f"{' '.join(UWF)} {words} | true; exit ${{PIPESTATUS[0]}}"
        done = subprocess.run(
            ["bash", "-c", command], cwd=project.folder, env=project.env, capture_output=True
        )
        assert (done.returncode, done.stderr) == (0, b""), words


def test_a_run_goes_on_when_nobody_reads_its_progress(project):
    command = f"{' '.join(UWF)} run pair -p x 2> >(exec 0<&-) >out.json; echo $?"
    done = subprocess.run(
        ["bash", "-c", command], cwd=project.folder, env=project.env, capture_output=True
    )
    assert done.stdout == b"0\n"
    assert json.loads((project.folder / "out.json").read_text())["status"] == "completed"


def test_a_full_disk_behind_stdout_is_an_error(project):
    with open("/dev/full", "w") as full:
        process = start(project, "prompt", "usage", stdout=full)
        _, error = process.communicate()
    assert process.returncode == 1
    assert b"No space left" in error
    assert b"Traceback" not in error


def test_closed_streams_do_no_harm(project):
    for closed in ("<&-", ">&-", "2>&-", "<&- >&- 2>&-"):
        command = f"{' '.join(UWF)} thread list {closed}"
        done = subprocess.run(["bash", "-c", command], cwd=project.folder, env=project.env)
        assert done.returncode == 0, closed


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_run_says_so_and_goes_on_later(project, number):
    project.script([AT_WORK])
    process = start(project, "run", "pair", "-p", "x")
    wait_until_at_work(project)
    process.send_signal(number)
    out, error = process.communicate(timeout=60)
    assert process.returncode == 130, error
    document = json.loads(out)
    assert document["status"] == "suspended"
    assert document["steps"][0]["suspendReason"] == "interrupted"
    assert b"Traceback" not in error
    project.script([WROTE])
    assert project.uwf("thread", "exec", "@last").document["steps"][0]["failure"] is None


def test_a_signal_ends_a_command_that_only_waits(project):
    project.script([{"role": "writer", "hang": True}])
    thread = started(project)
    project.uwf("thread", "exec", thread, "--background")
    waiting = start(project, "thread", "wait", thread, "--format", "json")
    wait_until_it_hears(waiting.pid, signal.SIGTERM)
    waiting.send_signal(signal.SIGTERM)
    _, error = waiting.communicate(timeout=60)
    assert waiting.returncode == 130
    assert json.loads(error)["error"]["code"] == "interrupted"
    late = project.uwf("thread", "wait", thread, "--timeout", "0.1")
    assert (late.exit_code, late.stdout) == (75, "")
    second = project.uwf("thread", "exec", thread)
    assert (second.exit_code, second.stdout, second.error["code"]) == (75, "", "busy")
    assert f"uwf thread wait {thread}" in second.error["hint"]
    assert project.uwf("thread", "stop", thread).document["status"] == "suspended"
    assert project.uwf("thread", "wait", thread).exit_code == 130


def test_turns_can_be_followed_as_json_lines(project):
    project.script([{**WROTE, "turns": [{"text": "one"}, {"text": "two\x1b[31m"}], "delayMs": 500}])
    thread = started(project)
    project.uwf("thread", "exec", thread, "--background")
    followed = project.uwf("step", "turns", thread, "--live", "--format", "json")
    turns = [json.loads(line) for line in followed.stdout.splitlines()]
    assert [turn["text"] for turn in turns if turn["number"] == 1][:2] == ["one", "two\x1b[31m"]
    text = project.uwf("step", "turns", thread, "--format", "text").stdout
    assert "two\\x1b[31m" in text


def test_a_removed_working_folder_is_said(project):
    gone = project.folder / "gone"
    gone.mkdir()
    command = f"cd gone && rmdir ../gone && {' '.join(UWF)} thread list --format text"
    done = subprocess.run(
        ["bash", "-c", command], cwd=project.folder, env=project.env, capture_output=True
    )
    assert done.returncode == 2
    assert b"the current folder no longer exists" in done.stderr


def test_output_that_the_terminal_cannot_encode_is_escaped(project):
    env = {**project.env, "PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"}
    project.uwf("thread", "start", "pair", "-p", "Straße")
    for words in (["thread", "read", "@last"], ["thread", "show", "@last", "--format", "text"]):
        done = subprocess.run([*UWF, *words], cwd=project.folder, env=env, capture_output=True)
        assert (done.returncode, done.stderr) == (0, b""), words
    done = subprocess.run(
        [*UWF, "step", "list", "@last"], cwd=project.folder, env=env, capture_output=True
    )
    assert json.loads(done.stdout)


def test_nothing_is_left_open_behind_a_command(project):
    """A warning about an unclosed file would be a line on stderr."""
    done = subprocess.run(
        [sys.executable, "-X", "dev", "-W", "error", "-m", "uwf_core", "thread", "list"],
        cwd=project.folder, env=project.env, capture_output=True,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, b"")
    assert os.listdir(project.folder) == [".workflow"]  # noqa: PTH208


@pytest.mark.parametrize("words", [("run", "pair", "-p", "x"), ("thread", "exec", "@last", "-c2")])
def test_what_a_run_did_is_printed_also_when_it_cannot_take_a_later_step(project, words):
    project.config(
        "agents: {odd: {use: mock, options: {scirpt: x}}}\n"
        "agentOverrides: {pair: {reviewer: odd}}\n"
    )
    project.script([WROTE])
    started(project)
    done = project.uwf(*words)
    assert done.exit_code == 2
    assert [each["role"] for each in done.document["steps"]] == ["writer"]
    assert done.document["thread"] == project.uwf("thread", "show", "@last").document["thread"]
    assert "scirpt" in done.error["message"]


def test_a_run_whose_first_role_has_an_unknown_agent_leaves_no_thread(project):
    project.config("agentOverrides: {pair: {writer: mock2}}\n")
    done = project.uwf("run", "pair", "-p", "x")
    assert (done.exit_code, done.stdout) == (2, "")
    assert "mock2" in done.error["message"]
    assert project.uwf("thread", "list", "--all").document["threads"] == []


INTERRUPTED_IN_A_LIBRARY = """
import os, signal
from uwf_core.cli.main import process

class Panic(BaseException):
    pass

def root():
    try:
        os.kill(os.getpid(), signal.{signal})
    except KeyboardInterrupt as interrupt:
        raise Panic from interrupt

raise SystemExit(process([], root))
"""


@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM"])
def test_a_signal_that_a_compiled_library_makes_an_error_of_is_an_interrupt(project, name):
    """What Rust makes of an exception is no Exception; without a handler it would be exit 1."""
    code = INTERRUPTED_IN_A_LIBRARY.format(signal=name)
    done = subprocess.run(
        [sys.executable, "-c", code], env=project.env, capture_output=True, text=True
    )
    assert (done.returncode, "Traceback" in done.stderr) == (130, False), done.stderr
