"""Workflows whose threads work in git worktrees, and a project in a git repository.

Their workers are programs: each runs a line of shell in its folder.
"""

import json
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from uwf_core.client import Client
from uwf_core.testing.project import Project

ALONE = """\
version: 1
name: alone
workspace: worktree
roles:
  chooser:
    goal: Say what to do.
    frontmatter:
      properties: {$status: {const: do}, line: {type: string}}
      required: [$status, line]
  worker:
    program: {argv: [sh, -c, 'eval "$0"', "{{{line}}}"], statuses: {0: done, 1: failed}}
    frontmatter:
      oneOf:
        - {properties: {$status: {const: done}, stdout: {type: string}}, required: [$status]}
        - {properties: {$status: {const: failed}, stderr: {type: string}}, required: [$status]}
graph:
  $START:
    new: {role: chooser, prompt: Plan.}
    resume: {role: chooser, prompt: Plan again.}
  chooser:
    do: {role: worker, prompt: Do it.}
  worker:
    done: {role: $END, prompt: Done.}
    failed: {role: $END, prompt: Failed.}
"""
EACH = """\
version: 1
name: each
WORKSPACE
roles:
  planner:
    goal: Split it.
    frontmatter:
      properties:
        $status: {const: planned}
        tasks:
          type: array
          items: {type: object, properties: {line: {type: string}}, required: [line]}
      required: [$status, tasks]
  worker:
    program: {argv: [sh, -c, 'eval "$0"', "{{{line}}}"], statuses: {0: done, 1: failed}}
    frontmatter:
      oneOf:
        - {properties: {$status: {const: done}, stdout: {type: string}}, required: [$status]}
        - {properties: {$status: {const: failed}, stderr: {type: string}}, required: [$status]}
  merger:
    program:
      argv: [sh, -c, 'git merge -q --no-edit $0', "{{#results}}{{{$gitBranch}}} {{/results}}"]
      statuses: {0: merged, 1: conflict}
    frontmatter:
      oneOf:
        - {properties: {$status: {const: merged}}, required: [$status]}
        - {properties: {$status: {const: conflict}}, required: [$status]}
graph:
  $START:
    new: {role: planner, prompt: Plan.}
    resume: {role: planner, prompt: Plan again.}
  planner:
    planned:
      forEach: tasks
      role: worker
      prompt: Do it.
      SAYS
      then:
        done: {role: merger, prompt: "Merge {{#results}}{{{$folder}}} {{/results}}"}
        $mixed: {role: $END, prompt: Not all is done.}
        $empty: {role: $END, prompt: Nothing to do.}
  merger:
    merged: {role: $END, prompt: Merged.}
    conflict: {role: $SUSPEND, prompt: Please merge.}
"""
CALLER = """\
version: 1
name: caller
roles:
  work: {workflow: alone}
  merger:
    program:
      argv: [sh, -c, 'git merge -q --no-edit $0 && ls "$1"', "{{{$gitBranch}}}", "{{{$folder}}}"]
      statuses: {0: merged, 1: conflict}
    frontmatter:
      oneOf:
        - {properties: {$status: {const: merged}}, required: [$status]}
        - {properties: {$status: {const: conflict}}, required: [$status]}
graph:
  $START:
    new: {role: work, prompt: Begin.}
    resume: {role: work, prompt: Again.}
  work:
    done: {role: merger, prompt: "Merge {{{$folder}}}"}
    failed: {role: $END, prompt: Failed.}
  merger:
    merged: {role: $END, prompt: Merged.}
    conflict: {role: work, prompt: Try again.}
"""


def git(folder: Path, *words: str) -> str:
    """The output of git as a user runs it."""
    identity = ["-c", "user.name=Ada", "-c", "user.email=ada@example.org"]
    done = subprocess.run(
        ["git", *identity, *words], cwd=folder, capture_output=True, text=True, check=True
    )
    return done.stdout.strip()


def repository(folder: Path, **files: str) -> Path:
    """A git repository with one commit of these files."""
    folder.mkdir(parents=True, exist_ok=True)
    git(folder, "init", "-q", "-b", "main")
    git(folder, "config", "user.name", "Ada")
    git(folder, "config", "user.email", "ada@example.org")
    for name, text in {"a.txt": "one\n", **files}.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "-m", "first")
    return folder


def worktree_project(root: Path, *lines: str, workspace: str = "", says: str = "") -> Project:
    """A trusted project in a repository, with the workflows of this module. Their planner wants
    these lines of shell.
    """
    project = Project(root)
    each = EACH.replace("WORKSPACE\n", f"{workspace}\n" if workspace else "")
    each = each.replace("      SAYS\n", f"      {says}\n" if says else "")
    if "shared" in says:  # nothing is left to merge
        each = each.replace("{{{$gitBranch}}} ", "").replace("{{{$folder}}} ", "{{$index}}")
    for name, text in (("alone", ALONE), ("each", each), ("caller", CALLER)):
        project.workflow(name, text)
    plan(project, *lines)
    repository(project.folder)
    project.trust()
    return project


def plan(project: Project, *lines: str) -> None:
    """What the planner wants from now on."""
    tasks = [{"line": each} for each in lines]
    said: Sequence[dict[str, Any]] = [
        {"role": "chooser", "output": {"$status": "do", "line": lines[0] if lines else "true"}},
        {"role": "planner", "output": {"$status": "planned", "tasks": tasks}},
    ]
    script = {"steps": said, "repeat": True, "byRole": True}
    Path(project.env["UWF_MOCK_SCRIPT"]).write_text(json.dumps(script))


def finished(uwf: Client, workflow: str = "alone", status: str = "completed") -> str:
    """A thread that has run to its end."""
    thread = uwf.start(workflow, "The task.")["thread"]
    outcome = uwf.exec(thread, until_done=True)
    assert outcome.document["status"] == status, outcome.document
    return thread
