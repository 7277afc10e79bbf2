"""Whole trees end, whoever dies first: the program, its reaper or uwf."""

import os
import pty
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from uwf_core.process import pump, reaper
from uwf_core.process.program import ChildProgram, End

from .conftest import Runner, eventually, is_running, marked


def parent_of(pid: int) -> int:
    return int(Path(f"/proc/{pid}/stat").read_bytes().rpartition(b") ")[2].split()[1])


def state_of(pid: int) -> str:
    return Path(f"/proc/{pid}/stat").read_bytes().rpartition(b") ")[2][:1].decode()


def daemon_of(file: Path) -> int:
    assert eventually(file.exists)
    return int(file.read_text())


def first_words(engine: subprocess.Popen[str]) -> list[str]:
    assert engine.stdout is not None
    return engine.stdout.readline().split()


def kill_and_close(engine: subprocess.Popen[str]) -> None:
    engine.kill()
    engine.wait()
    assert engine.stdout is not None
    engine.stdout.close()


@pytest.mark.parametrize("words", [(), ("quiet",), ("bare",)])
def test_a_daemon_left_behind_is_gone_when_the_program_has_ended(
    runner: Runner, tmp_path: Path, words: tuple[str, ...]
) -> None:
    """Daemonised, deaf to SIGTERM, with stdout held open or not, with or without our marker."""
    result = runner.run("daemonise.py", tmp_path / "pid", *words, grace_seconds=0.1)
    assert (result.exit_code, result.end) == (0, End.EXITED)
    assert result.stdout == b"daemon is up\n"
    assert not is_running(daemon_of(tmp_path / "pid"))
    assert result.duration_ms < 30_000, "its end is not the one of the daemon"


def test_a_daemon_left_behind_is_gone_after_a_stop(runner: Runner, tmp_path: Path) -> None:
    child = runner.start("daemonise.py", tmp_path / "pid", "stay", "bare", grace_seconds=0.3)
    daemon = daemon_of(tmp_path / "pid")
    child.stop()
    assert not is_running(daemon)
    assert not child.identity.is_alive()


@pytest.mark.parametrize("words", [("stay",), ("stay", "bare", "quiet")])
def test_kill_9_of_uwf_takes_the_daemons_of_its_agent_with_it(
    runner: Runner, tmp_path: Path, words: tuple[str, ...]
) -> None:
    engine = runner.engine("", "daemonise.py", tmp_path / "pid", *words)
    _, leader, above = first_words(engine)
    daemon = daemon_of(tmp_path / "pid")
    kill_and_close(engine)
    pids = [int(leader), int(above), daemon]
    assert eventually(lambda: not any(is_running(each) for each in pids))


def test_kill_9_of_uwf_ends_a_program_that_ignores_sigterm(runner: Runner) -> None:
    engine = runner.engine("", "stubborn.py")
    _, leader, above = first_words(engine)
    assert first_words(engine) == ["said", "ready"]
    kill_and_close(engine)
    assert eventually(lambda: not (is_running(int(leader)) or is_running(int(above))))


def test_kill_9_of_uwf_ends_both_of_two_programs(runner: Runner) -> None:
    engine = runner.engine("two", "/bin/sleep", 60)
    pids = [int(pid) for _ in range(2) for pid in first_words(engine)[1:]]
    kill_and_close(engine)
    assert eventually(lambda: not any(is_running(each) for each in pids))


def test_uwf_killed_at_any_moment_of_a_start_leaves_nothing(runner: Runner) -> None:
    """Between Popen and exec too: the reaper starts nothing unless its order is whole."""
    moments = random.Random(7)
    for _ in range(6):
        engine = runner.engine("", "/bin/sleep", 61)
        time.sleep(0.05 + moments.random() * 0.12)
        kill_and_close(engine)
    assert eventually(lambda: not marked(runner.marker))


def test_a_reaper_whose_order_is_cut_starts_nothing(tmp_path: Path) -> None:
    order = reaper.Order(os.getpid(), 1, 0)
    order.path, order.argv = b"/usr/bin/touch", [b"touch", b"was-here"]
    order.cwd = os.fsencode(tmp_path)
    read, write = os.pipe()
    status, their_status = os.pipe()
    with subprocess.Popen(
        [sys.executable, "-I", "-S", reaper.__file__, str(read), str(their_status)],
        pass_fds=(read, their_status),
    ) as process:
        os.close(read)
        os.close(their_status)
        os.write(write, order.encode()[:-3])
        os.close(write)
        assert process.wait(60) == 0
    assert os.read(status, 100) == b""
    os.close(status)
    assert not (tmp_path / "was-here").exists()


