"""Public reports about git worktrees of agents, played with real git and real processes."""

from pathlib import Path

import pytest
from tests.core.worktrees import finished, git, worktree_project


def suspended(project, workflow: str = "alone") -> str:
    """The message with which a thread stops."""
    with project.client() as uwf:
        thread = uwf.start(workflow, "The task.")["thread"]
        document = uwf.exec(thread, until_done=True).document
    assert document["status"] == "suspended", document
    return str(document["suspendMessage"])


@pytest.mark.parametrize("name", ["uwf", "uwf-packed"])
def test_a_branch_in_the_place_of_ours_is_named_with_the_cure(tmp_path, name):
    """notdp/worktree.sh #3, kortix-ai/suna #3316, jwbron/egg #2037 (kind: worktrees)."""
    project = worktree_project(tmp_path, "true")
    git(project.folder, "branch", "uwf")
    if name == "uwf-packed":
        git(project.folder, "pack-refs", "--all")
    message = suspended(project)
    assert f"git -C {project.folder} branch -m uwf NAME" in message
    git(project.folder, "branch", "-m", "uwf", "mine")
    with project.client() as uwf:
        finished(uwf)


def test_a_missing_filter_is_named(tmp_path):
    """PostHog/code #1729, microsoft/vscode #325591, gastownhall/gastown #1928 (kind: worktrees)."""
    project = worktree_project(tmp_path, "true")
    at = project.folder
    (at / ".gitattributes").write_text("*.bin filter=large\n")
    (at / "big.bin").write_text("version 1\n")
    git(at, "add", "-A")
    git(at, "commit", "-qm", "large")
    for what in ("process", "smudge", "clean"):
        git(at, "config", f"filter.large.{what}", f"filter-of-elsewhere {what}")
    git(at, "config", "filter.large.required", "true")
    assert "filter-of-elsewhere: not found" in suspended(project)


@pytest.mark.parametrize(
    "setting", ["diff.noprefix=true", "diff.mnemonicPrefix=true", "diff.external=false"]
)
def test_a_printed_patch_applies_whatever_git_is_set_to(tmp_path, setting, monkeypatch):
    """Found while using uwf (kind: worktrees)."""
    line = "mkdir sub; echo draft > sub/draft.txt; printf '\\351\\r\\n' > sub/latin; git add -A"
    project = worktree_project(tmp_path, line)
    name, value = setting.split("=")
    git(project.folder, "config", name, value)
    with project.client() as uwf:
        thread = finished(uwf)
    patch = project.folder.parent / "work.patch"
    shown = project.uwf("thread", "diff", thread, "--format", "text")
    assert f"uwf thread diff {thread} -o work.patch" in shown.stderr
    assert "+++ b/sub/draft.txt" in shown.stdout
    done = project.uwf("thread", "diff", thread, "-o", str(patch))
    assert done.exit_code == 1, "there is a change"
    git(project.folder, "apply", "--whitespace=nowarn", str(patch))
    assert (project.folder / "sub" / "draft.txt").read_text() == "draft\n"
    assert Path(project.folder, "sub", "latin").read_bytes() == b"\xe9\r\n"
