"""The worktree of a thread goes to another machine, with the files of its last step."""

import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from test_dispatch import DONE
from test_sessions import moved  # noqa: F401
from tests.core.worktrees import git

from uwf_core.client import Cancel, Client
from uwf_core.errors import UsageError
from uwf_core.ids import ThreadId
from uwf_core.testing.mock import MockAgent
from uwf_core.testing.project import Project
from uwf_core.thread.head import read_head
from uwf_core.thread.names import files_prefix
from uwf_core.thread.own_variables import own_variables

THREE = """\
version: 1
name: three
workspace: worktree
record: true
roles:
  first: &role
    goal: Do it.
    procedure: Do it.
    output: A status.
    frontmatter: {type: object, properties: {$status: {const: done}}, required: [$status]}
  second: *role
  third: *role
graph:
  $START: {new: {role: first, prompt: Begin.}, resume: {role: first, prompt: More.}}
  first: {done: {role: second, prompt: Go on.}}
  second: {done: {role: third, prompt: Go on.}}
  third: {done: {role: $END, prompt: Done.}}
"""
SECRET = "sk-test-0123456789abcdef"


class Machines:
    """Two machines with homes of their own, one store, and a clone of a repository at one path."""

    def __init__(self, root: Path, url: str, move: Callable[[str], None]) -> None:
        self._root, self._url, self._move = root, url, move
        self.folder = root / "vm" / "project"
        self._at = ""
        first = self._project("vm")
        (first.folder / "a.txt").write_text("one\n")
        (first.folder / "gone.txt").write_text("gone\n")
        (first.folder / "run.sh").write_text("echo\n")
        for words in (("init", "-q"), ("add", "-A"), ("commit", "-q", "-m", "first")):
            git(self.folder, *words)
        subprocess.run(["git", "clone", "-q", self.folder, root / "clone"], check=True)

    def _project(self, name: str) -> Project:
        made = Project(self._root / "vm")
        made.home = self._root / name / "home"
        made.env |= {"UWF_STORE": self._url, "UWF_HOME": str(made.home), "DEMO_API_KEY": SECRET}
        made.workflow("three", THREE)
        made.script([{"role": role, "output": DONE} for role in ("first", "second", "third")],
                    by_role=True)  # fmt: skip
        return made

    def at(self, name: str) -> Client:
        """A client on a machine: the repository at the path is its clone from now on."""
        if self._at and name != self._at:
            self.folder.rename(self._root / f"of-{self._at}")
            there = self._root / f"of-{name}"
            (there if there.exists() else self._root / "clone").rename(self.folder)
        self._at = name
        self._move(name)
        return self._project(name).client()


@pytest.fixture
def machines(tmp_path, url, moved) -> Machines:  # noqa: F811
    return Machines(tmp_path, url, moved)


@pytest.fixture
def edits(monkeypatch) -> list[Callable[[Path], None]]:
    """What the agents do to their folder, the next first."""
    found: list[Callable[[Path], None]] = []
    run = MockAgent.run

    def edit_and_run(agent: MockAgent, request: Any, sink: Any) -> Any:
        if found:
            found.pop(0)(Path(request.cwd))
        return run(agent, request, sink)

    monkeypatch.setattr(MockAgent, "run", edit_and_run)
    return found


def change_much(folder: Path) -> None:
    (folder / "a.txt").write_bytes(b"one\r\ntwo\n")
    (folder / "gone.txt").unlink()
    (folder / "run.sh").chmod(0o755)
    (folder / "link").symlink_to("run.sh")
    (folder / "sub").mkdir()
    (folder / "sub" / "bytes").write_bytes(bytes(range(256)) * 9)


def one_step(uwf: Client) -> list[str]:
    """The threads of which a worker of this machine takes one step."""
    queued, labels = uwf.queued, uwf.queued.own_labels()
    claim = queued.backend.claim("w", labels, {})
    if claim is None:
        return []
    steps = iter([True, False])
    queued.settle(claim, queued.run(claim, labels, Cancel(), lambda: next(steps)))
    return [claim.thread]


def begun(uwf: Client, host: str = "any") -> str:
    thread: str = uwf.start("three", "Task.", queue=True, tags={"host": host})["thread"]
    assert one_step(uwf) == [thread]
    return thread


