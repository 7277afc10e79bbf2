"""What an attempt left behind is found by its marker and ended; nobody else is."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

from uwf_core.process.leftovers import end_leftovers, parse_ps_environments

from .conftest import Runner, eventually, is_running, marked


def start(runner: Runner, name: str, *arguments: object) -> subprocess.Popen[bytes]:
    """A marked process without a reaper, as if that had been killed."""
    return subprocess.Popen(runner.argv(name, *arguments), env=runner.env, stdout=subprocess.PIPE)


def test_every_marked_process_is_ended_and_counted(runner: Runner, tmp_path: Path) -> None:
    with (
        start(runner, "/bin/sleep", 60) as plain,
        start(runner, "daemonise.py", tmp_path / "pid", "stay") as family,
    ):
        assert eventually((tmp_path / "pid").exists)
        daemon = int((tmp_path / "pid").read_text())
        assert end_leftovers(runner.marker, grace_seconds=1.5) == 3
        assert not is_running(daemon)
        assert (plain.wait(30), family.wait(30)) == (-15, -15)
    assert end_leftovers(runner.marker, grace_seconds=0.3) == 0


def test_a_child_that_hides_its_environment_goes_with_its_marked_parent(
    runner: Runner, tmp_path: Path
) -> None:
    child = runner.start("daemonise.py", tmp_path / "pid", "stay", "bare")
    assert eventually((tmp_path / "pid").exists)
    daemon = int((tmp_path / "pid").read_text())
    assert daemon not in marked(runner.marker)
    end_leftovers(runner.marker, grace_seconds=0.1)
    assert not is_running(daemon)
    child.wait()


def test_a_deaf_child_that_hides_its_environment_does_not_outlive_its_marked_parent(
    runner: Runner, tmp_path: Path
) -> None:
    """Its parent ends on SIGTERM, and with it the trace that led to the child."""
    deaf = "trap '' TERM; echo $$ >deaf; exec env -i sleep 60"
    with start(runner, "/bin/sh", "-c", f'cd {tmp_path}; sh -c "$0" & wait', deaf) as parent:
        assert eventually(lambda: (tmp_path / "deaf").exists() and len(marked(runner.marker)) == 1)
        child = int((tmp_path / "deaf").read_text())
        assert end_leftovers(runner.marker, grace_seconds=1.5) == 2
        assert parent.wait(30) == -signal.SIGTERM
        assert not is_running(child)


def test_those_with_another_marker_are_left_alone(runner: Runner) -> None:
    with start(runner, "/bin/sleep", 60) as process:
        assert end_leftovers(runner.marker[:-1], grace_seconds=0.1) == 0
        assert end_leftovers(runner.marker + "0", grace_seconds=0.1) == 0
        assert process.poll() is None
        process.kill()


def test_we_never_end_ourselves_nor_those_above_us(runner: Runner) -> None:
    """An agent may call uwf, which then bears the marker of the attempt it is part of."""
    inner = (
        "import sys, subprocess; from uwf_core.process.leftovers import end_leftovers;"
        "other = subprocess.Popen(['/bin/sleep', '60'], start_new_session=True);"
        "end_leftovers(sys.argv[1], grace_seconds=30);"
        "print('alive', flush=True); other.kill(); other.wait()"
    )
    outer = "import subprocess, sys; sys.exit(subprocess.call(sys.argv[1:]))"
    with start(runner, "/bin/sleep", 60) as sibling:
        done = subprocess.run(
            [sys.executable, "-c", outer, sys.executable, "-c", inner, runner.marker],
            env=runner.env,
            capture_output=True,
            timeout=60,
            check=False,
        )
        assert (done.returncode, done.stdout) == (0, b"alive\n")
        assert sibling.wait(30) == -15


def test_a_process_that_ignores_sigterm_is_killed_after_the_grace(runner: Runner) -> None:
    with start(runner, "stubborn.py") as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"ready\n"
        begin = time.monotonic()
        assert end_leftovers(runner.marker, grace_seconds=0.4) == 1
        assert time.monotonic() - begin >= 0.4
        assert process.wait(30) == -9


def test_what_ps_prints_on_macos_is_understood() -> None:
    text = (
        b"  501 /bin/zsh -l HOME=/Users/a UWF_ATTEMPT=abc TERM=x\n"
        b"  502 vi UWF_ATTEMPT=abcd\n"
        b"  503\n"
    )
    assert parse_ps_environments(text, b"UWF_ATTEMPT=abc") == [501]
    assert os.getpid() not in parse_ps_environments(text, b"UWF_ATTEMPT=abc")
