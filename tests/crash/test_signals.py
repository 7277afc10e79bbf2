"""Ctrl-C, SIGTERM and `thread stop` in the middle of a step: stopped in order, nothing lost."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from rig import AGAIN, DONE, Rig, end, eventually
from tests.step_parts import session_of

# Opening a terminal makes it the controlling one of a process that leads a session.
ON_TERMINAL = "import os, sys; os.open(sys.argv[1], os.O_RDWR); os.execv(sys.argv[2], sys.argv[2:])"


@pytest.fixture
def kin(rig: Rig) -> Rig:
    """A project whose agent works on with a child and two daemons until somebody stops it."""
    rig.command_agents("long", "deaf", "slow")
    return rig


class Terminal:
    """A `uwf` on a terminal of its own, whose Ctrl-C reaches the whole foreground group."""

    def __init__(self, rig: Rig, *arguments: str) -> None:
        self.keyboard, screen = os.openpty()
        command = [sys.executable, "-I", "-S", "-c", ON_TERMINAL, os.ttyname(screen)]
        self.process = subprocess.Popen(
            [*command, *rig.command(*arguments)],
            cwd=rig.folder,
            env=rig.env,
            stdin=screen,
            stdout=subprocess.PIPE,
            stderr=screen,
            start_new_session=True,
            text=True,
        )
        os.close(screen)

    def press_ctrl_c(self) -> None:
        os.write(self.keyboard, b"\x03")

    def close(self) -> None:
        """Pull the plug: the kernel hangs up."""
        if self.keyboard >= 0:
            os.close(self.keyboard)
            self.keyboard = -1

    def document(self) -> Any:
        return json.loads(end(self.process)[0])


@contextmanager
def on_terminal(rig: Rig, *arguments: str) -> Iterator[Terminal]:
    terminal = Terminal(rig, *arguments)
    try:
        yield terminal
    finally:
        terminal.close()
        terminal.process.kill()
        end(terminal.process)


def check_kept(rig: Rig, thread: str) -> None:
    """The thread waits, interrupted, and the agent's tree is gone."""
    assert rig.living() == []
    shown = rig.show(thread)
    assert (shown["status"], shown["suspendReason"]) == ("suspended", "interrupted")
    assert (shown["currentRole"], shown["running"], shown["steps"]) == ("writer", None, 0)


def check_goes_on(rig: Rig, thread: str) -> None:
    """The next exec: the same session, told of the interruption; what was said before is kept."""
    (rig.pids / "enough").touch()
    went_on = rig.uwf("thread", "exec", thread)
    assert went_on.exit_code == 0, went_on.stderr
    with rig.client() as uwf:
        step = uwf.step(went_on.document["steps"][0]["step"])
        assert (session_of(step)["id"], session_of(step)["continuation"]) == ("s-1", "continued")
        reason = "Your last attempt at this step ended before you delivered (interrupted:"
        assert reason in step["turns"][0]["text"]
        (attempt,) = step["previousAttempts"]
        failed = uwf.step(attempt)
    assert failed["failure"] is not None
    assert failed["failure"]["kind"] == "interrupted"
    assert session_of(failed)["id"] == "s-1"
    assert [turn["text"] for turn in failed["turns"]] == ["I begin"]


def test_ctrl_c_stops_the_whole_tree_keeps_what_was_said_and_exec_goes_on(kin: Rig) -> None:
    thread = kin.start("--agent", "long")
    with on_terminal(kin, "thread", "exec", thread) as terminal:
        assert eventually(lambda: kin.at_work(thread))
        terminal.press_ctrl_c()
        document = terminal.document()
        assert terminal.process.returncode == 130
    assert document["steps"][0]["failure"]["kind"] == "interrupted"
    assert document["status"] == "suspended"
    check_kept(kin, thread)
    check_goes_on(kin, thread)


def test_sigterm_is_like_ctrl_c(kin: Rig) -> None:
    thread = kin.start("--agent", "long")
    process = kin.start_uwf("thread", "exec", thread)
    assert eventually(lambda: kin.at_work(thread))
    process.terminate()
    out, errors = end(process)
    assert process.returncode == 130
    assert json.loads(out)["steps"][0]["failure"]["kind"] == "interrupted"
    assert "Traceback" not in errors
    check_kept(kin, thread)
    check_goes_on(kin, thread)


