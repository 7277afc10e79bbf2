"""Branches: what sixteen cost, four at a time, beyond the time of their agents."""

import json
from collections.abc import Iterator
from pathlib import Path
from statistics import median

from benchmarks.figures import Figure
from benchmarks.measure import Case, interleaved, ratio
from benchmarks.world import User

COUNT = 16
AT_A_TIME = 4
DELAY_MS = 1_000
IDEAL_SECONDS = COUNT / AT_A_TIME * DELAY_MS / 1000
_STATUS = "frontmatter: {properties: {$status: {const: done}}, required: [$status]}"
_HEAD = f"""\
version: 1
name: many
roles:
  planner: {{goal: plan, {_STATUS}}}
  worker: {{goal: work, {_STATUS}}}
graph:
  $START:
    new: {{role: planner, prompt: Begin.}}
    resume: {{role: planner, prompt: Continue.}}
  planner:
    done:
      maxParallel: {AT_A_TIME}
      shared: true
      then: {{done: {{role: $END, prompt: Done.}}, $mixed: {{role: $END, prompt: Done.}}}}
      parallel:
"""


def parallel(folder: Path, rounds: int) -> Iterator[Figure]:
    """`run` of a workflow with branches whose agent takes a second."""
    user = User(folder / "branches")
    output = {"$status": "done"}
    steps = [
        {"role": "planner", "output": output},
        {"role": "worker", "output": output, "delayMs": DELAY_MS},
    ]
    script = json.dumps({"byRole": True, "steps": steps})
    (folder / "branches" / "script.yaml").write_text(script, encoding="utf-8")
    branches = [f"        b{each}: {{role: worker, prompt: Work.}}\n" for each in range(COUNT)]
    (user.project / "many.yaml").write_text(_HEAD + "".join(branches), encoding="utf-8")
    user.document("workflow", "add", "many.yaml")
    cases, name = {"many": user.case("run", "many", "-p", "a task")}, f"run, {COUNT} branches"
    few = max(3, rounds // 3)
    over = median(interleaved(cases, few)["many"]) - IDEAL_SECONDS
    note = f"a step of 1 s each, {AT_A_TIME} at a time"
    yield Figure(f"{name}, over the ideal", over, "s", 0.5, note)
    cpu = ratio(interleaved(cases, few, Case.cpu_seconds), "many")
    yield Figure(f"{name}: CPU", cpu, "x py", 80.0)
