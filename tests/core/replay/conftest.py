"""Threads to replay: three roles, a loop, and everything that persons and failures add."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from uwf_core.client import Client
from uwf_core.testing.project import Project

TRIO = """\
version: 1
name: trio
description: A writer, an editor and a checker.
roles:
  writer:
    goal: Write the text.
    procedure: Write plainly.
    frontmatter:
      oneOf:
        - properties: {$status: {const: written}, title: {type: string}, words: {type: integer}}
          required: [$status, title]
        - properties: {$status: {const: unsure}, question: {type: string}}
          required: [$status, question]
  editor:
    goal: Edit the text.
    capabilities: [reading]
    frontmatter:
      oneOf:
        - properties: {$status: {const: accepted}, note: {type: string}}
          required: [$status]
        - properties: {$status: {const: returned}, note: {type: string}}
          required: [$status, note]
  checker:
    goal: Check the facts.
    output: A list of the facts.
    frontmatter:
      properties: {$status: {const: checked}, facts: {type: array, items: {type: string}}}
      required: [$status, facts]
graph:
  $START:
    new: {role: writer, prompt: Write about the task.}
    resume: {role: editor, prompt: Edit it again.}
  writer:
    written: {role: editor, prompt: "Edit {{{title}}}.", location: part}
    unsure: {role: $SUSPEND, prompt: "Please say: {{{question}}}"}
  editor:
    accepted: {role: checker, prompt: "Check it. {{{note}}}"}
    returned: {role: writer, prompt: "Improve: {{{note}}}"}
  checker:
    checked: {role: $END, prompt: "{{#facts}}{{.}} {{/facts}}"}
"""

WRITTEN = {"role": "writer", "output": {"$status": "written", "title": "A & B", "words": 3}}
UNSURE = {"role": "writer", "output": {"$status": "unsure", "question": "red or blue?"}}
RETURNED = {"role": "editor", "output": {"$status": "returned", "note": "too long"}, "body": "Cut."}
ACCEPTED = {"role": "editor", "output": {"$status": "accepted", "note": "good"}}
CHECKED = {"role": "checker", "output": {"$status": "checked", "facts": ["one", "two"]}}
CORRECTED = {**RETURNED, "output": None, "outputs": [{"$status": "no"}, RETURNED["output"]]}

STORY: list[dict[str, Any]] = [
    WRITTEN, RETURNED, WRITTEN, CORRECTED, WRITTEN, ACCEPTED, CHECKED
]  # fmt: skip
"""Seven steps: writer, editor, writer, editor (with a correction), writer, editor, checker."""


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """A project with the workflow `trio` and the script `STORY`."""
    project = Project(tmp_path)
    (project.folder / "part").mkdir()
    project.workflow("trio", TRIO)
    project.script([{key: each[key] for key in each if each[key] is not None} for each in STORY])
    return project


@pytest.fixture
def uwf(project: Project) -> Iterator[Client]:
    """A client of the project."""
    with project.client() as client:
        yield client


@pytest.fixture
def story(uwf: Client) -> str:
    """A finished thread of `STORY`."""
    thread = uwf.start("trio", "The task.")["thread"]
    outcome = uwf.exec(thread, until_done=True)
    assert outcome.document["status"] == "completed", outcome.document
    return thread