def test_no_reaper_holds_the_lifeline_of_another(runner: Runner) -> None:
    """Else a tree would outlive uwf for as long as another one does."""
    before = pipes_of(os.getpid())
    with runner.start("/bin/sleep", "60", stdin=None):
        ours = pipes_of(os.getpid()) - before
        with runner.start("/bin/sleep", "60") as second:
            assert len(ours) >= 5
            assert not ours & pipes_of(parent_of(second.identity.pid))
            assert len(pipes_of(second.identity.pid)) == 2  # stdout and stderr


def pipes_of(pid: int) -> set[str]:
    links = [
        str(each.readlink()) for each in Path(f"/proc/{pid}/fd").iterdir() if each.is_symlink()
    ]
    return {link for link in links if link.startswith("pipe:")}


def test_a_program_that_ignores_sigterm_is_killed_after_the_grace(runner: Runner) -> None:
    child = runner.start("stubborn.py", grace_seconds=0.4)
    assert next(child.lines()) == b"ready"
    start = time.monotonic()
    child.stop()
    assert time.monotonic() - start >= 0.4
    assert (child.wait().exit_code, child.wait().end) == (-9, End.CANCELLED)


def test_a_stopped_program_is_ended_by_sigterm(runner: Runner) -> None:
    child = runner.start("/bin/sh", "-c", "kill -STOP $$; sleep 60", grace_seconds=60)
    assert eventually(lambda: state_of(child.identity.pid) == "T")
    child.stop()
    assert child.wait().exit_code == -15


def test_who_runs_away_by_forking_is_caught(runner: Runner) -> None:
    child = runner.start("runaway.py")
    start = time.monotonic()
    child.wait()
    assert time.monotonic() - start < 30
    assert marked(runner.marker) == []


def test_terminating_the_reaper_ends_its_tree(runner: Runner, tmp_path: Path) -> None:
    for number in (signal.SIGTERM, signal.SIGINT):
        file = tmp_path / f"pid{number}"
        child = runner.start("daemonise.py", file, "stay", "bare", grace_seconds=1.5)
        daemon = daemon_of(file)
        os.kill(parent_of(child.identity.pid), number)
        result = child.wait()
        assert (result.exit_code, result.end) == (-15, End.EXITED)
        assert not is_running(daemon)


def test_killing_the_reaper_ends_its_tree_as_well(runner: Runner, tmp_path: Path) -> None:
    child = runner.start("daemonise.py", tmp_path / "pid", "stay", "quiet")
    daemon = daemon_of(tmp_path / "pid")
    os.kill(parent_of(child.identity.pid), signal.SIGKILL)
    result = child.wait()
    assert (result.exit_code, result.end) == (-9, End.EXITED)
    assert not is_running(daemon)
    assert not child.identity.is_alive()


def test_killing_the_reaper_ends_the_programs_session_even_unmarked(runner: Runner) -> None:
    script = "sleep 60 & echo $!; sleep 60"
    child = runner.start("/bin/sh", "-c", script, env={"PATH": os.defpath})
    below = int(next(child.lines()))
    os.kill(parent_of(child.identity.pid), signal.SIGKILL)
    assert child.wait().exit_code == -9
    assert not (is_running(below) or child.identity.is_alive())


def test_a_reaper_that_does_not_answer_does_not_hang_the_wait(
    runner: Runner, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pump, "KILL_SECONDS", 0)
    monkeypatch.setattr(pump, "_REAPER_SLACK_SECONDS", 0.2)
    child: ChildProgram = runner.start(
        "daemonise.py", tmp_path / "pid", "stay", "bare", grace_seconds=0.05
    )
    daemon = daemon_of(tmp_path / "pid")
    above = parent_of(child.identity.pid)
    os.kill(above, signal.SIGSTOP)
    child.stop()
    assert child.wait().end is End.CANCELLED
    assert eventually(lambda: not any(is_running(pid) for pid in (daemon, above)))


def test_ctrl_c_reaches_uwf_and_not_its_agent(runner: Runner, tmp_path: Path) -> None:
    """A terminal's SIGINT goes to its foreground group; reaper and agent are in other sessions."""
    master, slave = pty.openpty()
    file = tmp_path / "signals"
    engine = runner.engine(
        "terminal", "signals.py", file, "SIGTERM", stdin=slave, start_new_session=True
    )
    os.close(slave)
    _, leader, above = first_words(engine)
    assert len({os.getsid(each) for each in (engine.pid, int(leader), int(above))}) == 3
    assert first_words(engine) == ["said", "ready"]
    os.write(master, b"\x03")
    assert first_words(engine) == ["ended", "cancelled", "0"]
    assert file.read_text().split() == ["SIGTERM"]
    kill_and_close(engine)
    os.close(master)
