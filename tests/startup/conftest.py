"""A project with a store, a thread in the middle and a finished one, made by `uwf` itself."""

import shutil
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from startup_kit import Place

WORKFLOW = """\
version: 1
name: pair
description: two roles that hand over
roles:
  first:
    goal: begin
    frontmatter: {properties: {$status: {const: done}}, required: [$status]}
  second:
    goal: finish
    frontmatter: {properties: {$status: {const: done}}, required: [$status]}
graph:
  $START:
    new: {role: first, prompt: Begin.}
    resume: {role: first, prompt: Again.}
  first:
    done: {role: second, prompt: Go on.}
  second:
    done: {role: $END, prompt: Finished.}
"""

SCRIPT = """\
steps:
  - {role: first, output: "---\\n$status: done\\n---\\nbegun\\n"}
  - {role: second, output: "---\\n$status: done\\n---\\nfinished\\n"}
  - {role: first, output: "---\\n$status: done\\n---\\nbegun again\\n"}
"""

CONFIG = """\
defaultAgent: played
agents:
  played:
    use: mock
    options: {{script: {script}}}
"""


@pytest.fixture(scope="session")
def template(tmp_path_factory) -> Place:
    """Made once; tests get a copy of their own."""
    parent = tmp_path_factory.mktemp("startup")
    place = Place(parent / "project", parent / "home" / ".uwf", {})
    place.project.mkdir()
    place.home.mkdir(parents=True, mode=0o700)
    script = parent / "script.yaml"
    script.write_text(SCRIPT, encoding="utf-8")
    (place.home / "config.yaml").write_text(CONFIG.format(script=script), encoding="utf-8")
    (place.home / "config.yaml").chmod(0o600)
    workflow = place.project / "pair.yaml"
    workflow.write_text(WORKFLOW, encoding="utf-8")
    (parent / "payload.json").write_text('"text"', encoding="utf-8")
    (parent / "schema.json").write_text('{"type": "string", "maxLength": 9}', encoding="utf-8")
    place.document("workflow", "add", "pair.yaml")
    done = place.document("run", "pair", "-p", "a task")["thread"]
    thread = place.document("thread", "start", "pair", "-p", "another")["thread"]
    step = place.document("thread", "exec", thread)["steps"][0]["step"]
    bundle = str(parent / "thread.tar")
    place.document("thread", "export", done, "-o", bundle)
    cron = "0 0 1 1 *"
    place.document("schedule", "add", "kept", cron, "pair", "-p", "a task")
    entries = place.document("log", "list")
    place.words.update(
        done=done,
        thread=thread,
        step=step,
        workflow="pair",
        schedule="kept",
        cron=cron,
        file="pair.yaml",
        json=str(parent / "payload.json"),
        schema=str(parent / "schema.json"),
        bundle=bundle,
        page=str(parent / "diff.html"),
        log=str(next(iter(entries.values()))[0]["id"]),
    )
    return place


@pytest.fixture
def place(template, tmp_path) -> Place:
    """A copy of the template, to change at will."""
    shutil.copytree(template.project, tmp_path / "project")
    shutil.copytree(template.home, tmp_path / "home" / ".uwf")
    return Place(tmp_path / "project", tmp_path / "home" / ".uwf", template.words)
