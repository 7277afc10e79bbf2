"""A process id means somebody else once its process is gone: no stranger gets a signal of ours."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator

import pytest
from rig import DONE, Rig, end, eventually, is_running
from tests.store_file import opened_store

from uwf_core.errors import BusyError
from uwf_core.threads import control

MARKED = "UWF_ATTEMPT"


@pytest.fixture
def stranger() -> Iterator["subprocess.Popen[str]"]:
    """A process of the same user that has nothing to do with uwf."""
    process = subprocess.Popen([sys.executable, "-I", "-S", "-c", SLEEP], text=True)
    yield process
    process.kill()
    process.wait()


SLEEP = "import time; time.sleep(600)"


def die(rig: Rig, thread: str, agent_turn: str = "I begin") -> int:
    """Kill an exec in the middle of its step; its process id."""
    process = rig.start_uwf("thread", "exec", thread)
    assert eventually(lambda: agent_turn in rig.said(thread))
    process.kill()
    end(process)
    assert eventually(lambda: not rig.living()), "the reaper cleans up"
    return process.pid


def put_in_place_of(rig: Rig, pid: int, stranger: int) -> None:
    """Make the store say that the holder of the lock had the stranger's number."""
    with opened_store(rig.home / "store.db") as connection:
        changed = connection.execute("UPDATE holder SET pid = ? WHERE pid = ?", (stranger, pid))
        assert changed.rowcount == 1, "a killed holder leaves its row"


def test_the_number_of_a_killed_run_may_belong_to_a_stranger_who_is_let_alone(
    rig: Rig, stranger: "subprocess.Popen[str]"
) -> None:
    rig.command_agents("long")
    thread = rig.start("--agent", "long")
    put_in_place_of(rig, die(rig, thread), stranger.pid)
    shown = rig.show(thread)
    assert (shown["status"], shown["running"]) == ("suspended", None)
    stopped = rig.uwf("thread", "stop", thread)
    assert stopped.exit_code == 2, "nobody runs it"
    (rig.pids / "enough").touch()
    assert rig.uwf("thread", "exec", thread).exit_code == 0
    assert rig.uwf("thread", "cancel", thread).exit_code == 0
    assert stranger.poll() is None


def test_stop_signals_nobody_where_number_and_start_time_do_not_belong_together(
    rig: Rig, stranger: "subprocess.Popen[str]", monkeypatch: pytest.MonkeyPatch
) -> None:
    """The lock is held while its record names another process than it should."""
    monkeypatch.setattr(control, "STOP_PATIENCE_SECONDS", 0.5)
    rig.command_agents("long")
    thread = rig.start("--agent", "long")
    process = rig.start_uwf("thread", "exec", thread)
    assert eventually(lambda: "I begin" in rig.said(thread))
    put_in_place_of(rig, process.pid, stranger.pid)
    with rig.client() as uwf, pytest.raises(BusyError, match="did not stop"):
        uwf.stop(thread)
    assert stranger.poll() is None
    assert process.poll() is None
    process.send_signal(signal.SIGINT)
    end(process)
    assert stranger.poll() is None


def test_a_marked_stranger_of_another_attempt_is_let_alone(rig: Rig) -> None:
    """What is left of an attempt is found by its mark, to the letter."""
    rig.command_agents("long")
    thread = rig.start("--agent", "long")
    die(rig, thread)
    marks = [f"{thread}/1.2", f"{thread}/1.10", f"{thread}/1.1x", f"x{thread}/1.1", thread]
    others = [
        subprocess.Popen(
            [sys.executable, "-I", "-S", "-c", SLEEP], env={**os.environ, MARKED: mark}
        )
        for mark in marks
    ]
    left = subprocess.Popen(
        [sys.executable, "-I", "-S", "-c", SLEEP],
        env={**os.environ, MARKED: f"{thread}/1.1"},
    )
    rig.play(DONE)
    rig.command_agents("long", graceSeconds=30)
    try:
        assert rig.uwf("thread", "exec", thread, "--agent", "mock").exit_code == 0
        assert left.wait(30) == -signal.SIGTERM, "it bears the mark of the interrupted attempt"
        assert all(is_running(other.pid) for other in others)
    finally:
        for each in (*others, left):
            each.kill()
            each.wait()
