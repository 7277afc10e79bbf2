"""No check reads a file outside of the workflow's folder, however links change meanwhile."""

import os
import subprocess
import sys
import time
from pathlib import Path

from tests.core.workflow.checking import desk

from uwf_core.errors import UwfError

SECRET = "what is outside"
SECONDS = 60.0
"""The longest that a starved machine is waited for."""

SWAP = """
import os, sys
os.chdir(sys.argv[1])
while os.getppid() == int(sys.argv[2]):
    for good, bad in (("good.md", "../outside/secret.md"), ("good", "../outside")):
        name = "text.md" if good.endswith(".md") else "folder"
        os.rename(name, "put-aside")
        os.symlink(bad, name)
        os.unlink(name)
        os.rename("put-aside", name)
    os.rename("project", "put-aside")
    os.symlink("../outside", "project")
    os.unlink("project")
    os.rename("put-aside", "project")
"""

WORKFLOW = """
version: 1
name: flow
roles:
  writer:
    goal: !include text.md
    procedure: !include folder/secret.md
    frontmatter: {properties: {$status: {const: done}}, required: [$status]}
  reader: !include folder/nested.yaml
graph:
  $START:
    new: {role: writer, prompt: Go.}
    resume: {role: writer, prompt: Go.}
  writer: {done: {role: reader, prompt: Go.}}
  reader: {done: {role: $END, prompt: Done.}}
"""
NESTED = """
goal: !include secret.md
frontmatter: {properties: {$status: {const: done}}, required: [$status]}
"""


def test_links_and_folders_that_change_while_checks_run_lead_nowhere(tmp_path: Path) -> None:
    """Another process exchanges a file, a folder and the workflow's own folder for links."""
    make(tmp_path / "work" / "project", "inside")
    make(tmp_path / "work", "inside")
    make(tmp_path / "outside", SECRET)
    (tmp_path / "outside" / "secret.md").write_text(SECRET)
    (tmp_path / "outside" / "flow.yaml").unlink()
    words = [sys.executable, "-I", "-S", "-c", SWAP, str(tmp_path / "work"), str(os.getpid())]
    done = read = leaked = 0
    with subprocess.Popen(words) as swapper:
        end = time.monotonic() + SECONDS
        while min(done - 400, read - 100) < 0 and time.monotonic() < end:
            for file in ("work/flow.yaml", "work/project/flow.yaml"):
                said = said_by(tmp_path / file)
                done += 1
                read += "inside" in said
                leaked += SECRET in said
        assert swapper.poll() is None
        swapper.kill()
    assert read and not leaked, f"{done} checks, {read} read"


def make(folder: Path, text: str) -> None:
    (folder / "folder").mkdir(parents=True)
    (folder / "flow.yaml").write_text(WORKFLOW)
    (folder / "text.md").write_text(text)
    (folder / "folder" / "secret.md").write_text(text)
    (folder / "folder" / "nested.yaml").write_text(NESTED)


def said_by(file: Path) -> str:
    """Everything that a workflow's file has brought in."""
    try:
        return f"{desk().check_workflow(file)} {desk().workflow(str(file))}"
    except UwfError as error:  # the file itself is away for a moment, or rejected
        return f"{error} {error.__dict__}"
