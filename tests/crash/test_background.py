"""`exec --background`: a run that outlives whoever began it, and is followed and stopped from
elsewhere.
"""

import json
import os
import shlex
import signal
import socket
import subprocess
import time
from typing import Any

import pytest
from rig import AGAIN, DONE, GOOD, Rig, end, eventually, is_running


@pytest.fixture
def slow(rig: Rig) -> Rig:
    """A project whose agent `slow` works until the file `go` is there, and `long` for ever."""
    rig.command_agents("slow", "long")
    return rig


def begin(rig: Rig, thread: str, *arguments: str) -> None:
    """Start a run in the background."""
    begun = rig.uwf("thread", "exec", thread, "--background", *arguments)
    assert begun.exit_code == 0, begun.stderr
    assert begun.document["steps"] == []
    assert begun.document["status"] == "running"


def begin_and_show(rig: Rig, thread: str) -> dict[str, Any]:
    """Start a run that does not end by itself; what `thread show` says of it."""
    begin(rig, thread)
    shown = rig.show(thread)
    assert shown["status"] == "running", "it holds the lock when the parent returns"
    return shown


def test_a_background_run_is_shown_with_its_process_and_waited_for(slow: Rig) -> None:
    thread = slow.start("--agent", "slow")
    before = time.time() * 1000
    running = begin_and_show(slow, thread)["running"]
    assert is_running(running["pid"])
    assert running["host"] == socket.gethostname()
    assert before - 5000 <= running["startedAtMs"] <= time.time() * 1000
    hurried = slow.uwf("thread", "wait", thread, "--timeout", "0.1")
    assert (hurried.exit_code, hurried.stdout) == (75, "")
    assert hurried.error["code"] == "busy"
    (slow.pids / "go").touch()
    waited = slow.uwf("thread", "wait", thread)
    assert waited.exit_code == 0
    assert waited.document["status"] == "idle"
    assert [step["role"] for step in waited.document["steps"]] == ["writer"]
    assert eventually(lambda: not is_running(running["pid"]))


@pytest.mark.parametrize(
    ("steps", "code", "status"),
    [
        ([DONE, GOOD], 0, "completed"),
        ([DONE, {"role": "checker", "suspend": {"reason": "who pays?"}}], 3, "suspended"),
        ([DONE, {"role": "checker", "fail": {"kind": "auth"}}], 6, "suspended"),
        ([DONE, {"role": "checker", "garbage": True}], 4, "suspended"),
    ],
    ids=["completed", "suspended", "agent-fault", "invalid-output"],
)
def test_wait_prints_the_runs_own_document_and_code(
    rig: Rig, steps: list[dict[str, Any]], code: int, status: str
) -> None:
    rig.play(*steps)
    thread = rig.start()
    begin(rig, thread, "--until-done")
    waited = rig.uwf("thread", "wait", thread)
    assert (waited.exit_code, waited.document["status"]) == (code, status)
    assert [step["role"] for step in waited.document["steps"]] == ["writer", "checker"]
    assert rig.uwf("thread", "wait", thread).document == waited.document


def test_a_run_in_the_background_can_be_stopped_and_goes_on(slow: Rig) -> None:
    thread = slow.start("--agent", "long")
    pid = begin_and_show(slow, thread)["running"]["pid"]
    assert eventually(lambda: "I begin" in slow.said(thread))
    stopped = slow.uwf("thread", "stop", thread)
    assert stopped.exit_code == 0, stopped.stderr
    assert stopped.document["suspendReason"] == "interrupted"
    assert eventually(lambda: not is_running(pid))
    assert slow.living() == []
    waited = slow.uwf("thread", "wait", thread)
    assert waited.exit_code == 130
    assert waited.document["steps"][0]["failure"]["kind"] == "interrupted"
    (slow.pids / "enough").touch()
    assert slow.uwf("thread", "exec", thread).exit_code == 0


def test_the_turns_of_a_background_run_can_be_followed(slow: Rig) -> None:
    thread = slow.start("--agent", "slow")
    begin(slow, thread)
    live = slow.start_uwf("step", "turns", thread, "--live", "--format", "json")
    assert live.stdout is not None
    first = live.stdout.readline()
    (slow.pids / "go").touch()
    rest = live.stdout.read()  # `communicate` would lose lines that came with the first one
    end(live)
    assert live.returncode == 0
    texts = [json.loads(line)["text"] for line in [first, *rest.splitlines()]]
    assert texts == [f"turn {number}" for number in range(20)]
    assert slow.show(thread)["steps"] == 1, "it ends with the step"


def test_a_run_in_the_background_of_a_thread_that_somebody_runs_is_75_at_once(slow: Rig) -> None:
    thread = slow.start("--agent", "slow")
    pid = begin_and_show(slow, thread)["running"]["pid"]
    second = slow.uwf("thread", "exec", thread, "--background")
    assert (second.exit_code, second.stdout) == (75, "")
    assert second.error["code"] == "busy"
    assert str(pid) in second.error["message"]
    (slow.pids / "go").touch()
    assert slow.uwf("thread", "wait", thread).exit_code == 0


def test_what_keeps_a_background_run_from_beginning_is_the_parents_error(rig: Rig) -> None:
    thread = rig.start()
    assert rig.uwf("thread", "cancel", thread).exit_code == 0
    begun = rig.uwf("thread", "exec", thread, "--background")
    assert (begun.exit_code, begun.stdout) == (2, "")
    assert begun.error["code"] == "wrong-state"


