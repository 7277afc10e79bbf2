"""`workflow graph` shows who plays each role."""

import re
from pathlib import Path

from tests.core.calling import INNER, OUTER
from tests.core.workflow.fan_outs import FAN

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


def test_an_edge_to_branches_is_a_node_with_dotted_arrows_to_their_roles(tmp_path: Path) -> None:
    project = Project(tmp_path)
    file = project.workflow("fan", FAN)
    drawn = project.uwf("workflow", "graph", "fan").stdout
    assert drawn == BRANCHES
    project.uwf("workflow", "add", str(file))
    file.unlink()
    published = project.uwf("workflow", "graph", "fan").stdout
    assert named(published) == named(BRANCHES)


BRANCHES = """\
flowchart TD
    n0([START])
    n1["planner"]
    n2["worker"]
    n3[/"critic"\\]
    n4("planner/planned (for each of tasks)")
    n5("planner/written (parallel)")
    n6([END])
    n0 -->|"new"| n1
    n0 -->|"resume"| n1
    n1 -->|"planned"| n4
    n1 -->|"written"| n5
    n4 -.-> n2
    n4 -->|"done"| n6
    n4 -->|"$mixed"| n1
    n4 -->|"$empty"| n6
    n5 -.->|"style"| n3
    n5 -.->|"security"| n2
    n5 -->|"done"| n6
    n5 -->|"$mixed"| n6
"""


def named(drawn: str) -> list[str]:
    """The lines with the names of nodes in place of their numbers: a node keeps no order of roles,
    but the order of branches.
    """
    lines = [line.strip() for line in drawn.splitlines()[1:]]
    names = dict(re.findall(r"^(n\d+)(\W.*)$", "\n".join(x for x in lines if ">" not in x), re.M))
    renamed = [re.sub(r"\bn\d+\b", lambda found: names[found[0]], line) for line in lines]
    dotted = [line for line in renamed if "-.->" in line]
    return [*sorted(line for line in renamed if line not in dotted), *dotted]
