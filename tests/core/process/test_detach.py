"""Background programs go on when their parent ends."""

import os
import pty
import signal
import sys
import time
from pathlib import Path

import pytest

from uwf_core.errors import BadRequest, Unavailable
from uwf_core.process.detach import start_detached
from uwf_core.process.identity import ProcessId, send_signal

from .conftest import Runner, eventually, is_running, open_files

PYTHON = (sys.executable, "-I", "-S", "-c")


def test_a_detached_program_outlives_the_death_of_its_parent(runner: Runner) -> None:
    engine = runner.engine("detach", "/bin/sleep", 60)
    assert engine.stdout is not None
    _, pid, _ = engine.stdout.readline().split()
    engine.kill()
    engine.wait()
    engine.stdout.close()
    time.sleep(0.2)
    assert is_running(int(pid))
    child = ProcessId.of(int(pid))
    assert child is not None
    assert send_signal(child, 9)


def test_it_has_no_terminal_no_open_files_and_a_session_of_its_own(
    runner: Runner, tmp_path: Path
) -> None:
    held = os.open(os.devnull, os.O_RDONLY)
    os.set_inheritable(held, True)
    read, write = os.pipe()
    script = (
        "import os, sys; print(os.getsid(0) == os.getpid(), os.readlink('/proc/self/fd/0'),"
        "sorted(map(int, os.listdir('/proc/self/fd')))); print('err', file=sys.stderr);"
        f"os.write({write}, b'passed'); os.close({write})"
    )
    out, err = tmp_path / "out", tmp_path / "err"
    child = start_detached(
        [*PYTHON, script],
        cwd=str(tmp_path),
        env=runner.env,
        stdout_path=str(out),
        stderr_path=str(err),
        pass_fds=(write,),
    )
    os.close(write)
    assert os.read(read, 100) == b"passed"
    assert os.read(read, 100) == b""
    os.close(read)
    os.close(held)
    assert eventually(lambda: not child.is_alive())
    listing = min({3, 4, 5} - {write})
    assert out.read_text() == f"True /dev/null {sorted([0, 1, 2, write, listing])}\n"
    assert err.read_text() == "err\n"
    assert {path.stat().st_mode & 0o777 for path in (out, err)} == {0o600}


def test_its_end_leaves_no_zombie_while_the_parent_goes_on(runner: Runner) -> None:
    child = start_detached(["/bin/true"], cwd="/", env=runner.env)
    assert eventually(lambda: ProcessId.of(child.pid) is None)


def test_what_cannot_be_started_is_refused_with_its_cause(runner: Runner, tmp_path: Path) -> None:
    before = open_files()
    with pytest.raises(Unavailable, match="no-such-program"):
        start_detached(["no-such-program"], cwd="/", env=runner.env)
    with pytest.raises(Unavailable, match="/nowhere"):
        start_detached(["/bin/true"], cwd="/nowhere", env=runner.env)
    with pytest.raises(BadRequest, match="NUL"):
        start_detached(["/bin/true", "\0"], cwd="/", env=runner.env)
    broken = tmp_path / "broken"
    broken.write_text("#!/nowhere/sh\n")
    broken.chmod(0o755)
    with pytest.raises(Unavailable, match="interpreter '/nowhere/sh'"):
        start_detached([str(broken)], cwd="/", env=runner.env)
    with pytest.raises(FileNotFoundError, match="/nowhere/log"):
        start_detached(["/bin/true"], cwd="/", env=runner.env, stderr_path="/nowhere/log")
    assert open_files() == before


def test_a_hang_up_of_the_terminal_does_not_reach_it(runner: Runner) -> None:
    """The terminal's end sends SIGHUP to its session; the detached program is in another one."""
    master, slave = pty.openpty()
    engine = runner.engine("terminal detach", "/bin/sleep", 60, stdin=slave, start_new_session=True)
    os.close(slave)
    assert engine.stdout is not None
    _, pid, _ = engine.stdout.readline().split()
    os.close(master)
    assert engine.wait(30) == -signal.SIGHUP
    engine.stdout.close()
    time.sleep(0.2)
    child = ProcessId.of(int(pid))
    assert child is not None
    assert child.is_alive()
    assert send_signal(child, 9)