def test_in_the_background_too_exec_says_that_there_is_nothing_to_run(rig: Rig) -> None:
    rig.play(DONE, GOOD)
    thread = rig.start()
    assert rig.uwf("thread", "exec", thread, "--until-done").exit_code == 0
    begun = rig.uwf("thread", "exec", thread, "--background")
    assert (begun.exit_code, begun.document["status"]) == (0, "completed")
    assert rig.show(thread)["status"] == "completed"


def test_a_hang_up_of_the_parents_session_does_not_reach_the_run(slow: Rig) -> None:
    """A terminal that is closed hangs up on its whole session: the run is in none but its own."""
    thread = slow.start("--agent", "slow")
    words = shlex.join(slow.command("thread", "exec", thread, "--background"))
    shell = subprocess.Popen(
        ["/bin/sh", "-c", f"{words}; echo begun; exec sleep 60"],
        cwd=slow.folder,
        env=slow.env,
        stdout=subprocess.PIPE,
        start_new_session=True,
        text=True,
    )
    assert shell.stdout is not None
    assert "begun\n" in iter(shell.stdout.readline, "")
    pid = slow.show(thread)["running"]["pid"]
    assert os.getsid(pid) == pid
    os.killpg(shell.pid, signal.SIGHUP)
    end(shell)
    assert shell.returncode == -signal.SIGHUP
    assert slow.show(thread)["status"] == "running"
    (slow.pids / "go").touch()
    waited = slow.uwf("thread", "wait", thread)
    assert (waited.exit_code, len(waited.document["steps"])) == (0, 1)


def test_a_background_run_killed_with_kill_9_is_waited_for_and_goes_on(slow: Rig) -> None:
    thread = slow.start("--agent", "long")
    pid = begin_and_show(slow, thread)["running"]["pid"]
    assert eventually(lambda: "I begin" in slow.said(thread))
    os.kill(pid, signal.SIGKILL)
    waited = slow.uwf("thread", "wait", thread)
    assert (waited.exit_code, waited.document["steps"]) == (130, [])
    assert waited.document["status"] == "suspended"
    (slow.pids / "enough").touch()
    assert slow.uwf("thread", "exec", thread).exit_code == 0
    assert slow.living() == []


def test_a_failing_command_leaves_the_document_of_the_last_run(rig: Rig) -> None:
    rig.play(DONE, AGAIN)
    thread = rig.start()
    ran = rig.uwf("thread", "exec", thread)
    assert rig.uwf("thread", "resume", thread).exit_code == 2
    waited = rig.uwf("thread", "wait", thread)
    assert waited.document == ran.document


def test_a_thread_that_is_forgotten_leaves_no_file_of_its_runs(rig: Rig) -> None:
    rig.play(DONE, GOOD)
    thread = rig.start()
    begin(rig, thread, "--until-done")
    assert rig.uwf("thread", "wait", thread).document["status"] == "completed"
    assert rig.uwf("thread", "rm", thread).exit_code == 0
    assert list((rig.home / "runs").iterdir()) == []


def test_an_agent_that_cannot_be_used_is_the_error_of_the_call_that_asks_for_the_background(
    rig: Rig,
) -> None:
    rig.play(DONE, GOOD)
    thread = rig.start()
    begun = rig.uwf("thread", "exec", thread, "--background", "--agent", "nosuch")
    assert (begun.exit_code, begun.stdout) == (2, "")
    assert begun.error["code"] == "unknown-id"
    assert "nosuch" in begun.error["message"]
    assert rig.show(thread)["status"] == "idle"
    logged = rig.uwf("log", "list", "--errors").stdout
    assert "unknown-id" in logged


def test_wait_reports_a_run_that_ended_before_its_first_step_not_the_run_before_it(
    rig: Rig,
) -> None:
    """Between the check and the first step, such as when the agent's factory rejects its options,
    only the run itself can say what is wrong.
    """
    rig.play(DONE, GOOD)
    install_picky_agent(rig)
    thread = rig.start()
    assert rig.uwf("thread", "exec", thread).exit_code == 0
    begun = rig.uwf("thread", "exec", thread, "--background", "--agent", "picky")
    assert begun.exit_code == 0, begun.stderr
    waited = rig.uwf("thread", "wait", thread)
    assert (waited.exit_code, waited.document["steps"]) == (2, []), waited.stderr
    assert "picky" in waited.error["message"]
    assert rig.uwf("thread", "exec", thread).exit_code == 0
    assert rig.uwf("thread", "wait", thread).document["done"], "the next run is the last one"


def install_picky_agent(rig: Rig) -> None:
    """A distribution whose agent can be chosen, but not made."""
    site = rig.root / "site"
    info = site / "picky-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: picky\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[uwf.agents]\npicky = picky\n")
    (site / "picky.py").write_text(
        "from uwf_core.api import AgentSpec, hookimpl\n"
        "from uwf_core.errors import ConfigError\n"
        "@hookimpl\n"
        "def uwf_agents():\n"
        "    return [AgentSpec(name='picky', summary='is', factory='picky:Agent')]\n"
        "def Agent(options, context):\n"
        "    raise ConfigError('picky wants another machine')\n"
    )
    rig.env["PYTHONPATH"] = str(site)


def test_wait_reports_the_error_after_the_steps_that_a_background_run_took(rig: Rig) -> None:
    rig.config(
        "agents: {odd: {use: mock, options: {scirpt: x}}}\nagentOverrides: {loop: {checker: odd}}\n"
    )
    rig.play(DONE)
    thread = rig.start()
    begin(rig, thread, "--until-done")
    waited = rig.uwf("thread", "wait", thread)
    assert waited.exit_code == 2
    assert [step["role"] for step in waited.document["steps"]] == ["writer"]
    assert "scirpt" in waited.error["message"]
