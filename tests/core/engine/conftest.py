from collections.abc import Iterator
from pathlib import Path

import pytest

from benchmarks.world import WORKFLOW
from uwf_core.client import Client
from uwf_core.testing.project import Project

LOOP = """
version: 1
name: loop
description: two roles that check each other
roles:
  developer:
    goal: Write it.
    frontmatter:
      type: object
      properties: {$status: {const: done}, worktree: {type: string}, count: {type: integer}}
      required: [$status]
  reviewer:
    goal: Review it.
    frontmatter:
      oneOf:
        - properties: {$status: {const: approved}}
          required: [$status]
        - properties: {$status: {const: rejected}, comments: {type: string}}
          required: [$status, comments]
        - properties: {$status: {const: unsure}, comments: {type: string}}
          required: [$status, comments]
graph:
  $START:
    new: {role: developer, prompt: Write it.}
    resume: {role: developer, prompt: There is more to do.}
  developer:
    done: {role: reviewer, prompt: Review it., location: "{{#worktree}}{{worktree}}{{/worktree}}"}
  reviewer:
    approved: {role: $END, prompt: Done.}
    rejected: {role: developer, prompt: "Fix: {{{comments}}}"}
    unsure: {role: $SUSPEND, prompt: "Please decide: {{{comments}}}"}
"""

ONE_ROLE = WORKFLOW.replace("name: loop", "name: one-role")

DONE = {"role": "developer", "output": {"$status": "done"}}
APPROVED = {"role": "reviewer", "output": {"$status": "approved"}}
REJECTED = {"role": "reviewer", "output": {"$status": "rejected", "comments": "a < b & c"}}
UNSURE = {"role": "reviewer", "output": {"$status": "unsure", "comments": "red or blue?"}}


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """A project with the workflow `loop`."""
    project = Project(tmp_path)
    project.workflow("loop", LOOP)
    return project


@pytest.fixture
def uwf(project: Project) -> Iterator[Client]:
    """A client of the project."""
    with project.client() as client:
        yield client


@pytest.fixture
def thread(uwf: Client) -> str:
    """A thread of `loop` that has not run yet."""
    return uwf.start("loop", "The task.")["thread"]
