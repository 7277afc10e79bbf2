"""The files before and after each leaf step are recorded if the workflow or the user wants it."""

import subprocess
from pathlib import Path
from typing import Any

import pytest
from tests.core.branching import FINE, PANEL, panel_script
from tests.core.calling import INNER
from tests.core.files.recorded import git, repository, write
from tests.step_parts import workspace_of

from uwf_core.client import Client
from uwf_core.testing.project import Project

EDITS = """
version: 1
name: edits
record: true
roles:
  editor:
    program:
      argv: [sh, ./edit.sh]
      statuses: {0: done}
    frontmatter: {properties: {$status: {const: done}}, required: [$status]}
  reviewer:
    goal: Review it.
    frontmatter: {properties: {$status: {const: good}}, required: [$status]}
graph:
  $START:
    new: {role: editor, prompt: Edit.}
    resume: {role: editor, prompt: Edit.}
  editor: {done: {role: reviewer, prompt: Review.}}
  reviewer: {good: {role: $END, prompt: Done.}}
"""


@pytest.fixture
def edits(project: Project) -> Project:
    """A project whose program changes files; the person who reviews is the mock agent."""
    project.trust()
    project.workflow("edits", EDITS)
    project.script([{"role": "reviewer", "output": "---\n$status: good\n---\n"}], repeat=True)
    script(project, "echo changed > file; mkdir -p new; echo more > new/file")
    write(project.folder, "file", b"begin\n")
    return project


def script(project: Project, text: str) -> None:
    write(project.folder, "edit.sh", text.encode())


def nodes(uwf: Client, thread: str) -> list[Any]:
    """The step nodes of a thread, oldest first."""
    return [step.node for step in uwf.thread(thread).steps()]


def run(uwf: Client, workflow: str = "edits") -> str:
    thread = uwf.start(workflow, "The task.")["thread"]
    uwf.exec(thread, until_done=True)
    return str(thread)


def text_at(project: Project, tree: str, path: str) -> str:
    """The text of a file in a recorded tree: git reads the repository of the home."""
    words = ["git", "cat-file", "blob", f"{tree}:{path}"]
    return subprocess.check_output(words, cwd=project.home / "files.git", text=True)


def test_a_step_has_the_files_before_and_after_it(edits):
    repository(edits.folder)
    edits.trust()
    with edits.client() as uwf:
        edited, reviewed = nodes(uwf, run(uwf))
    before, after = workspace_of(edited)["before"], workspace_of(edited)["after"]
    assert workspace_of(edited)["folder"] == str(edits.folder)
    assert text_at(edits, before["tree"], "file") == "begin\n"
    assert text_at(edits, after["tree"], "file") == "changed\n"
    assert text_at(edits, after["tree"], "new/file") == "more\n"
    assert before["commit"] == after["commit"] == git(edits.folder, "rev-parse", "HEAD")
    assert after["files"] == before["files"] + 1
    assert workspace_of(reviewed) == {**workspace_of(edited), "before": after}


def test_nothing_is_recorded_unless_it_is_wanted(edits):
    edits.workflow("edits", EDITS.replace("record: true\n", ""))
    with edits.client() as uwf:
        assert [workspace_of(node) for node in nodes(uwf, run(uwf))] == [None, None]
    assert not (edits.home / "files.git").exists()
    edits.config("workspace: {record: true}\n")
    with edits.client() as uwf:
        assert all(workspace_of(node)["after"]["tree"] for node in nodes(uwf, run(uwf)))


def test_a_failed_attempt_has_its_files_too(edits):
    script(edits, "echo half > file; exit 7")
    with edits.client() as uwf:
        thread = run(uwf)
        failed = uwf.thread(thread).pending[-1].node
        before, after = workspace_of(failed)["before"], workspace_of(failed)["after"]
        assert text_at(edits, before["tree"], "file") == "begin\n"
        assert text_at(edits, after["tree"], "file") == "half\n"


def test_after_a_kill_the_failed_step_has_the_files_before_it_alone(edits):
    with edits.client() as uwf:
        thread = uwf.start("edits", "The task.")["thread"]
    killed = edits.uwf("thread", "exec", thread, env={"UWF_TEST_CRASH": "record:1"})
    assert killed.exit_code < 0
    with edits.client() as uwf:
        uwf.exec(thread)
        (step,) = uwf.thread(thread).steps()
        (failed,) = step.attempts
    assert (
        workspace_of(failed.node)["before"]["tree"] and workspace_of(failed.node)["after"] is None
    )
    assert text_at(edits, workspace_of(step.node)["before"]["tree"], "file") == "changed\n"


def test_what_cannot_be_recorded_is_reported_once_and_the_thread_goes_on(edits):
    write(edits.folder, ".GIT/file")
    done = edits.uwf("run", "edits", "-p", "The task.")
    assert done.exit_code == 0
    assert done.stderr.count("some files are not recorded: ") == 1
    with edits.client() as uwf:
        (edited, _) = nodes(uwf, done.document["thread"])
    assert text_at(edits, workspace_of(edited)["before"]["tree"], "file") == "begin\n"
    assert text_at(edits, workspace_of(edited)["after"]["tree"], "file") == "changed\n"
    assert "GIT" in workspace_of(edited)["after"]["reason"]


def test_a_record_of_files_replays_and_verifies(edits):
    with edits.client() as uwf:
        thread = run(uwf)
        assert uwf.replay(thread)["verdict"] == "same"
    assert edits.uwf("cas", "verify").exit_code == 0


def test_calls_have_no_files_and_branches_of_one_role_have_those_of_their_workflow(edits):
    edits.workflow("inner", INNER)
    edits.workflow("panel", PANEL.replace("name: panel\n", "name: panel\nrecord: true\n"))
    edits.script(panel_script(FINE), by_role=True, repeat=True)
    with edits.client() as uwf:
        uwf.add_workflow(edits.folder / ".workflow" / "panel.yaml", allow_programs=True)
        thread = run(uwf, "panel")
        written, joined = nodes(uwf, thread)[:2]
        assert workspace_of(written)["after"]["tree"] and workspace_of(joined) is None
        branches = {each["name"]: each["thread"] for each in joined["call"]["branches"]}
        assert workspace_of(nodes(uwf, branches["style"])[0])["after"]["tree"]
        assert workspace_of(nodes(uwf, branches["facts"])[0]) is None


def test_a_recorded_thread_leaves_the_git_folder_of_the_user_as_it_was(edits):
    repository(edits.folder)
    edits.trust()

    def content() -> dict[Path, bytes]:
        files = [each for each in (edits.folder / ".git").rglob("*") if each.is_file()]
        return {each: each.read_bytes() for each in files}

    before = content()
    assert edits.uwf("run", "edits", "-p", "The task.").exit_code == 0
    assert content() == before
