"""Git that hangs: each command has an end, and a cancelled run does not wait for it."""

import os
import threading
import time
from pathlib import Path

import pytest

from uwf_core.client import Cancel
from uwf_core.process import git
from uwf_core.process.git import GitStopped, ask_git, own_git, user_git

from .conftest import eventually, is_running

HANGS = """#!/bin/sh
echo $$ > {folder}/git
sleep 600 &
echo $! > {folder}/filter
wait
"""


@pytest.fixture
def hanging(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a git that hangs, and so does what it has started."""
    program = tmp_path / "git"
    program.write_text(HANGS.format(folder=tmp_path / "pids"))
    program.chmod(0o755)
    (tmp_path / "pids").mkdir()
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    return tmp_path / "pids"


def all_gone(pids: Path) -> bool:
    return not any(is_running(int(each.read_text())) for each in pids.iterdir())


@pytest.mark.parametrize("call", [own_git, user_git])
def test_a_git_that_hangs_is_killed_at_its_limit_with_all_that_it_started(
    hanging, monkeypatch, call
):
    monkeypatch.setattr(git, "GIT_SECONDS", 0.5)
    with pytest.raises(GitStopped, match=r"git status did not end within 0\.5 s"):
        call("/", "-c", "a.b=c", "status")
    assert eventually(lambda: all_gone(hanging))


def test_a_question_that_hangs_has_no_answer(hanging, monkeypatch):
    monkeypatch.setattr(git, "_ASK_SECONDS", 0.3)
    assert ask_git("/", "rev-parse") is None
    assert eventually(lambda: all_gone(hanging))


def test_a_cancelled_run_gives_its_gits_one_second_together(hanging):
    cancel = Cancel()
    threading.Timer(0.3, lambda: cancel.set("stopped by a signal")).start()
    begin = time.monotonic()
    with cancel.governing():
        for _ in range(3):
            with pytest.raises(GitStopped, match="git status was stopped: stopped by a signal"):
                own_git("/", "status")
    assert 1 < time.monotonic() - begin < 5
    assert eventually(lambda: all_gone(hanging))


def test_an_agent_that_needs_long_to_end_leaves_that_second_to_git(hanging):
    cancel = Cancel()
    cancel.set("stopped by a signal")
    time.sleep(1.2)
    begin = time.monotonic()
    with cancel.governing(), pytest.raises(GitStopped):
        own_git("/", "status")
    assert time.monotonic() - begin > 0.9


def test_a_process_that_ends_at_once_kills_the_gits_of_its_run(hanging):
    cancel = Cancel()

    def work() -> None:
        with cancel.governing(), pytest.raises(git.GitFailed):
            own_git("/", "status")

    thread = threading.Thread(target=work)
    thread.start()
    assert eventually(lambda: len([*hanging.iterdir()]) == 2)
    cancel.kill_groups()
    thread.join(20)
    assert eventually(lambda: all_gone(hanging))


@pytest.mark.parametrize("size", [1, 70_000, 3_000_000])
def test_what_git_reads_may_have_any_size(tmp_path, monkeypatch, size):
    """A pipe takes less, and git may take longer than a tick to read it."""
    slow = tmp_path / "git"
    slow.write_text("#!/bin/sh\nsleep 0.3\nexec cat\n")
    slow.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    assert own_git("/", "hash-object", stdin=b"x" * size) == b"x" * size
