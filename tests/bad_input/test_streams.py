"""Readers that leave, streams that are closed, folders that are gone, an environment that is
empty: what a shell can do to a command.
"""

import os
import shlex
import subprocess
from collections.abc import Iterator

import pytest
from refusals import World
from rig import DONE, GOOD, SECONDS


@pytest.fixture
def done(rig: World) -> Iterator[str]:
    """A thread that has much to show."""
    rig.play({**DONE, "body": "word " * 60_000}, GOOD)
    thread = rig.start()
    assert rig.uwf("thread", "exec", thread).exit_code == 0
    return thread


def shell(rig: World, script: str, **env: str) -> "subprocess.CompletedProcess[str]":
    """Run a shell script in which `uwf` is the command."""
    uwf = shlex.join(rig.command())
    return subprocess.run(
        ["/bin/bash", "-c", f'uwf() {{ {uwf} "$@"; }}\n{script}'],
        cwd=rig.folder,
        env={**rig.env, **env},
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )


def test_a_reader_that_leaves_early_is_nobodys_fault(rig: World, done: str) -> None:
    for words in (f"thread read {done} --quota 9999999", "thread list", f"step turns {done}"):
        ended = shell(rig, f"uwf {words} | head -c 1; exit ${{PIPESTATUS[0]}}")
        assert (ended.returncode, ended.stderr) == (0, ""), words


@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-", "<&- >&-", "<&- >&- 2>&-"])
def test_a_step_is_taken_whatever_stream_is_closed(rig: World, done: str, closed: str) -> None:
    rig.command_agents("kids")
    ended = shell(rig, f"uwf thread exec {done} --agent kids {closed}")
    assert ended.returncode == 0, ended.stderr
    assert "Traceback" not in ended.stderr
    assert rig.show(done)["steps"] == 2


def test_a_step_is_kept_where_its_result_cannot_be_printed(rig: World, done: str) -> None:
    ended = shell(rig, f"uwf thread exec {done} > /dev/full")
    assert ended.returncode == 1
    assert "No space left" in ended.stderr
    assert "Traceback" not in ended.stderr
    assert rig.show(done)["status"] == "completed"


def test_a_prompt_from_a_closed_stdin_is_an_error(rig: World) -> None:
    ended = shell(rig, "uwf thread start loop -p - <&-")
    assert ended.returncode == 2
    assert "stdin" in ended.stderr
    assert "Traceback" not in ended.stderr
    assert not rig.home.exists()


def test_without_a_home_it_is_said_what_to_set(rig: World) -> None:
    for words in ("thread list", "run loop -p x", "config show"):
        ended = shell(rig, f"unset HOME UWF_HOME; uwf {words}")
        assert (ended.returncode, ended.stdout) == (2, "")
        assert "UWF_HOME" in ended.stderr
        assert "Traceback" not in ended.stderr
    assert shell(rig, "unset HOME UWF_HOME; uwf --help").returncode == 0
    assert shell(rig, "unset HOME; uwf thread list").returncode == 0


def test_an_empty_environment_is_enough(rig: World) -> None:
    uwf = shlex.join(rig.command())
    ended = shell(rig, f"env -i UWF_HOME={rig.home} {uwf} thread list")
    assert (ended.returncode, ended.stderr) == (0, "")


def test_in_a_folder_that_is_gone_what_needs_none_still_works(rig: World, done: str) -> None:
    gone = "mkdir ../gone && cd ../gone && rmdir ../gone"
    for words in ("thread start loop -p x", "run loop -p x", "workflow list"):
        ended = shell(rig, f"{gone} && uwf {words}")
        assert ended.returncode == 2, ended
        assert "folder" in ended.stderr
        assert "Traceback" not in ended.stderr
    assert shell(rig, f"{gone} && uwf --version").returncode == 0


def test_a_terminal_without_utf_8_breaks_nothing(rig: World) -> None:
    rig.play({**DONE, "body": "grün 🙂"}, GOOD)
    ended = shell(rig, "uwf run loop -p 'grün 🙂' --format text", LC_ALL="C")
    assert ended.returncode == 0, ended.stderr
    assert "Traceback" not in ended.stderr
    ended = shell(rig, "uwf thread read @last", LC_ALL="C", PYTHONIOENCODING="ascii")
    assert ended.returncode == 0, ended.stderr


def test_bytes_that_are_no_text_are_refused_as_arguments(rig: World) -> None:
    for words in ("thread show $'\\xff'", "thread start loop -p $'caf\\xe9'"):
        ended = shell(rig, f"uwf {words}")
        assert ended.returncode == 2
        assert "UTF-8" in ended.stderr
        assert "Traceback" not in ended.stderr
    assert not os.path.lexists(rig.home)