def folder_of(uwf: Client, thread: str) -> Path:
    own = read_head(uwf._engine.store, ThreadId(thread)).state.worktree
    assert own is not None
    return Path(own.folder)


def hosts(uwf: Client, thread: str) -> list[str]:
    """The machines that a thread waits for."""
    [row] = [each for each, _ in uwf.queued.waiting(9) if each.thread == thread]
    return [each for each in row.needs if each.startswith("host:")]


def stored(uwf: Client, thread: str) -> list[str]:
    """The names of the files that the store keeps of a thread."""
    return [each.name for each in uwf._engine.store.variables(files_prefix(ThreadId(thread)))]


def bundled(uwf: Client, thread: str) -> set[str]:
    """The names that a bundle of a thread has."""
    return {each.name for each in own_variables(uwf._engine.store, ThreadId(thread))[1]}


def contents(folder: Path) -> dict[str, tuple[int, bytes]]:
    """Paths, permissions to execute, and bytes or targets of links."""
    return {
        str(each.relative_to(folder)): (
            each.lstat().st_mode & 0o170100,
            os.fsencode(each.readlink()) if each.is_symlink() else each.read_bytes(),
        )
        for each in sorted(folder.rglob("*"))
        if (each.is_symlink() or each.is_file()) and each.name != ".git"
    }


def test_a_worktree_moves_with_the_files_of_the_last_step_and_back(machines, edits):
    edits += [change_much, lambda folder: (folder / "b.txt").write_text("of moon\n")]
    with machines.at("vm") as uwf:
        thread = begun(uwf)
        first = folder_of(uwf, thread)
        left = contents(first)
        assert hosts(uwf, thread) == []
        (first / "a.txt").write_text("what an interrupted step has left")
    with machines.at("moon") as uwf:
        seen: list[dict[str, Any]] = []
        edits.insert(0, lambda folder: (seen.append(contents(folder)), edits.pop(0)(folder)))
        assert one_step(uwf) == [thread]
        second = folder_of(uwf, thread)
        assert seen == [left] and second.is_relative_to(machines._root / "moon")
        assert uwf.steps(thread)[-1]["number"] == 2
        left |= {"b.txt": (0o100000, b"of moon\n")}
        assert contents(second) == left
        assert git(second, "log", "--format=%s").split() == ["first"]
    with machines.at("vm") as uwf:
        assert one_step(uwf) == [thread]
        assert uwf.show(thread)["status"] == "completed"
        third = folder_of(uwf, thread)
        assert contents(third) == left and third != first
        assert (first / "a.txt").read_text() == "what an interrupted step has left"
        verified = uwf.verify()
        assert verified["valid"], verified["problems"]
        assert len(stored(uwf, thread)) == 3
        assert not {*stored(uwf, thread)} & bundled(uwf, thread)
        uwf.remove(thread)
        assert stored(uwf, thread) == []


def test_a_worktree_without_recorded_files_needs_its_machine(machines, edits):
    text = THREE.replace("record: true\n", "")
    with machines.at("vm") as uwf:
        (machines.folder / ".workflow" / "three.yaml").write_text(text)
        thread = begun(uwf)
        assert hosts(uwf, thread) == ["host:vm"]
    with machines.at("moon") as uwf:
        assert one_step(uwf) == []
        with pytest.raises(UsageError, match="is on vm"):
            uwf.exec(thread)
        assert uwf.show(thread)["status"] == "idle", "nothing was stored"
    with machines.at("vm") as uwf:
        assert one_step(uwf) == [thread]


def test_files_with_a_known_secret_stay_where_they_are(machines, edits):
    edits.append(lambda folder: (folder / ".key").write_text(f"key: {SECRET}"))
    with machines.at("vm") as uwf:
        thread = begun(uwf)
        assert hosts(uwf, thread) == ["host:vm"]
        assert stored(uwf, thread) == []


def test_a_machine_without_the_repository_says_what_it_lacks(machines, edits):
    with machines.at("vm") as uwf:
        thread = begun(uwf)
    with machines.at("moon") as uwf:
        machines.folder.rename(machines._root / "away")
        machines.folder.mkdir()
        one_step(uwf)
        shown = uwf.show(thread)
        assert shown["suspendReason"] == "failure"
        assert "cannot move from vm to moon" in shown["suspendMessage"]
