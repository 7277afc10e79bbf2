"""What the benches work on: users with a home, a workflow, threads of every length."""

import json
import os
import subprocess
from pathlib import Path
from typing import Any

from benchmarks.measure import UWF, Case

WORKFLOW = """\
version: 1
name: loop
roles:
  worker:
    goal: work
    limits: {maxUnchanged: 0}
    frontmatter:
      oneOf:
        - {properties: {$status: {const: again}}, required: [$status]}
        - {properties: {$status: {const: done}}, required: [$status]}
graph:
  $START:
    new: {role: worker, prompt: Begin.}
    resume: {role: worker, prompt: Continue.}
  worker:
    again: {role: worker, prompt: Again.}
    done: {role: $END, prompt: Done.}
"""

SCRIPT = """\
repeat: true
steps:
  - {role: worker, output: "---\\n$status: again\\n---\\n%s\\n"}
"""

CONFIG = """\
defaultAgent: played
agents:
  played:
    use: mock
    options: {script: %s}
"""


class User:
    """A user with a home folder: a config file, the mock agent, the workflow `loop`."""

    def __init__(self, folder: Path) -> None:
        self.home = folder / ".uwf"
        self.project = folder / "project"
        self.home.mkdir(parents=True, mode=0o700)
        self.project.mkdir()
        script = folder / "script.yaml"
        script.write_text(SCRIPT % ("x" * 200), encoding="utf-8")
        config = self.home / "config.yaml"
        config.write_text(CONFIG % script, encoding="utf-8")
        config.chmod(0o600)
        (self.project / "loop.yaml").write_text(WORKFLOW, encoding="utf-8")
        self.document("workflow", "add", "loop.yaml")

    @property
    def environment(self) -> dict[str, str]:
        """The environment of this user."""
        kept = {name: os.environ[name] for name in ("PATH", "LANG", "TMPDIR") if name in os.environ}
        return {**kept, "HOME": str(self.home.parent), "UWF_HOME": str(self.home)}

    def case(self, *words: str) -> Case:
        """A call of uwf by this user."""
        return Case([UWF, *words], self.project, self.environment)

    def document(self, *words: str) -> Any:
        """Run a command that must succeed; its JSON."""
        done = subprocess.run(
            [UWF, *words, "--format", "json"],
            cwd=self.project,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=False,
        )
        if done.returncode != 0:
            raise RuntimeError(f"uwf {' '.join(words)}: {done.stderr.decode()}")
        return json.loads(done.stdout)

    def thread(self, steps: int = 0) -> str:
        """A new thread of so many steps."""
        thread = str(self.document("thread", "start", "loop", "-p", "a task")["thread"])
        if steps:
            self.document("thread", "exec", thread, "-c", str(steps))
        return thread

    def threads(self, count: int) -> None:
        """Start so many threads at once, in one transaction."""
        from uwf_core.engine.open_engine import open_engine
        from uwf_core.engine.watch import Listener
        from uwf_core.threads.start import StartOptions, start_thread

        engine = open_engine(env=self.environment, cwd=str(self.project))
        options = StartOptions(workflow="loop", prompt="a task", cwd=str(self.project))
        try:
            with engine.store.transaction():
                for _ in range(count):
                    start_thread(engine, options, Listener(None, None))
        finally:
            engine.close()


def distributions(folder: Path, count: int) -> None:
    """The metadata of so many installed distributions in `folder`: each fourth has a command."""
    for number in range(count):
        info = folder / f"other_{number}-1.0.dist-info"
        info.mkdir(parents=True)
        (info / "METADATA").write_text(
            f"Metadata-Version: 2.1\nName: other-{number}\nVersion: 1.0\n"
        )
        (info / "RECORD").write_text("")
        if number % 4 == 0:
            (info / "entry_points.txt").write_text("[console_scripts]\nother = other:main\n")


def plugins(folder: Path, count: int) -> None:
    """The metadata of so many distributions with an agent and a command each."""
    for number in range(count):
        info = folder / f"uwf_agent_many{number}-1.0.dist-info"
        info.mkdir(parents=True)
        (info / "METADATA").write_text(
            f"Metadata-Version: 2.1\nName: uwf-agent-many{number}\nVersion: 1.0\n"
            "Requires-Dist: uwf-core>=0.1,<1\n"
        )
        (info / "entry_points.txt").write_text(
            f"[uwf.agents]\nmany{number} = many_{number}\n"
            f"[uwf.commands]\nmany{number} = many_{number}:command\n"
        )
