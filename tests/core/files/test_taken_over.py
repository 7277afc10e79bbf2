"""Files that a called thread, a branch or a person delivers, and what is said of them."""

import json
from pathlib import Path

import pytest
from tests.core.files.delivering import DELIVER, delivering, errors_of, paths_of, run, says

from uwf_core.client import Client
from uwf_core.testing.project import Project

CALLING = """
version: 1
name: calling
description: Another workflow writes.
roles:
  work: {workflow: deliver}
graph:
  $START:
    new: {role: work, prompt: Write it.}
    resume: {role: work, prompt: Write it again.}
  work:
    done: {role: $END, prompt: Done.}
"""
PANEL = """
version: 1
name: panel
description: Two write at the same paths.
roles:
  planner:
    goal: Plan.
    frontmatter: {type: object, properties: {$status: {const: done}}, required: [$status]}
  writer:
    goal: Write it.
    frontmatter:
      type: object
      properties: {$status: {const: done}, report: {type: string, format: file}}
      required: [$status, report]
graph:
  $START:
    new: {role: planner, prompt: Plan it.}
    resume: {role: planner, prompt: Plan it again.}
  planner:
    done:
      parallel:
        fast: {role: writer, prompt: Be fast.}
        good: {role: writer, prompt: Be good.}
      shared: true
      then:
        done: {role: $END, prompt: Done.}
        $mixed: {role: $END, prompt: Mixed.}
"""


def test_a_call_takes_over_the_files_of_the_called_thread(project: Project, uwf: Client) -> None:
    (project.folder / "a").write_text("a")
    project.workflow("calling", CALLING)
    project.script([says(report="a")], by_role=True)
    thread = uwf.start("calling", "The task.")["thread"]
    assert uwf.exec(thread, until_done=True).document["status"] == "completed"
    [step] = uwf.thread(thread).steps()
    assert [(file.path, file.read()) for file in step.files] == [("a", b"a")]


def test_the_files_of_branches_have_the_branch_before_their_paths(tmp_path: Path) -> None:
    project = delivering(tmp_path, PANEL, "panel")
    (project.folder / "a").write_text("a")
    project.script([says("planner"), says(report="a")], by_role=True)
    done = project.uwf("run", "panel", "-p", "The task.")
    assert done.document["status"] == "completed", done
    step = project.uwf("step", "list", "@last").document["steps"][-1]["step"]
    assert project.uwf("step", "files", step, "-o", "out").exit_code == 0
    assert (project.folder / "out/fast/a").read_text() == "a"
    assert (project.folder / "out/good/a").read_text() == "a"


def test_a_person_gets_an_error_for_a_file_that_is_missing(project: Project) -> None:
    asked = project.uwf("run", "deliver", "-p", "The task.", "--agent", "human")
    assert asked.exit_code == 3, asked
    answer = ("thread", "resume", "@last", "--status", "done", "--answer", "report=a")
    refused = project.uwf(*answer)
    assert "the file 'a' does not exist" in refused.error["message"]
    (project.folder / "a").write_text("a")
    assert project.uwf(*answer).document["status"] == "completed"


def test_a_replay_keeps_what_was_wrong_with_a_file(project: Project, uwf: Client) -> None:
    """The file is gone, and the one that was missing is there now."""
    (project.folder / "a").write_text("a")
    step = run(project, uwf, {"report": "b"}, {"report": "a"})
    assert len(errors_of(uwf, step)) == 1
    (project.folder / "a").rename(project.folder / "b")
    replayed = uwf.replay(uwf.step(step)["thread"])
    assert '"verdict": "different"' not in json.dumps(replayed)


def test_readers_of_a_thread_and_the_agent_learn_of_the_files(
    project: Project, uwf: Client
) -> None:
    (project.folder / "a").write_text("a")
    step = run(project, uwf, {"report": "a"})
    thread = uwf.step(step)["thread"]
    assert f"1 delivered file; next: `uwf step files {step}`" in uwf.read(thread)
    assert "a finished file in your working folder, which uwf stores" in uwf.prompt(step)
    why = project.uwf("thread", "why", thread, "--format", "text").stdout
    assert "delivered the file “a” (1 bytes)" in " ".join(why.split())


@pytest.mark.parametrize(
    ("schema", "code"),
    [
        ("{type: integer, format: file}", "file-field"),
        ("{not: {type: string, format: file}}", "file-field"),
        ('{type: [string, "null"], format: file}', None),
    ],
)
def test_check_rejects_the_format_where_it_delivers_nothing(
    tmp_path: Path, schema: str, code: str | None
) -> None:
    text = DELIVER.replace('{type: [string, "null"], format: file}', schema)
    checked = delivering(tmp_path, text).uwf(
        "workflow", "check", ".workflow/deliver.yaml", "--format", "json"
    )
    assert (code in checked.stdout) if code else (checked.exit_code == 0), checked


def test_writing_never_leaves_the_folder_and_never_replaces_unasked(
    project: Project, uwf: Client
) -> None:
    (project.folder / "sub").mkdir()
    (project.folder / "sub" / "a").write_text("a")
    step = run(project, uwf, {"report": "sub/a"})
    assert paths_of(uwf, step) == ["sub/a"]
    out = project.folder / "out"
    out.mkdir()
    (out / "sub").symlink_to("../..")
    assert project.uwf("step", "files", step, "-o", "out", "--force").exit_code == 2
    assert not (project.folder.parent / "a").exists()
    (out / "sub").unlink()
    assert project.uwf("step", "files", step, "-o", "out").exit_code == 0
    (out / "sub" / "a").write_text("mine")
    assert project.uwf("step", "files", step, "-o", "out").exit_code == 2
    assert (out / "sub" / "a").read_text() == "mine"
    assert project.uwf("step", "files", step, "-o", "out", "--force").exit_code == 0
    assert (out / "sub" / "a").read_text() == "a"
