"""Workflows with branches, what their roles say, and a project that has them."""

from pathlib import Path
from typing import Any

from tests.core.calling import INNER, said

from uwf_core.client import Client
from uwf_core.testing.project import Project

TASKS = """\
version: 1
name: tasks
roles:
  planner:
    goal: Split the task.
    frontmatter:
      properties:
        $status: {const: planned}
        tasks: &list
          type: array
          items: {type: object, properties: {title: {type: string}}, required: [title]}
        others: *list
      required: [$status, tasks, others]
  worker:
    goal: Do a task.
    frontmatter:
      oneOf:
        - {properties: {$status: {const: done}, text: {type: string}}, required: [$status, text]}
        - {properties: {$status: {const: stuck}, why: {type: string}}, required: [$status, why]}
  judge:
    goal: Judge it.
    frontmatter: {properties: {$status: {const: accepted}}, required: [$status]}
graph:
  $START:
    new: {role: planner, prompt: Plan.}
    resume: {role: planner, prompt: Plan again.}
  planner:
    planned:
      forEach: tasks
      role: worker
      prompt: "{{$index}}: do {{title}}"
      shared: true
      then:
        done: {role: judge, prompt: "{{#results}}{{$index}} {{text}} {{/results}}"}
        $mixed: {role: judge, prompt: "Mixed: {{#results}}{{$status}} {{/results}}"}
        $empty: {role: $END, prompt: Nothing to do.}
  judge:
    accepted: {role: $END, prompt: Accepted.}
"""
PANEL = """\
version: 1
name: panel
roles:
  writer:
    goal: Write it.
    frontmatter:
      properties: {$status: {const: written}, text: {type: string}}
      required: [$status, text]
  reviewer:
    goal: Review it.
    frontmatter:
      oneOf:
        - {properties: {$status: {const: good}}, required: [$status]}
        - {properties: {$status: {const: bad}, why: {type: string}}, required: [$status, why]}
  check:
    workflow: ./inner.yaml
  test:
    program:
      argv: [sh, -c, "echo $0; exit 0", "{{text}}"]
      statuses: {0: good, 1: bad}
    frontmatter:
      oneOf:
        - {properties: {$status: {const: good}, stdout: {type: string}}, required: [$status]}
        - {properties: {$status: {const: bad}, stdout: {type: string}}, required: [$status]}
graph:
  $START:
    new: {role: writer, prompt: Write.}
    resume: {role: writer, prompt: Write again.}
  writer:
    written:
      parallel:
        style: {role: reviewer, prompt: "Style of {{{text}}}"}
        facts: {role: check, prompt: "Facts of {{{text}}}"}
        tests: {role: test, prompt: "Test {{{text}}}"}
      shared: true
      then:
        good: {role: $END, prompt: All good.}
        $mixed: {role: writer, prompt: "Style: {{style.why}}"}
"""
TITLES = [{"title": "one"}, {"title": "two"}, {"title": "three"}]
SPLIT = said("planner", "planned", tasks=TITLES, others=TITLES[:1])
DONE = said("worker", "done", text="ok")
JUDGED = said("judge", "accepted")
TEXT = said("writer", "written", text="roses")
FINE = said("reviewer", "good")
POOR = said("reviewer", "bad", why="too long")
CHECKED = said("checker", "good", text="roses are red")
FAN_OUT = "planner/planned"
REVIEWS = "writer/written"


def branching_project(root: Path) -> Project:
    """A project with `tasks` and `panel`; the roles of the former say what it needs."""
    project = Project(root)
    for name, text in (("inner", INNER), ("tasks", TASKS), ("panel", PANEL)):
        project.workflow(name, text)
    project.script([SPLIT, DONE, JUDGED], by_role=True, repeat=True)
    return project


def panel_script(*reviews: dict[str, Any]) -> list[dict[str, Any]]:
    """The script of `panel`; the reviewer says these."""
    return [TEXT, *reviews, CHECKED]


def run(uwf: Client, workflow: str = "tasks") -> str:
    """A thread that has completed."""
    root = uwf.start(workflow, "Make a poem.")["thread"]
    outcome = uwf.exec(root, until_done=True)
    assert outcome.document["status"] == "completed", outcome.document
    return root


def fan_out_of(uwf: Client, root: str) -> dict[str, Any]:
    """The document of the newest step of a fan-out."""
    row = [each for each in uwf.steps(root) if "/" in each["role"]][-1]
    return dict(uwf.step(row["step"]))


def branch_threads(uwf: Client, root: str) -> list[str]:
    """The threads of the branches of that step, in order."""
    engine = uwf._engine
    return [
        each["thread"]
        for each in engine.store.payload(fan_out_of(uwf, root)["step"])["call"]["branches"]
    ]
