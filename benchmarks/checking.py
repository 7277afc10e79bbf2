"""The check of a workflow of 50 roles, in CPU time beside the start of the process."""

import statistics
import time
from collections.abc import Iterator

from benchmarks.figures import Figure
from uwf_core.workflow.check import check_text

ROLES = 50
TARGET_MS = 50.0

_ROLE = """\
  role{number}:
    goal: Do the work of this role.
    procedure: Read. Think. Write.
    frontmatter:
      oneOf:
        - properties: {{$status: {{const: done}}, summary: {{type: string}}}}
          required: [$status, summary]
        - properties: {{$status: {{const: failed}}, error: {{type: string}}}}
          required: [$status, error]
"""
_EDGES = """\
  role{number}:
    done: {{role: {after}, prompt: "Continue: {{{{{{summary}}}}}}"}}
    failed: {{role: {before}, prompt: "Fix: {{{{{{error}}}}}}"}}
"""
_START = """\
graph:
  $START:
    new: {role: role0, prompt: Begin.}
    resume: {role: role0, prompt: Begin again.}
"""


def workflow() -> str:
    """The text of the workflow; it checks without a warning."""
    roles, edges = [], []
    for number in range(ROLES):
        after = f"role{number + 1}" if number + 1 < ROLES else "$END"
        roles.append(_ROLE.format(number=number))
        edges.append(_EDGES.format(number=number, after=after, before=f"role{max(0, number - 1)}"))
    return "version: 1\nname: w\nroles:\n" + "".join(roles) + _START + "".join(edges)


def fifty_roles(rounds: int) -> Iterator[Figure]:
    """The median of `rounds` checks in this process, after a first one that imports."""
    text = workflow()
    assert check_text(text, "w.yaml").problems == ()
    times = []
    for _ in range(max(5, rounds)):
        began = time.process_time()
        check_text(text, "w.yaml")
        times.append(time.process_time() - began)
    yield Figure(f"check of {ROLES} roles", statistics.median(times) * 1000, "ms", TARGET_MS)
