"""A folder with a task whose agent is a shell script, and `uwf-eval` as a user runs it."""

import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from uwf_core.api import own_python
from uwf_core.client import Client
from uwf_core.testing.project import Project
from uwf_eval.records import Run, Trial
from uwf_eval.store.results import Results

FLOW = """\
version: 1
name: flow
roles:
  writer:
    goal: Deliver.
    frontmatter:
      properties: {$status: {const: done}}
      required: [$status]
graph:
  $START:
    new: {role: writer, prompt: Begin.}
    resume: {role: writer, prompt: Again.}
  writer:
    done: {role: $END, prompt: Done.}
"""
MOCK = "steps: [{role: writer, output: {$status: done}}]\n"
DONE = """echo '{"output": {"$status": "done"}}'\n"""
ROUTE = {"name": "route", "builtin": "expected-route", "options": {"route": ["writer"]}}


class Site:
    """A folder of a user: `tasks`, a home of its own."""

    def __init__(self, root: Path) -> None:
        self.folder = root / "site"
        self.folder.mkdir(parents=True)
        self.home = root / "home"
        self.temporary = root / "tmp"
        self.temporary.mkdir()
        given = {name: os.environ[name] for name in os.environ if not name.startswith("PYTHON")}
        self.env = {
            **given,
            "UWF_HOME": str(self.home),
            "HOME": str(root),
            "TMPDIR": str(self.temporary),
        }

    def task(self, name: str = "t", agent: str | None = None, **changes: Any) -> Path:
        """Write a task; without `agent`, a shell script, the mock plays its role."""
        folder = self.folder / name
        folder.mkdir(exist_ok=True)
        (folder / "flow.yaml").write_text(FLOW)
        (folder / "play.yaml").write_text(MOCK)
        (folder / "agent.sh").write_text(agent or "")
        who: Mapping[str, Any] = {"agent": "sh agent.sh"}
        if agent is None:
            who = {"agent": "mock", "env": {"UWF_MOCK_SCRIPT": "./play.yaml"}}
        task = {
            "name": name, "workflow": "flow.yaml", "prompt": "do it", "judges": [ROUTE],
            **who, **changes,
        }  # fmt: skip
        (folder / "task.yaml").write_text(json.dumps(task))
        return folder

    def start(self, *words: str, **options: Any) -> "subprocess.Popen[str]":
        return subprocess.Popen(
            [sys.executable, "-m", "uwf_eval", *words], cwd=self.folder, env=self.env, text=True,
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, **options,
        )  # fmt: skip

    def eval(self, *words: str) -> "subprocess.CompletedProcess[str]":
        command = [*own_python("uwf_core"), "eval", *words]
        done = Project.run_command(command, self.folder, self.env, "", 200)
        return subprocess.CompletedProcess(words, done.exit_code, done.stdout, done.stderr)

    def trust(self, folder: Path) -> None:
        command = [*own_python("uwf_core"), "config", "trust", str(folder)]
        assert Project.run_command(command, self.folder, self.env, "", 60).exit_code == 0

    def document(self, *words: str, code: int = 0) -> Any:
        done = self.eval(*words)
        assert done.returncode == code, done.stderr
        return json.loads(done.stdout)

    def stored(self, word: str = "@last") -> tuple[Run, list[Trial]]:
        with Client.open(env=self.env, cwd=self.folder) as client:
            results = Results(client)
            run = results.run(word)
            return run, list(results.trials(run.run))

    def runs(self) -> Sequence[Run]:
        with Client.open(env=self.env, cwd=self.folder) as client:
            return Results(client).runs()
