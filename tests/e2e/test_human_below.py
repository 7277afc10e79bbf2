"""A person who is asked three levels deep (root, first, second), in processes of their own: the
answer arrives through the root as well as directly, and what was asked is shown everywhere.
"""

from pathlib import Path
from typing import Any

import pytest

from uwf_core.testing.project import Project

SECOND = """\
version: 1
name: second
roles:
  writer:
    goal: Write it.
    frontmatter:
      properties: {$status: {const: done}, text: {type: string}}
      required: [$status, text]
  boss:
    goal: Choose a colour.
    human: true
    frontmatter:
      properties: {$status: {const: chosen}, colour: {enum: [red, blue]}}
      required: [$status, colour]
graph:
  $START:
    new: {role: writer, prompt: Write it.}
    resume: {role: boss, prompt: Choose again.}
  writer:
    done: {role: boss, prompt: "Which colour has {{{text}}}?"}
  boss:
    chosen: {role: $END, prompt: Done.}
"""
CALLER = """\
version: 1
name: NAME
roles:
  all: {workflow: BELOW}
graph:
  $START:
    new: {role: all, prompt: Do it.}
    resume: {role: all, prompt: Do it again.}
  all:
    chosen: {role: $END, prompt: Done.}
"""
LEVELS = {"root": 0, "first": 1, "second": 2}


@pytest.fixture
def project(tmp_path: Path) -> Project:
    project = Project(tmp_path)
    project.workflow("second", SECOND)
    project.workflow("first", CALLER.replace("NAME", "first").replace("BELOW", "second"))
    project.workflow("root", CALLER.replace("NAME", "root").replace("BELOW", "first"))
    written = {"role": "writer", "output": {"$status": "done", "text": "roses"}}
    project.script([written], by_role=True)
    return project


@pytest.fixture
def stack(project: Project) -> list[str]:
    """The threads of a run that waits for a person, the root first."""
    root = project.uwf("thread", "start", "root", "-p", "A poem.").document["thread"]
    waits = project.uwf("thread", "exec", root, "--until-done")
    assert (waits.exit_code, waits.document["suspendReason"]) == (3, "role"), waits.stderr
    frames = show(project, root)["stack"]
    assert [(each["workflowName"], each["role"]) for each in frames] == [
        ("root", "all"), ("first", "all"), ("second", "boss"),
    ]  # fmt: skip
    return [each["thread"] for each in frames]


def show(project: Project, thread: str) -> dict[str, Any]:
    return dict(project.uwf("thread", "show", thread).document)


def outputs(project: Project, thread: str) -> list[tuple[str, Any]]:
    """The role and the output of each step."""
    rows = project.uwf("step", "list", thread).document["steps"][1:]
    found = [project.uwf("step", "show", row["step"]).document for row in rows]
    return [(step["role"], step["output"]) for step in found]


@pytest.mark.parametrize("through", LEVELS)
def test_a_person_three_levels_deep_is_asked_and_answers_through_any_thread(
    project: Project, stack: list[str], through: str
) -> None:
    root, first, second = stack
    shown = [show(project, thread) for thread in stack]
    assert {each["suspendMessage"] for each in shown} == {"Which colour has roses?"}
    assert all(each["form"] == shown[2]["form"] for each in shown)
    to = stack[LEVELS[through]]
    wrong = project.uwf("thread", "resume", to, "--status", "chosen", "--answer", "colour=green")
    assert wrong.exit_code == 4, wrong.stderr
    assert show(project, root)["suspendReason"] == "role"
    right = ("--status", "chosen", "--answer", "colour=red")
    answered = project.uwf("thread", "resume", to, *right)
    assert (answered.exit_code, answered.document["thread"]) == (0, to), answered.stderr
    ended = project.uwf("thread", "exec", root, "--until-done")
    assert (ended.exit_code, ended.document["status"]) == (0, "completed"), ended.stderr
    chosen = {"$status": "chosen", "colour": "red"}
    assert outputs(project, root) == outputs(project, first) == [("all", chosen)]
    assert outputs(project, second)[1] == ("boss", chosen)
    assert project.uwf("cas", "verify").exit_code == 0


@pytest.mark.parametrize("through", LEVELS)
def test_a_person_is_asked_again_when_the_whole_tree_is_called_again(
    project: Project, stack: list[str], through: str
) -> None:
    to = stack[LEVELS[through]]
    right = ("--status", "chosen", "--answer", "colour=red", "--until-done")
    project.uwf("thread", "resume", stack[0], *right)
    again = project.uwf("thread", "resume", stack[0], "-p", "Bluer.", "--until-done")
    assert (again.exit_code, again.document["suspendReason"]) == (3, "role"), again.stderr
    assert [each["thread"] for each in show(project, stack[0])["stack"]] == stack
    blue = ("--status", "chosen", "--answer", "colour=blue")
    assert project.uwf("thread", "resume", to, *blue).exit_code == 0
    assert project.uwf("thread", "exec", stack[0], "--until-done").exit_code == 0
    colours = [output["colour"] for _, output in outputs(project, stack[0])]
    assert colours == ["red", "blue"]
    assert project.uwf("cas", "verify").exit_code == 0
