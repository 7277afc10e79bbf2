"""`kill -9` while worktrees are made: the next exec goes on, with one worktree for each thread."""

import shutil
import time
from pathlib import Path

import pytest
from tests.core.calling import descendants
from tests.core.obeying import begin
from tests.core.worktrees import git, worktree_project

from uwf_core.client import Client
from uwf_core.testing.project import Project

POINTS = (
    *("worktree:1", "worktree-made:1"),
    *("calls:1", "committed:2", "commit:3", "node:6", "join:1", "record:2"),
)


def check(project: Project, uwf: Client, root: str) -> None:
    """Each thread with a worktree has that one, its branch, and no other."""
    threads = [root, *descendants(uwf, root)]
    owned = {each for each in threads if uwf.show(each)["worktree"]}
    # A lock file may stay if the event was stored when the process died: `rm` removes it.
    assert {each.name for each in (project.home / "worktrees").glob("[!.]*")} == owned
    branches = git(project.folder, "for-each-ref", "--format=%(refname:short)", "refs/heads/uwf")
    assert set(branches.split()) == {f"uwf/{each}" for each in owned}
    assert len(git(project.folder, "worktree", "list").splitlines()) == 1 + len(owned)
    found = uwf.verify()
    assert found["valid"], found["problems"]


@pytest.mark.parametrize("point", POINTS)
def test_a_thread_that_is_killed_goes_on_with_one_worktree(tmp_path: Path, point: str) -> None:
    project = worktree_project(
        tmp_path, "echo b > b.txt", "echo c > c.txt", workspace="workspace: worktree"
    )
    (project.folder / "mine.txt").write_text("mine\n")
    with project.client() as uwf:
        root = uwf.start("each", "The task.")["thread"]
        crash = {"UWF_TEST_CRASH": point}
        died = project.uwf("thread", "exec", root, "--until-done", env=crash)
        assert died.exit_code != 0, "nothing was killed"
        outcome = uwf.exec(root, until_done=True)
        assert outcome.document["status"] == "completed", outcome.document
        check(project, uwf, root)
        own = project.home / "worktrees" / root
        assert sorted(each.name for each in own.glob("*.txt")) == [
            *("a.txt", "b.txt", "c.txt", "mine.txt")
        ]


SLOW_GIT = """#!/bin/sh
case "$*" in *"worktree add"*) touch "{folder}/begun"; sleep 1.5 ;; esac
exec {git} "$@"
"""


def test_git_of_a_killed_thread_is_waited_for(tmp_path: Path) -> None:
    project = worktree_project(
        tmp_path, "echo b > b.txt", "echo c > c.txt", workspace="workspace: worktree"
    )
    slow = tmp_path / "slow"
    slow.mkdir()
    (slow / "git").write_text(SLOW_GIT.format(folder=slow, git=shutil.which("git")))
    (slow / "git").chmod(0o755)
    project.env["PATH"] = f"{slow}:{project.env['PATH']}"
    with project.client() as uwf:
        root = uwf.start("each", "The task.")["thread"]
        with project.start_uwf("thread", "exec", root) as process:
            while not (slow / "begun").exists():
                assert process.poll() is None, process.communicate()
                time.sleep(0.02)
            process.kill()
        outcome = project.uwf("thread", "exec", root)
        assert outcome.exit_code == 0, outcome.stderr
        assert uwf.show(root)["status"] == "idle", uwf.show(root)
        check(project, uwf, root)


@pytest.mark.parametrize("point", ["worktree:1", "worktree-made:1", "record:1", "committed:3"])
def test_a_branch_that_is_killed_goes_on_with_one_worktree(tmp_path: Path, point: str) -> None:
    project = worktree_project(tmp_path, "echo b > b.txt", says="workspace: worktree")
    with project.client() as uwf:
        root = uwf.start("each", "The task.")["thread"]
        uwf.exec(root)
        begin(project, root)
        [child] = descendants(uwf, root)
        crash = {"UWF_TEST_CRASH": point}
        died = project.uwf("thread", "exec", child, env=crash)
        assert died.exit_code != 0, "nothing was killed"
        assert uwf.exec(root, until_done=True).document["status"] == "completed"
        check(project, uwf, root)
    assert (project.folder / "b.txt").exists()
