"""A project with a store, a thread in the middle and a finished one, made by `uwf` itself."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

sys.path.insert(0, str(Path(__file__).parent))

LAUNCHER = Path(__file__).parent / "launcher.py"

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


class Place(NamedTuple):
    """A project folder, its UWF_HOME, and the words that a call may name."""

    project: Path
    home: Path
    words: dict[str, str]

    @property
    def environment(self) -> dict[str, str]:
        """The environment of a user with this home."""
        kept = {name: os.environ[name] for name in ("PATH", "LANG", "TMPDIR") if name in os.environ}
        return {**kept, "HOME": str(self.home.parent), "UWF_HOME": str(self.home)}

    def uwf(self, *words: str) -> subprocess.CompletedProcess[str]:
        """Run the installed command in the project."""
        uwf = Path(sys.executable).with_name("uwf")
        return subprocess.run(
            [uwf, *words],
            cwd=self.project,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
        )

    def document(self, *words: str) -> dict:
        """Run a command that must succeed; its JSON."""
        done = self.uwf(*words, "--format", "json")
        assert done.returncode == 0, f"uwf {' '.join(words)}: {done.stderr}"
        return json.loads(done.stdout)

    def modules_of(self, words: list[str], out: Path) -> tuple[int, set[str], str]:
        """Run `uwf words` in a process of its own: exit code, modules at its end, its stderr."""
        done = subprocess.run(
            [sys.executable, LAUNCHER, out, *words],
            cwd=self.project,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
        )
        assert out.exists(), f"the process left without a trace:\n{done.stderr}"
        return done.returncode, set(out.read_text(encoding="utf-8").split()), done.stderr


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
    entries = place.document("log", "list")
    place.words.update(
        done=done,
        thread=thread,
        step=step,
        workflow="pair",
        file="pair.yaml",
        json=str(parent / "payload.json"),
        schema=str(parent / "schema.json"),
        bundle=bundle,
        log=str(next(iter(entries.values()))[0]["id"]),
    )
    return place


@pytest.fixture
def place(template, tmp_path) -> Place:
    """A copy of the template, to change at will."""
    shutil.copytree(template.project, tmp_path / "project")
    shutil.copytree(template.home, tmp_path / "home" / ".uwf")
    return Place(tmp_path / "project", tmp_path / "home" / ".uwf", template.words)
