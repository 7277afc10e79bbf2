"""`python tests/compat/make_store.py`: write `store-0.1/store.db` anew, by this checkout's uwf.

Only until uwf-core 0.1.0 is released; from then on the file is history and stays as it is.
"""

import json
import shutil
import sqlite3
import tempfile
from pathlib import Path

from uwf_core.testing.project import Project

HERE = Path(__file__).parent
TARGET = HERE / "store-0.1"

WORKFLOW = """\
version: 1
name: pair
description: One writes, one reviews.
roles:
  writer:
    goal: write
    frontmatter:
      properties: {$status: {const: done}, summary: {type: string}}
      required: [$status, summary]
  reviewer:
    goal: review
    frontmatter:
      oneOf:
        - {properties: {$status: {const: approved}}, required: [$status]}
        - {properties: {$status: {const: rejected}, why: {type: string}}, required: [$status, why]}
graph:
  $START:
    new: {role: writer, prompt: Begin.}
    resume: {role: writer, prompt: Again.}
  writer:
    done: {role: reviewer, prompt: "Review: {{summary}}"}
  reviewer:
    approved: {role: $END, prompt: Done.}
    rejected: {role: writer, prompt: "Repair: {{why}}"}
"""
STEPS = [
    {
        "role": "writer",
        "outputs": ["no frontmatter", "---\n$status: done\nsummary: ä 1.0\n---\nWritten.\n"],
        "usage": {"inputTokens": 10, "outputTokens": 5},
        "turns": [{"role": "assistant", "text": "thinking"}],
    },
    {"role": "reviewer", "output": "---\n$status: rejected\nwhy: too short\n---\n"},
    {"role": "writer", "output": "---\n$status: done\nsummary: longer\n---\nMore.\n"},
    {"role": "reviewer", "output": "---\n$status: approved\n---\nGood.\n"},
]


def main() -> None:
    """Three threads: finished, in the middle, failed."""
    with tempfile.TemporaryDirectory() as folder:
        project = Project(Path(folder))
        project.workflow("pair", WORKFLOW)
        project.script(STEPS)
        project.uwf("workflow", "add", ".workflow/pair.yaml")
        words = ("thread", "start", "pair", "-p", "a task", "--cwd", "/")
        finished, middle, failed = (project.uwf(*words).document["thread"] for _ in range(3))
        project.uwf("thread", "exec", finished, "--until-done")
        project.uwf("thread", "exec", middle)
        project.script([{"role": "writer", "fail": {"kind": "rate_limited", "message": "wait"}}])
        project.uwf("thread", "exec", failed)
        shown = {
            name: project.uwf("thread", "show", thread).document
            for name, thread in {"finished": finished, "middle": middle, "failed": failed}.items()
        }
        with sqlite3.connect(project.home / "store.db") as database:
            database.execute("PRAGMA journal_mode=DELETE")
        TARGET.mkdir(exist_ok=True)
        shutil.copy(project.home / "store.db", TARGET / "store.db")
        (TARGET / "script.json").write_text(json.dumps({"steps": STEPS}, indent=2) + "\n", "utf-8")
        (TARGET / "shown.json").write_text(json.dumps(shown, indent=2) + "\n", "utf-8")


if __name__ == "__main__":
    main()
