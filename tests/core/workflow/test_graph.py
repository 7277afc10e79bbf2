"""`workflow graph` shows who plays each role."""

from pathlib import Path

from tests.core.calling import INNER, OUTER

from uwf_core.testing.project import Project

MIXED = """\
version: 1
name: mixed
roles:
  person:
    human: true
    goal: Decide.
    frontmatter: {properties: {$status: {const: done}}, required: [$status]}
  tests:
    program: {argv: ["true"], statuses: {0: passed}}
    frontmatter: {properties: {$status: {const: passed}}, required: [$status]}
graph:
  $START:
    new: {role: person, prompt: Decide.}
    resume: {role: person, prompt: Decide again.}
  person:
    done: {role: tests, prompt: Test it.}
  tests:
    passed: {role: $END, prompt: Good.}
"""


def shapes(project: Project, word: str) -> list[str]:
    lines = project.uwf("workflow", "graph", word).stdout.splitlines()
    return [line.strip().lstrip("n0123456789") for line in lines[1:] if "-->" not in line]


def test_a_role_that_calls_has_double_sides_and_the_name_of_the_workflow(tmp_path: Path) -> None:
    project = Project(tmp_path)
    project.workflow("inner", INNER)
    project.workflow("outer", OUTER)
    expected = ["([START])", '["planner"]', '[["work (workflow inner)"]]', '["judge"]']
    assert shapes(project, "outer")[:4] == expected
    project.uwf("workflow", "add", ".workflow/outer.yaml")
    assert '[["work (workflow inner)"]]' in shapes(project, "outer")


def test_programs_and_persons_have_shapes_of_their_own(tmp_path: Path) -> None:
    project = Project(tmp_path)
    project.workflow("mixed", MIXED)
    assert shapes(project, "mixed")[1:3] == ['[/"person"\\]', '{{"tests"}}']
