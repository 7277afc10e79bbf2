"""Workflows whose roles deliver files, and what is said and stored in tests of them."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from uwf_core.client import Client
from uwf_core.testing.project import Project

FIELDS = """
        $status: {const: done}
        report: {type: [string, "null"], format: file}
        parts: {type: array, items: {type: object, properties: {at: {type: string, format: file}}}}
        one:
          oneOf:
            - properties: {kind: {const: file}, place: {type: string, format: file}}
              required: [kind, place]
            - properties: {kind: {const: link}, place: {type: string}}
              required: [kind, place]
        extra: {type: object, additionalProperties: {type: string, format: file}}
"""
DELIVER = f"""
version: 1
name: deliver
description: One role writes files.
roles:
  writer:
    goal: Write it.
    frontmatter:
      type: object
      properties: {FIELDS}
      required: [$status]
graph:
  $START:
    new: {{role: writer, prompt: Write it.}}
    resume: {{role: writer, prompt: Write it again.}}
  writer:
    done: {{role: $END, prompt: Done.}}
"""


def delivering(root: Path, text: str = DELIVER, name: str = "deliver") -> Project:
    """A project with a workflow whose roles deliver files."""
    project = Project(root)
    project.workflow(name, text)
    return project


def says(role: str = "writer", **fields: Any) -> dict[str, Any]:
    """What a role delivers, the status `done` with these fields."""
    return {"role": role, "output": {"$status": "done", **fields}}


def run(project: Project, uwf: Client, *outputs: dict[str, Any]) -> str:
    """The step of a writer that replies with these outputs, one for each correction."""
    said = [{"$status": "done", **each} for each in outputs]
    project.script([{"role": "writer", "outputs": said}])
    outcome = uwf.exec(uwf.start("deliver", "The task.")["thread"])
    step = outcome.document["steps"][0]["step"]
    assert outcome.document["status"] == "completed", outcome.document
    return step


def errors_of(uwf: Client, step: str) -> Sequence[str]:
    """What was sent back in a step."""
    return [error for each in uwf.step(step)["corrections"] for error in each["errors"]]


def paths_of(uwf: Client, step: str) -> list[str]:
    """The paths of the files that a step delivered."""
    return [each["path"] for each in uwf.step(step)["delivered"]]
