"""What uwf prints where a limit is reached continues the whole thread."""

from pathlib import Path
from typing import Any

import pytest

from uwf_core.testing.project import Project

ROLE = """
    goal: Work.
    frontmatter: {properties: {$status: {const: done}}, required: [$status]}"""
TWO = f"""
version: 1
name: two
roles:
  begin: {ROLE}
  left: {ROLE}
  right: {ROLE}
graph:
  $START:
    new: {{role: begin, prompt: Begin.}}
    resume: {{role: begin, prompt: Again.}}
  begin:
    done:
      parallel:
        left: {{role: left, prompt: Left.}}
        right: {{role: right, prompt: Right.}}
      shared: true
      then:
        done: {{role: $END, prompt: Done.}}
        $mixed: {{role: $SUSPEND, prompt: What now?}}
"""
CALLED = """
version: 1
name: called
roles:
  part: {workflow: two}
graph:
  $START:
    new: {role: part, prompt: Begin.}
    resume: {role: part, prompt: Again.}
  part:
    done: {role: $END, prompt: Done.}
"""


def variant(name: str, text: str, old: str, new: str) -> str:
    """A workflow with another name and another role."""
    assert old in text
    return text.replace(f"name: {text.split('name: ')[1].split()[0]}", f"name: {name}").replace(
        old, new
    )


LIMITED = "{workflow: two, limits: {maxSteps: 1}}"
DEEP = variant("deep", TWO, f"left: {ROLE}", "left: {workflow: two}")
OWN = variant("own", CALLED, "{workflow: two}", LIMITED)
EACH = variant("each", TWO, f"left: {ROLE}", f"left: {LIMITED}")
EACH = variant("each", EACH, f"right: {ROLE}", f"right: {LIMITED}")
WORKFLOWS = {"two": TWO, "deep": DEEP, "called": CALLED, "own": OWN, "each": EACH}


@pytest.fixture
def project(tmp_path: Path) -> Project:
    found = Project(tmp_path)
    for name, text in WORKFLOWS.items():
        found.workflow(name, text)
    usage = {"inputTokens": 100, "outputTokens": 10, "costUsd": 1.0}
    done = {"output": {"$status": "done"}, "usage": usage, "delayMs": 100}
    steps = [{**done, "role": role} for role in ("begin", "left", "right")]
    found.script(steps, repeat=True, by_role=True)
    return found


def commands(project: Project, root: str, item: Any) -> set[str]:
    """The command of each place that reports the limit, as it is without `--until-done`."""
    shown = [project.uwf("thread", "show", root).document]
    shown += [
        project.uwf("thread", "show", branch["thread"]).document
        for frame in shown[0]["stack"]
        for branch in frame["branches"] or []
        if branch["reason"] == "limit"
    ]
    ended = project.uwf("thread", "exec", root, "--format", "text").stdout
    printed = [line.partition("next: ")[2] for line in ended.splitlines() if "next: " in line]
    found = {*item["commands"], *printed, *(each for page in shown for each in page["next"])}
    return {each.replace(" --until-done", "") for each in found}


@pytest.mark.parametrize(
    ("workflow", "words"),
    [
        *((name, words) for name in ("two", "deep", "called")
          for words in ("steps=1", "tokens=110", "cost=1", "minutes=0.001")),
        ("own", "steps=1"), ("each", "steps=1"),
    ],
)  # fmt: skip
def test_one_command_at_the_root_grants_a_limit_wherever_it_was_reached(
    project: Project, workflow: str, words: str
) -> None:
    """found while using uwf; kind: budgets."""
    name, _, amount = words.partition("=")
    options = () if workflow in ("own", "each") else (f"--max-{name}", amount)
    done = project.uwf("run", workflow, "-p", "Go", *options)
    assert done.exit_code == 5, done
    root = done.document["thread"]
    for _ in range(10):
        (item,) = project.uwf("inbox").document["items"]
        assert (item["kind"], item["thread"], item["root"]) == ("limit", root, root)
        (command,) = commands(project, root, item)
        assert command.startswith(f"uwf thread resume {root} --grant {name}=")
        done = project.uwf(*command.split()[1:], "--until-done")
        if done.exit_code == 0:
            break
        assert done.exit_code == 5, done
    assert done.document["status"] == "completed"
    assert project.uwf("inbox").document["items"] == []


@pytest.mark.parametrize("wrong", ["visits=1", "cost=1", "steps=0", "cost=x"])
def test_a_grant_that_is_wrong_changes_nothing(project: Project, wrong: str) -> None:
    root = project.uwf("run", "two", "-p", "Go", "--max-steps", "1").document["thread"]
    before = project.uwf("thread", "show", root).document
    assert project.uwf("thread", "resume", root, "--grant", wrong).exit_code == 2
    assert project.uwf("thread", "show", root).document == before


def test_a_question_beside_a_limit_is_answered_at_the_root(project: Project) -> None:
    done = [{"role": role, "output": {"$status": "done"}} for role in ("begin", "left", "right")]
    asks = {"role": "left", "suspend": {"reason": "Which colour?"}}
    project.script([done[0], asks, done[1], done[2]], by_role=True)
    root = project.uwf("run", "two", "-p", "Go", "--max-steps", "2").document["thread"]
    project.uwf("thread", "resume", root, "--grant", "steps=5", "--until-done")
    answered = project.uwf("thread", "resume", root, "-p", "blue", "--until-done")
    assert answered.document["status"] == "completed", answered
