"""How many steps of a tree run at a time, and what a person can do while they run."""

import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from uwf_core.api import own_python
from uwf_core.testing.project import Project

PROGRAM = """
import os, sys, time
log, until = sys.argv[1:]  # some seconds, or a file for which the first of them waits
def note(sign):
    with open(log, "a") as file:
        file.write(f"{time.monotonic()} {sign}\\n")
note(1)
if not os.path.isabs(until):
    time.sleep(float(until))
elif not os.path.exists(until + "-first"):
    open(until + "-first", "w").close()
    while not os.path.exists(until):
        time.sleep(0.02)
note(-1)
"""
SPLIT = "{properties: {$status: {const: split}, parts: {type: array, items: {type: string}}},"
PLANNER = f"""\
  planner:
    goal: Split it.
    frontmatter: {SPLIT} required: [$status, parts]}}
"""
DONE = "frontmatter: {properties: {$status: {const: done}}, required: [$status]}"
GRAPH = """\
graph:
  $START:
    new: {role: planner, prompt: Split.}
    resume: {role: planner, prompt: Again.}
  planner:
    split:
      forEach: parts
      role: worker
      prompt: "Do {{.}}"
      shared: true
      MORE
      then:
        done: {role: $END, prompt: Done.}
        $mixed: {role: $SUSPEND, prompt: Mixed.}
        $empty: {role: $SUSPEND, prompt: Nothing.}
"""


def overlap(log: Path) -> int:
    """How many programs ran at the same time, at most."""
    lines = sorted(line.split() for line in log.read_text().splitlines())
    now = most = 0
    for _, sign in lines:
        now += int(sign)
        most = max(most, now)
    return most


class Tree:
    """A project whose workers are programs that write down when they run."""

    def __init__(self, root: Path) -> None:
        self.project = Project(root)
        self.log = root / "log"
        self.program = root / "program.py"
        self.program.write_text(PROGRAM)
        self.project.uwf("config", "trust", str(self.project.folder))

    def workflow(self, name: str, worker: str, more: str = "maxParallel: 9") -> None:
        graph = GRAPH.replace("MORE", more)
        text = f"version: 1\nname: {name}\nroles:\n{PLANNER}  worker:\n{worker}{graph}"
        self.project.workflow(name, text)

    def running(self, until: float | Path) -> str:
        argv = json.dumps([sys.executable, str(self.program), str(self.log), str(until)])
        return f"    program: {{argv: {argv}, statuses: {{0: done}}}}\n    {DONE}\n"

    def script(self, *parts: str) -> None:
        split = {"role": "planner", "output": {"$status": "split", "parts": [*parts]}}
        self.project.script([split], by_role=True, repeat=True)

    def run(self, name: str) -> Any:
        return self.project.uwf("run", name, "-p", "the task", seconds=120)


def test_nested_fan_outs_run_no_more_steps_at_a_time_than_the_configuration_allows(
    tmp_path: Path,
) -> None:
    tree = Tree(tmp_path)
    tree.project.config("limits: {parallel: 2}\n")
    tree.workflow("inner", tree.running(0.1))
    tree.workflow("outer", "    workflow: ./inner.yaml\n")
    tree.script("a", "b", "c")
    outcome = tree.run("outer")
    assert outcome.document["status"] == "completed", outcome
    ran = tree.log.read_text().splitlines()
    assert (len(ran), overlap(tree.log) <= 2) == (2 * 9, True)


def test_nested_fan_outs_without_a_setting_run_four_steps_at_a_time(tmp_path: Path) -> None:
    tree = Tree(tmp_path)
    tree.workflow("inner", tree.running(0.1), "location: .")
    tree.workflow("outer", "    workflow: ./inner.yaml\n", "location: .")
    tree.script("a", "b", "c")
    assert tree.run("outer").document["status"] == "completed"
    assert overlap(tree.log) <= 4


STARTER = """
import json, os, subprocess
subprocess.run({command}, check=True, capture_output=True, env={{**os.environ}})
print(json.dumps({{"output": "---\\n$status: done\\n---\\n"}}))
"""


def test_a_thread_that_an_agent_of_a_branch_starts_waits_for_no_slot_of_it(tmp_path: Path) -> None:
    tree = Tree(tmp_path)
    tree.workflow("inner", tree.running(0.1))
    tree.workflow("outer", f"    goal: Start a thread.\n    {DONE}\n")
    tree.script("a", "b")
    command = [*own_python("uwf_core"), "run", "inner", "-p", "A part.", "--agent", "mock"]
    starter = tmp_path / "starter.py"
    starter.write_text(STARTER.format(command=command))
    tree.project.config(
        "limits: {parallel: 1}\n"
        f"agents:\n  me: {{command: {json.dumps(sys.executable)}, args: [{starter}], "
        "env: [UWF_MOCK_SCRIPT, UWF_DEFAULT_AGENT]}\n"
        "agentOverrides: {outer: {worker: me}}\n"
    )
    assert tree.run("outer").document["status"] == "completed"
    assert len(tree.log.read_text().splitlines()) == 2 * 4


def waiting(project: Project, reason: str) -> str | None:
    """A branch that waits for this reason while its root runs."""
    outcome = project.uwf("thread", "show", "@last")
    if outcome.exit_code:
        return None  # it is not started yet
    shown = outcome.document
    branches = shown["stack"][-1]["branches"] if shown["stack"] else None
    found = [each["thread"] for each in branches or () if each["reason"] == reason]
    return found[0] if found and shown["status"] == "running" else None


def test_a_person_grants_more_to_a_branch_while_the_root_runs(tmp_path: Path) -> None:
    tree = Tree(tmp_path)
    tree.workflow("work", tree.running(tmp_path / "go"))
    tree.script("a", "b")
    command = tree.project.command("run", "work", "-p", "x", "--max-steps", "2")
    with subprocess.Popen(
        command, cwd=tree.project.folder, env=tree.project.env, stdout=subprocess.PIPE
    ) as root:
        until = time.monotonic() + 100
        ran = tmp_path / "go-first"
        while (branch := waiting(tree.project, "limit")) is None or not ran.exists():
            assert time.monotonic() < until and root.poll() is None
        granted = tree.project.uwf("thread", "resume", branch, "--grant", "steps=3")
        assert granted.exit_code == 0, granted
        (tmp_path / "go").touch()
        assert root.wait(60) in (0, 75), "75: the branch still runs in the other process"
    assert tree.project.uwf("thread", "exec", "@last").document["status"] == "completed"
    assert tree.project.uwf("cas", "verify").exit_code == 0
