"""A caller with secrets of three kinds, and a command by which an agent tells what it can see."""

import shlex
from pathlib import Path

from uwf_core.testing.project import Project

WORKFLOW = """
version: 1
name: look
roles:
  looker:
    goal: Look.
    frontmatter: {properties: {$status: {const: done}}, required: [$status]}
graph:
  $START:
    new: {role: looker, prompt: LOOK around.}
    resume: {role: looker, prompt: LOOK again.}
  looker:
    done: {role: $END, prompt: Done.}
"""
DONE = "---\n$status: done\n---\nI looked."
DECLARED = ("DECLARED_KEY", "DECLARED_IN_FILE")
HIDDEN = ("CALLERS_TOKEN", "SECRET_IN_FILE", "DATABASE_URL")


def prepare(project: Project) -> None:
    """The workflow, and values in the caller's environment and in the home's `.env`."""
    project.workflow("look", WORKFLOW)
    project.home.mkdir(mode=0o700, exist_ok=True)
    file = project.home / ".env"
    file.write_text("DECLARED_IN_FILE=seen-in-file\nSECRET_IN_FILE=hidden-in-file\n")
    file.chmod(0o600)
    caller = {"CALLERS_TOKEN": "hidden-of-caller", "DATABASE_URL": "postgres://hidden"}
    project.env |= {**caller, "DECLARED_KEY": "seen-of-caller"}


def look(project: Project) -> str:
    """A command for the agent's shell: its own environment, and that of all who started it, up to
    this test.
    """
    seen = shlex.quote(str(project.folder / "seen"))
    up = """p=$$; while [ "$p" -gt 1 ] && grep -qz ^UWF_ATTEMPT= /proc/$p/environ; do
tr '\\0' '\\n' < /proc/$p/environ; p=$(awk '/^PPid/ {print $2}' /proc/$p/status); done"""
    return f"{{ env; {up}; echo end; }} > {seen}"


def check(project: Project) -> None:
    """The declared values are there, the others nowhere in what the agent was given."""
    seen = Path(project.folder / "seen").read_text("utf-8")
    assert seen.endswith("end\n")
    assert seen.count("UWF_ATTEMPT=") > 1, "the program's own environment is among them"
    for name in DECLARED:
        assert f"{name}=seen-" in seen, name
    assert "hidden" not in seen
    assert not [name for name in HIDDEN if f"{name}=" in seen]
