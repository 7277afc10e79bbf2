"""uwf as a user has it: every test here calls the command in processes of its own."""

from pathlib import Path

import pytest

from uwf_core.testing.project import Project

PAIR = """
version: 1
name: pair
description: one writes, another one reads it
roles:
  writer:
    goal: Write it.
    frontmatter:
      properties: {$status: {const: done}, text: {type: string}, folder: {type: string}}
      required: [$status, text]
  reader:
    goal: Read it.
    frontmatter:
      oneOf:
        - properties: {$status: {const: approved}}
          required: [$status]
        - properties: {$status: {const: rejected}, comments: {type: string}}
          required: [$status, comments]
        - properties: {$status: {const: unsure}, question: {type: string}}
          required: [$status, question]
graph:
  $START:
    new: {role: writer, prompt: Write it.}
    resume: {role: writer, prompt: There is more.}
  writer:
    done: {role: reader, prompt: "Read: {{{text}}}", location: "{{{folder}}}"}
  reader:
    approved: {role: $END, prompt: Done.}
    rejected: {role: writer, prompt: "Change this: {{{comments}}}"}
    unsure: {role: $SUSPEND, prompt: "{{{question}}}"}
"""


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """An empty project, whose agent is the mock."""
    return Project(tmp_path)


@pytest.fixture(scope="session")
def pair_text() -> str:
    """The workflow `pair`: a writer, and a reader who may reject."""
    return PAIR


@pytest.fixture
def pair(project: Project, pair_text: str) -> Project:
    """A project with the workflow `pair`."""
    project.workflow("pair", pair_text)
    return project
