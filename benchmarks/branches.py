"""Branches: what it costs to run eight at a time instead of one."""

import json
from collections.abc import Iterator
from pathlib import Path
from statistics import median

from benchmarks.figures import Figure
from benchmarks.measure import interleaved
from benchmarks.world import User

AT_A_TIME = 8
DELAY_MS = 1_000
MOST_SECONDS = 1.4
_STATUS = "frontmatter: {properties: {$status: {const: done}}, required: [$status]}"
_HEAD = f"""\
version: 1
name: NAME
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
    """`run` of a workflow with branches whose agent takes a second: eight and one."""
    user = User(folder / "branches")
    output = {"$status": "done"}
    steps = [
        {"role": "planner", "output": output},
        {"role": "worker", "output": output, "delayMs": DELAY_MS},
    ]
    script = json.dumps({"byRole": True, "steps": steps})
    (folder / "branches" / "script.yaml").write_text(script, encoding="utf-8")
    cases = {}
    for name, count in (("one", 1), ("eight", AT_A_TIME)):
        file = user.project / f"{name}.yaml"
        branches = [f"        b{each}: {{role: worker, prompt: Work.}}\n" for each in range(count)]
        file.write_text(_HEAD.replace("NAME", name) + "".join(branches), encoding="utf-8")
        user.document("workflow", "add", file.name)
        cases[name] = user.case("run", name, "-p", "a task")
    times = interleaved(cases, max(3, rounds // 3))
    one, eight = median(times["one"]), median(times["eight"])
    note = f"a step of 1 s each; one branch {one:.2f} s, {AT_A_TIME} at a time {eight:.2f} s"
    yield Figure("run, 8 branches beside 1", eight - one, "s", MOST_SECONDS, note)
