"""Workflows of which one calls the other, what their roles say, and a project that has them."""

from pathlib import Path
from typing import Any

from uwf_core.client import Client, ThreadFilter
from uwf_core.testing.project import Project

INNER = """\
version: 1
name: inner
roles:
  writer:
    goal: Write it.
    frontmatter:
      oneOf:
        - {properties: {$status: {const: written}, text: {type: string}}, required: [$status, text]}
  checker:
    goal: Check it.
    frontmatter:
      oneOf:
        - {properties: {$status: {const: good}, text: {type: string}}, required: [$status, text]}
        - {properties: {$status: {const: bad}, why: {type: string}}, required: [$status, why]}
        - {properties: {$status: {const: hopeless}}, required: [$status]}
graph:
  $START:
    new: {role: writer, prompt: Write the text.}
    resume: {role: writer, prompt: There is more to do.}
  writer:
    written: {role: checker, prompt: "Check: {{{text}}}"}
  checker:
    good: {role: $END, prompt: Done.}
    bad: {role: writer, prompt: "Fix: {{{why}}}"}
    hopeless: {role: $END, prompt: Given up.}
"""
OUTER = """\
version: 1
name: outer
roles:
  planner:
    goal: Plan it.
    frontmatter:
      properties: {$status: {const: planned}, plan: {type: string}}
      required: [$status, plan]
  work:
    workflow: inner
  judge:
    goal: Judge it.
    frontmatter:
      oneOf:
        - {properties: {$status: {const: accepted}}, required: [$status]}
        - {properties: {$status: {const: refused}, why: {type: string}}, required: [$status, why]}
graph:
  $START:
    new: {role: planner, prompt: Plan.}
    resume: {role: planner, prompt: Plan again.}
  planner:
    planned: {role: work, prompt: "Do this: {{{plan}}}"}
  work:
    good: {role: judge, prompt: "Judge: {{{text}}}"}
    hopeless: {role: $END, prompt: No way.}
  judge:
    accepted: {role: $END, prompt: Accepted.}
    refused: {role: work, prompt: "Refused: {{{why}}}"}
"""


def said(role: str, status: str, **fields: Any) -> dict[str, Any]:
    usage = {"inputTokens": 10, "outputTokens": 1, "costUsd": 0.5}
    return {"role": role, "output": {"$status": status, **fields}, "usage": usage}


PLANNED = said("planner", "planned", plan="a poem")
WRITTEN = said("writer", "written", text="roses")
GOOD = said("checker", "good", text="roses are red")
ACCEPTED = said("judge", "accepted")
REFUSED = said("judge", "refused", why="too short")
SMOOTH = [PLANNED, WRITTEN, GOOD, ACCEPTED]
"""Four leaf steps, of which the called thread takes two."""


def calling_project(root: Path) -> Project:
    """A project in which `outer` calls `inner`; the roles say what `SMOOTH` has."""
    project = Project(root)
    project.workflow("inner", INNER)
    project.workflow("outer", OUTER)
    project.script(SMOOTH, by_role=True)
    return project


def roles(rows: Any) -> list[str]:
    return [row["role"] for row in rows]


def child_of(uwf: Client, root: str) -> str:
    """The one thread that the root has called."""
    [child] = children(uwf, root)
    return child


def children(uwf: Client, root: str) -> list[str]:
    """The threads that a thread has called, oldest first."""
    rows = uwf.list(ThreadFilter(all=True, children=True))
    return sorted(row["thread"] for row in rows if row["parent"] == root)


def lose(uwf: Client, thread: str) -> None:
    """Delete the names of a thread, but for those of its open calls: its home is damaged."""
    store = uwf._engine.store
    for name in store.variables("@uwf/"):
        if thread in name.name.split("/")[2:] and not name.name.startswith("@uwf/call/"):
            store.delete_variable(name)


def open_threads(uwf: Client, root: str) -> list[str]:
    """A thread, and the threads of its open calls and of those below; each after its caller."""
    found = [root]
    for thread in found:  # grows
        found += [call.thread for call in uwf.thread(thread).open_calls]
    return found


def descendants(uwf: Client, root: str) -> list[str]:
    """The threads that a thread has called, and those that they called."""
    rows = uwf.list(ThreadFilter(all=True, children=True))
    found = [root]
    for thread in found:  # grows
        found += sorted(row["thread"] for row in rows if row["parent"] == thread)
    return found[1:]
