"""A project whose uwf sees a folder of installed plugins."""

import sys
from pathlib import Path
from typing import NamedTuple

import pytest

from uwf_core.testing.project import CommandOutcome, Project

sys.path.insert(0, str(Path(__file__).parent))

WORKFLOW = """\
version: 1
name: one
description: One role.
roles:
  worker:
    goal: work
    frontmatter: {properties: {$status: {const: done}}, required: [$status]}
graph:
  $START:
    new: {role: worker, prompt: Begin.}
    resume: {role: worker, prompt: Again.}
  worker:
    done: {role: $END, prompt: Done.}
"""


class Installation(NamedTuple):
    """A project, the wheels that are built for it and the folder they are installed into."""

    project: Project
    wheels: Path
    site: Path

    def uwf(self, *words: str, **env: str) -> CommandOutcome:
        """Run `uwf` with the plugins installed."""
        return self.project.uwf(*words, env={"PYTHONPATH": str(self.site), **env})

    def thread(self) -> str:
        """A new thread."""
        with self.project.client() as client:
            return str(client.start("one", "a task")["thread"])

    def exec_on(self, thread: str, agent: str) -> str:
        """Run the next step in this process, which has none of the plugins; the status."""
        with self.project.client() as client:
            return str(client.exec(thread, agent=agent).document["status"])

    def steps(self, thread: str) -> int:
        """How many steps the thread has."""
        with self.project.client() as client:
            return len(client.steps(thread)) - 1


@pytest.fixture
def installation(tmp_path: Path) -> Installation:
    project = Project(tmp_path)
    project.workflow("one", WORKFLOW)
    project.script([{"role": "worker", "output": {"$status": "done"}}])
    made = Installation(project, tmp_path / "wheels", tmp_path / "site")
    made.wheels.mkdir()
    made.site.mkdir()
    return made
