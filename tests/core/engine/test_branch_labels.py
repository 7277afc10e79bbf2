"""What a person who follows a run of branches sees of them: numbers in the whole tree."""

from pathlib import Path

import pytest

from uwf_core.testing.project import Project

WORKER = """
  worker:
    goal: Do it.
    frontmatter: {properties: {$status: {const: done}}, required: [$status]}
"""
PART = f"""
version: 1
name: part
roles: {WORKER}
  approver:
    human: true
    goal: Decide.
    frontmatter: {{properties: {{$status: {{const: done}}}}, required: [$status]}}
graph:
  $START:
    new: {{role: worker, prompt: Begin.}}
    resume: {{role: worker, prompt: Again.}}
  worker:
    done:
      parallel:
        fast: {{role: worker, prompt: Quickly.}}
        sure: {{role: approver, prompt: Is it right?}}
      shared: true
      then:
        done: {{role: $END, prompt: Done.}}
        $mixed: {{role: $SUSPEND, prompt: Help.}}
"""
WHOLE = """
version: 1
name: whole
roles:
  splitter:
    goal: Split it.
    frontmatter:
      properties:
        $status: {const: split}
        parts: {type: array, items: {type: string}, minItems: 1}
      required: [$status, parts]
  part: {workflow: ./part.yaml}
graph:
  $START:
    new: {role: splitter, prompt: Split.}
    resume: {role: splitter, prompt: Again.}
  splitter:
    split:
      forEach: parts
      role: part
      prompt: "{{.}}"
      maxParallel: 1
      shared: true
      then:
        done: {role: $END, prompt: All.}
        $mixed: {role: $SUSPEND, prompt: Help.}
"""


@pytest.fixture
def whole(tmp_path: Path) -> Project:
    """A project with branches that are workflows, which have branches."""
    project = Project(tmp_path)
    project.workflow("part", PART)
    project.workflow("whole", WHOLE)
    done = {"role": "worker", "output": {"$status": "done"}}
    split = {"role": "splitter", "output": {"$status": "split", "parts": ["a", "b"]}}
    project.script([split, done], by_role=True, repeat=True)
    return project


def test_each_event_of_a_branch_names_its_place_in_the_tree(whole: Project) -> None:
    """Branches count from 0, as `$index`; one of a single role has no number of its own."""
    seen = list[tuple[str, str, str]]()

    def on_event(event: object) -> None:
        if hasattr(event, "label") and "Started" not in type(event).__name__:
            seen.append((type(event).__name__, event.label, event.role))  # type: ignore[attr-defined]

    with whole.client(on_event=on_event) as uwf:
        root = uwf.start("whole", "It.")["thread"]
        assert uwf.exec(root, until_done=True).exit_code == 3
        asked = [label for kind, label, _ in seen if kind == "StepAsked"]
        assert asked == ["2.0.2.sure", "2.1.2.sure"]
        assert seen[0] == ("StepFinished", "", "splitter")
        assert {(label, role) for kind, label, role in seen[1:] if kind == "StepFinished"} == {
            ("2.0.1", "worker"),
            ("2.1.1", "worker"),
            ("2.0.2.fast", "worker"),
            ("2.1.2.fast", "worker"),
        }


def test_the_beginning_of_branches_is_one_line_for_all(whole: Project) -> None:
    shown = whole.uwf("run", "whole", "-p", "It.").stderr
    lines = [line for line in shown.splitlines() if " branches" in line]
    assert lines == [
        "#2 splitter/split: 2 branches of part; at most 1 at a time",
        "#2.0.2 worker/done: 2 branches: fast, sure",
        "#2.1.2 worker/done: 2 branches: fast, sure",
    ]
    assert "calls" not in shown
    assert "#2.1.2.sure approver: waits for a person\n" in shown


def test_the_text_of_a_run_names_the_threads_of_steps_below(whole: Project) -> None:
    text = whole.uwf("run", "whole", "-p", "It.", "--format", "text").stdout
    steps = [line for line in text.splitlines() if "  mock  " in line]
    assert [" in 0" in line for line in steps] == [False, True, True, True, True]