def test_a_terminal_that_is_closed_is_like_ctrl_c(kin: Rig) -> None:
    thread = kin.start("--agent", "long")
    with on_terminal(kin, "thread", "exec", thread) as terminal:
        assert eventually(lambda: kin.at_work(thread))
        terminal.close()
        end(terminal.process)
        assert terminal.process.returncode == 130
    check_kept(kin, thread)


def test_a_second_ctrl_c_ends_at_once_and_the_tree_goes_all_the_same(kin: Rig) -> None:
    kin.command_agents("deaf", graceSeconds=30)
    thread = kin.start("--agent", "deaf")
    with on_terminal(kin, "thread", "exec", thread) as terminal:
        assert eventually(lambda: kin.at_work(thread))
        terminal.press_ctrl_c()
        time.sleep(0.3)
        assert terminal.process.poll() is None, "the agent has 30 s to stop"
        terminal.press_ctrl_c()
        end(terminal.process)
        assert terminal.process.returncode == 130
    assert eventually(lambda: not kin.living()), "its reaper ends the tree within seconds"
    check_kept(kin, thread)
    kin.command_agents("deaf")
    check_goes_on(kin, thread)


def test_an_agent_that_ignores_sigterm_is_killed_after_its_grace(kin: Rig) -> None:
    thread = kin.start("--agent", "deaf")
    process = kin.start_uwf("thread", "exec", thread)
    assert eventually(lambda: kin.at_work(thread))
    process.send_signal(signal.SIGINT)
    end(process)
    assert process.returncode == 130
    check_kept(kin, thread)


def test_stop_within_a_step_suspends_and_exec_goes_on(kin: Rig) -> None:
    thread = kin.start("--agent", "long")
    process = kin.start_uwf("thread", "exec", thread)
    assert eventually(lambda: kin.at_work(thread))
    stopped = kin.uwf("thread", "stop", thread)
    assert stopped.exit_code == 0, stopped.stderr
    assert stopped.document["status"] == "suspended"
    assert stopped.document["suspendReason"] == "interrupted"
    end(process)
    assert process.returncode == 130
    check_kept(kin, thread)
    check_goes_on(kin, thread)


def test_stop_between_steps_leaves_a_whole_chain(rig: Rig) -> None:
    rig.play(DONE, AGAIN, repeat=True)
    thread = rig.start()
    process = rig.start_uwf("thread", "exec", thread, "-c", "100000")
    assert eventually(lambda: rig.show(thread)["steps"] > 3)
    assert rig.uwf("thread", "stop", thread).exit_code == 0
    out, _ = end(process)
    assert process.returncode == 130
    steps = rig.show(thread)["steps"]
    assert len([step for step in json.loads(out)["steps"] if step["step"]]) >= steps
    assert rig.uwf("thread", "exec", thread).exit_code == 0
    assert rig.show(thread)["steps"] == steps + 1


def test_stop_where_nobody_runs_is_a_wrong_state(rig: Rig) -> None:
    thread = rig.start()
    stopped = rig.uwf("thread", "stop", thread)
    assert (stopped.exit_code, stopped.stdout) == (2, "")
    assert stopped.error["code"] == "wrong-state"


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM], ids=["SIGINT", "SIGTERM"])
def test_a_signal_at_any_moment_of_starting_up_shows_no_traceback(rig: Rig, number: int) -> None:
    rig.play({**DONE, "delayMs": 60_000})
    thread = rig.start()
    for tick in range(12):
        process = rig.start_uwf("thread", "exec", thread)
        time.sleep(0.04 + 0.03 * tick)
        process.send_signal(number)
        _, errors = end(process)
        # The interpreter's own start, before any line of ours, is nothing that we can answer for.
        own = "Fatal Python error: init_" in errors or "Traceback" in errors
        if not own or "/uwf_core/" in errors:
            assert process.returncode in (130, -number), errors
            assert "Traceback" not in errors, f"after {0.04 + 0.03 * tick:.2f} s: {errors}"
        assert rig.show(thread)["running"] is None


def test_an_interrupt_that_python_drops_is_remembered_and_not_printed() -> None:
    """Python prints exceptions of its callbacks, and goes on."""
    code = (
        "import signal\n"
        "from uwf_core.cli.shutdown import raise_on_signals\n"
        "class Session: interrupted = False\n"
        "class Dropping:\n"
        "    def __del__(self): signal.raise_signal(signal.SIGINT)\n"
        "raise_on_signals(Session)\n"
        "Dropping()\n"
        "print(Session.interrupted)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert (done.stdout, done.stderr) == ("True\n", "")
