"""Recorded files and forks with files, in every repository of the zoo: nothing of the user's
changes, and a fork has the files that the step left.
"""

from pathlib import Path

import pytest
from tests.core.worktrees import worktree_project
from tests.step_parts import workspace_of
from tests.zoo.repositories import ZOO, bytes_below

RECORDED = """\
version: 1
name: recorded
record: true
roles:
  only:
    program: {argv: [sh, -c, "echo made > made.txt"], statuses: {0: done}}
    frontmatter: {properties: {$status: {const: done}}, required: [$status]}
graph:
  $START:
    new: {role: only, prompt: Begin.}
    resume: {role: only, prompt: Again.}
  only:
    done: {role: $END, prompt: Done.}
"""
OURS = ("objects/", "worktrees/fork/", "refs/heads/uwf/")
LEFT_OUT = {"refused": (".GIT/", "deep/.Git/", "deep/pipe"), "special_files": ("pipe", "socket")}
"""What cannot be recorded, by repository."""
NESTED = {
    "submodule": ("sub/",),
    "nested": ("inside/one/", "none/"),
    "worktree_inside": ("trees/side/",),
}

NO_WORKTREE = ("filter_missing", "branch_uwf")
"""Of which git can make no worktree, so that a fork has no folder."""


@pytest.mark.parametrize("name", ZOO)
def test_files_are_recorded_and_a_fork_has_them(tmp_path, monkeypatch, name):
    animal = ZOO[name]
    root, copy = tmp_path / "zoo", tmp_path / "fork"
    at = animal.make(root / "project")
    project = worktree_project(tmp_path / "uwf", "true")
    project.workflow("recorded", RECORDED)
    project.trust(at)
    inside = "sub dir" if name == "subfolder" else ""
    top = at.parent if inside else at
    before = bytes_below(root, *OURS)
    for variable, value in animal.env.items():
        monkeypatch.setenv(variable, value)
    with project.client() as uwf:
        thread = uwf.start("recorded", "Go.", cwd=str(at))["thread"]
        document = uwf.exec(thread, until_done=True).document
        assert document["status"] == "completed", document
        recorded = workspace_of(uwf.step(document["steps"][0]["step"]))
    assert recorded["folder"] == str(top)
    reason = recorded["after"]["reason"]
    assert reason is None or all(each.rstrip("/") in reason for each in LEFT_OUT[name]), reason
    assert (reason is None) == (name not in LEFT_OUT)
    made = str((at / "made.txt").relative_to(root))
    after = bytes_below(root, *OURS)
    assert after.pop(made) == b"made\n"
    assert after == before
    forked = project.uwf("thread", "fork", document["steps"][0]["step"], "--with-files", str(copy))
    after = bytes_below(root, *OURS)
    assert after.pop(made) == b"made\n"
    assert after == before
    if name in NO_WORKTREE:
        assert forked.exit_code == 1 and str(animal.rejected) in forked.stderr
        assert not copy.exists()
        return
    assert forked.exit_code == 0, forked.stderr
    lost = (*LEFT_OUT.get(name, ()), *NESTED.get(name, ()))
    files = _files(top, lost)
    assert _files(copy, ()) == files


def _files(top: Path, without: tuple[str, ...]) -> dict[str, bytes | str]:
    found = bytes_below(top, "/.git/")
    return {
        path: each for path, each in found.items() if not f"{path}/".startswith((".git/", *without))
    }
