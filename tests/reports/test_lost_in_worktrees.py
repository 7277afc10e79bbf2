"""Variants of the public reports about worktrees: work that git does not see, or has lost."""

import subprocess

import pytest
from tests.core.worktrees import finished, git, worktree_project
from tests.reports.agents_in_worktrees import (
    OPERATIONS,
    TWO_SIDES,
    agent,
    played,
    prepared,
    worktree_of,
)
from tests.step_parts import session_of

from uwf_core.errors import RoutingFailed

ONLY_CALL = """\
version: 1
name: calls
roles:
  work: {workflow: alone}
graph:
  $START:
    new: {role: work, prompt: Begin.}
    resume: {role: work, prompt: Again.}
  work:
    done: {role: $END, prompt: Done.}
    failed: {role: $END, prompt: Failed.}
"""


MARKS = {
    "commit": f"{TWO_SIDES}; git merge side; git add -A; git commit -qm merged",
    "stash pop": f"{OPERATIONS['unmerged']}; git add -A",
}


@pytest.mark.parametrize("how", MARKS)
def test_marks_of_a_conflict_that_a_role_took_for_files_are_a_notice(tmp_path, how):
    """A variant of core-aix/agitrack #13 (kind: worktrees): git knows no conflict any more."""
    _, _, document = played(tmp_path, MARKS[how])
    assert document["status"] == "completed"
    assert "marks of a conflict are in a.txt" in document["steps"][0]["notices"][-1]


def test_a_name_that_git_refuses_is_a_notice(tmp_path):
    """A variant of gsd-build/gsd-2 #2616 (kind: worktrees)."""
    _, _, document = played(tmp_path, "mkdir .GIT; echo 1 > .GIT/x; echo 1 > b")
    [notice] = document["steps"][0]["notices"]
    assert ".GIT/x (git refuses this name)" in notice


@pytest.mark.parametrize("flag", ["--assume-unchanged", "--skip-worktree"])
def test_a_change_that_git_was_told_not_to_see_is_seen(tmp_path, flag):
    """A variant of `thread-rm-ignored-files` (kind: worktrees)."""
    project, thread, _ = played(tmp_path, f"git update-index {flag} a.txt; echo work > a.txt")
    shown = project.uwf("thread", "diff", thread)
    assert [each["path"] for each in shown.document["files"]] == ["a.txt"]
    with project.client() as uwf:
        own = worktree_of(uwf, thread)
        [kept] = uwf.remove(thread)["worktrees"]
    assert kept["reason"] == "it has uncommitted changes"
    assert (own / "a.txt").read_text() == "work\n"


ELSEWHERE = {
    "HEAD": "git symbolic-ref HEAD refs/heads/main",
    "branch": "b=$(git symbolic-ref HEAD); git checkout -q --detach; git symbolic-ref $b "
    "refs/heads/main",
    "other": "git switch -qc other",
}


@pytest.mark.parametrize("what", ELSEWHERE)
def test_uwf_commits_to_no_branch_of_the_user(tmp_path, what):
    """A variant of anthropics/claude-code #95820 (kind: worktrees)."""
    project = worktree_project(tmp_path, f"{ELSEWHERE[what]}; echo work > work.txt")
    project.workflow("calls", ONLY_CALL)
    git(project.folder, "add", "-A")
    git(project.folder, "commit", "-qm", "workflow")
    before = git(project.folder, "rev-parse", "main")
    with project.client() as uwf:
        root = finished(uwf, "calls")
        child = session_of(uwf.step(uwf.steps(root)[1]["step"]))["id"]
    assert git(project.folder, "rev-parse", "main") == before
    assert git(project.folder, "show", f"uwf/{child}:work.txt") == "work"
    if what == "other":
        assert git(project.folder, "rev-parse", "other") == before


LOST = {
    "pruned": ("rm -r $(git rev-parse --git-dir)", "worktree repair"),
    "garbage": ("echo garbage > .git", "was replaced and is of no repository"),
    "pipe": ("rm .git; mkfifo .git", "was replaced and is of no repository"),
    "deleted branch": ("git update-ref -d $(git symbolic-ref HEAD)", "git update-ref refs/heads/"),
}


@pytest.mark.parametrize("what", LOST)
def test_a_worktree_that_git_has_lost_is_named_with_its_cause_and_the_cure(tmp_path, what):
    """A variant of gsd-build/gsd-2 #2616 (kind: worktrees)."""
    line, cure = LOST[what]
    project, thread, document = played(tmp_path, f"echo work > work.txt; {line}", "true")
    own = project.home / "worktrees" / thread
    assert cure in document["suspendMessage"]
    if what == "deleted branch":
        words = document["suspendMessage"].partition("(")[2].partition(")")[0].split()
        subprocess.run(words, cwd=own, check=True)
    elif what != "pruned":
        (own / ".git").rename(tmp_path / "other.git")
    if what != "pruned":
        with project.client() as uwf:
            assert uwf.exec(thread, until_done=True).document["status"] == "completed"
    assert (own / "work.txt").read_text() == "work\n"


def test_a_worktree_whose_repository_was_moved_goes_on_after_the_command_that_is_named(tmp_path):
    """A variant of gsd-build/gsd-2 #2616 (kind: worktrees)."""
    project, thread, document = played(tmp_path, "true", status="asks")
    assert document["status"] == "suspended"
    own, moved = project.home / "worktrees" / thread, tmp_path / "moved"
    project.folder.rename(moved)
    project.folder.mkdir()
    with project.client() as uwf:
        with pytest.raises(RoutingFailed, match=f"git -C REPOSITORY worktree repair {own}"):
            uwf.resume(thread, "Go on.")
        git(moved, "worktree", "repair", str(own))
        agent(tmp_path, "echo 1 > b")
        assert uwf.resume(thread, "Go on.").document["status"] == "completed"


@pytest.mark.parametrize("status", ["done", "asks"])
def test_notices_are_shown_at_the_end_of_a_run_and_with_the_thread(tmp_path, status):
    """A variant of bobmatnyc/trusty-tools #4730 (kind: worktrees)."""
    project = prepared(tmp_path)
    program = agent(tmp_path, "git tag v1", status=status)
    words = ("run", "agent", "-p", "Go.", "--agent", program, "--format", "text")
    ran = " ".join(project.uwf(*words).stdout.split())
    assert ran.count("refs/tags/v1") == 1
    shown = project.uwf("thread", "show", "@last")
    assert "refs/tags/v1" in shown.document["notices"][0]
    text = project.uwf("thread", "show", "@last", "--format", "text").stdout
    assert "refs/tags/v1" in " ".join(text.split())


def test_commits_that_are_left_on_no_branch_are_a_notice_and_kept(tmp_path):
    """A variant of bobmatnyc/trusty-tools #4730 (kind: worktrees)."""
    leave = "git checkout -q --detach; echo 1 > w; git add w; git commit -qm w; git checkout -q -"
    rewrite = "git commit -q --allow-empty -m x; git commit -q --amend --allow-empty -m y"
    project, thread, document = played(tmp_path, f"{rewrite}; {leave}")
    [notice] = document["steps"][0]["notices"]
    commit = notice.partition("git branch NAME ")[2].partition("`")[0]
    own = project.home / "worktrees" / thread
    assert git(own, "show", f"{commit}:w") == "1"
    with project.client() as uwf:
        [kept] = uwf.remove(thread)["worktrees"]
        assert f"commits that no branch has: {commit}" in str(kept["reason"])
        git(own, "branch", "kept", commit)
