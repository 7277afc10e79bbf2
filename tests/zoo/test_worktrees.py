"""Worktrees in every repository of the zoo: with agents that do nothing, nothing of the user's
changes but entries of worktrees, objects, and branches `uwf/…`; and no work is lost.
"""

from pathlib import Path

import pytest
from tests.core.worktrees import git, worktree_project
from tests.zoo.repositories import ZOO, Animal, bytes_below

PROGRAM = """\
    program: {argv: [sh, -c, LINE], statuses: {0: done}}
    frontmatter: {properties: {$status: {const: done}}, required: [$status]}
"""
ALL = f"""\
version: 1
name: all
workspace: worktree
roles:
  first:
{PROGRAM}
  one:
{PROGRAM}
  two:
{PROGRAM}
  called: {{workflow: lone}}
graph:
  $START:
    new: {{role: first, prompt: Begin.}}
    resume: {{role: first, prompt: Again.}}
  first:
    done:
      parallel:
        a: {{role: one, prompt: One.}}
        b: {{role: two, prompt: Two.}}
      then:
        done: {{role: called, prompt: Call.}}
        $mixed: {{role: $END, prompt: Mixed.}}
  called:
    done: {{role: $END, prompt: Done.}}
"""
LONE = f"""\
version: 1
name: lone
workspace: worktree
roles:
  only:
{PROGRAM}
graph:
  $START:
    new: {{role: only, prompt: Begin.}}
    resume: {{role: only, prompt: Again.}}
  only:
    done: {{role: $END, prompt: Done.}}
"""
OURS = ("objects/", "worktrees/01", "refs/heads/uwf/")


class Visit:
    """A repository of the zoo, with a home of uwf beside it."""

    def __init__(self, root: Path, animal: Animal, line: str = "true") -> None:
        self.root = root / "zoo"
        self.at = animal.make(self.root / "project")
        self.project = worktree_project(root / "uwf", "true")
        for name, text in (("lone", LONE), ("all", ALL)):
            self.project.workflow(name, text.replace("LINE", f'"{line}"'))
        self.project.trust(self.at)

    def bytes(self) -> dict[str, bytes | str]:
        return bytes_below(self.root, *OURS)

    def run(self, workflow: str):
        with self.project.client() as uwf:
            thread = uwf.start(workflow, "Go.", cwd=str(self.at))["thread"]
            return thread, uwf.exec(thread, until_done=True).document


@pytest.mark.parametrize("workflow", ["lone", "all"])
@pytest.mark.parametrize("name", ZOO)
def test_agents_that_do_nothing_change_nothing(tmp_path, monkeypatch, name, workflow):
    animal = ZOO[name]
    visit = Visit(tmp_path, animal)
    before = visit.bytes()
    for variable, value in animal.env.items():
        monkeypatch.setenv(variable, value)
    thread, document = visit.run(workflow)
    assert visit.bytes() == before
    if animal.rejected is not None:
        assert document["status"] == "suspended", document
        [step] = document["steps"]
        assert step["failure"]["kind"] == "routing"
        assert animal.rejected in document["suspendMessage"]
        return
    assert document["status"] == "completed", document
    assert not [each for step in document["steps"] for each in step["notices"]]
    with visit.project.client() as uwf:
        removed = uwf.remove(thread)["worktrees"]
    assert [each["reason"] for each in removed] == [None] * len(removed), "nothing was kept"
    assert visit.bytes() == before
    assert not (visit.root / "hooked").exists()


@pytest.mark.parametrize("name", [name for name, each in ZOO.items() if each.rejected is None])
def test_the_worktree_has_the_files_of_the_user_and_the_branch_those_of_the_role(tmp_path, name):
    animal = ZOO[name]
    visit = Visit(tmp_path, animal, "echo made > made.txt; echo >> a.txt; echo more >> a.txt")
    before, top = visit.bytes(), Path(visit.at)
    if name == "subfolder":
        top = visit.at.parent
    files = {
        path: each.replace(b"\r\n", b"\n") if isinstance(each, bytes) else each
        for path, each in bytes_below(top, ".git/", "/.git/").items()
        if not path.startswith((".git", *animal.hidden)) or path == ".gitattributes"
    }
    thread, document = visit.run("lone")
    assert document["status"] == "completed", document
    own = visit.project.home / "worktrees" / thread
    found = {
        path: each.replace(b"\r\n", b"\n") if isinstance(each, bytes) else each
        for path, each in bytes_below(own).items()
        if not path.startswith((".git", *animal.hidden)) or path == ".gitattributes"
    }
    changed = {path for path in {*files, *found} if files.get(path) != found.get(path)}
    inside = "sub dir/" if name == "subfolder" else ""
    assert changed == {f"{inside}made.txt", f"{inside}a.txt"}
    assert git(own, "rev-parse", "--show-toplevel") == str(own)
    assert visit.bytes() == before
