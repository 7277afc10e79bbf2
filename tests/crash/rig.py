"""What the tests with real processes share: a project whose agents can be killed, and ways to look
at processes that need no help of the code under test.
"""

import hashlib
import json
import os
import signal
import sqlite3
import subprocess
import sys
import time
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any

from uwf_core.testing.project import Project

SECONDS = 60.0
"""How long a test waits for what should come at once: the machine may be busy."""
AGENT = Path(__file__).parent / "programs" / "agent.py"

LOOP = """
version: 1
name: loop
description: two roles that go on until one of them is content
roles:
  writer:
    goal: Write it.
    limits: {maxUnchanged: 0}
    frontmatter:
      type: object
      properties: {$status: {const: done}, note: {type: string}}
      required: [$status]
  checker:
    goal: Check it.
    limits: {maxUnchanged: 0}
    frontmatter:
      oneOf:
        - properties: {$status: {const: good}}
          required: [$status]
        - properties: {$status: {const: again}}
          required: [$status]
graph:
  $START:
    new: {role: writer, prompt: Write it.}
    resume: {role: writer, prompt: There is more to do.}
  writer:
    done: {role: checker, prompt: Check it.}
  checker:
    good: {role: $END, prompt: Done.}
    again: {role: writer, prompt: Once more.}
"""
DONE = {"role": "writer", "output": {"$status": "done"}}
AGAIN = {"role": "checker", "output": {"$status": "again"}}
GOOD = {"role": "checker", "output": {"$status": "good"}}


class Rig(Project):
    """A project with the workflow `loop`. Every process of it bears a mark of its own.

    The agents `kids`, `deaf`, … are scenarios of `programs/agent.py`, as command agents.
    """

    def __init__(self, root: Path) -> None:
        super().__init__(root)
        self.root = root
        self.mark = uuid.uuid4().hex
        self.pids = root / "pids"
        self.pids.mkdir()
        self.env |= {"UWF_TEST_MARK": self.mark, "UWF_TEST_PIDS": str(self.pids)}
        self.workflow("loop", LOOP)

    def play(self, *steps: dict[str, Any], repeat: bool = False) -> None:
        """What the mock agent plays."""
        self.script(steps, repeat=repeat)

    def command_agents(self, *scenarios: str, settings: str = "", **more: Any) -> None:
        """Write a configuration in which these scenarios are agents of the same names."""
        agents = {
            name: {
                "command": sys.executable,
                "args": ["-I", "-S", str(AGENT), name],
                "capabilities": ["continue", "stream"],
                "env": ["UWF_TEST_*"],
            }
            for name in scenarios
        }
        limits = {"graceSeconds": 0.3, **more}
        self.config(f"agents: {json.dumps(agents)}\nlimits: {json.dumps(limits)}\n{settings}")

    def start(self, *arguments: str, prompt: str = "The task.") -> str:
        """A thread of `loop` that has not run yet."""
        started = self.uwf("thread", "start", "loop", "-p", prompt, *arguments)
        assert started.exit_code == 0, started.stderr
        thread = started.document["thread"]
        assert isinstance(thread, str)
        return thread

    def show(self, thread: str) -> dict[str, Any]:
        """`thread show`, asked for within this process."""
        with self.client() as uwf:
            return dict(uwf.show(thread))

    def said(self, thread: str) -> list[str]:
        """What the turns so far say, those of the step under way included."""
        with self.client() as uwf:
            return [turn["text"] for turn in uwf.turns(thread)]

    def at_work(self, thread: str) -> bool:
        """Whether the agent `long` (or the like) is in the middle of its work, with all its kin."""
        return self.said(thread)[-1:] == ["I begin"] and len(list(self.pids.glob("[0-9]*"))) >= 4

    def living(self) -> list[str]:
        """What runs of this project: whoever bears its mark, or has written its id into `pids`."""
        found = set(marked(f"UWF_TEST_MARK={self.mark}".encode()))
        found |= {int(file.stem) for file in self.pids.glob("[0-9]*") if is_kin(file)}
        return [f"{pid} {_command(pid)}" for pid in sorted(found)]

    def kill_all(self) -> None:
        """End whatever is left of this project."""
        for each in self.living():
            _kill(int(each.split()[0]))

    def state(self) -> dict[str, str]:
        """Digests of all that matters below home and project: files byte by byte, the store by its
        nodes and variables. Its log is no content, and neither are locks, which stay for good.
        """
        found = {}
        for file in sorted(path for path in self.root.rglob("*") if path.is_file()):
            if not file.name.startswith("store.db") and file.suffix != ".lock":
                found[str(file.relative_to(self.root))] = _digest(file.read_bytes())
        store = self.home / "store.db"
        if store.exists():
            found["store.db"] = _store_digest(store)
        return found


def is_running(pid: int) -> bool:
    """Whether there is such a process, and no zombie."""
    try:
        return Path(f"/proc/{pid}/stat").read_bytes().rpartition(b") ")[2][:1] not in b"ZX"
    except (FileNotFoundError, ProcessLookupError):
        return False


def is_kin(file: Path) -> bool:
    """Whether the process that a file is named after is still the one that wrote the file."""
    try:
        stat = Path(f"/proc/{file.stem}/stat").read_bytes()
        return is_running(int(file.stem)) and file.read_bytes() == started(stat)
    except (FileNotFoundError, ProcessLookupError):
        return False


def started(stat: bytes) -> bytes:
    """The start time in a `/proc/<pid>/stat`."""
    return stat.rpartition(b") ")[2].split()[19]


def marked(wanted: bytes) -> list[int]:
    """The living processes whose environment holds this."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            environment = (folder / "environ").read_bytes().split(b"\0")
        except OSError:
            continue
        if wanted in environment and is_running(int(folder.name)):
            found.append(int(folder.name))
    return found


def children(pid: int) -> list[int]:
    """The children of a process."""
    found = []
    for file in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = file.read_bytes().rpartition(b") ")[2].split()
        except OSError:
            continue
        if int(fields[1]) == pid:
            found.append(int(file.parent.name))
    return found


def kill_at_once(*pids: int) -> None:
    """`kill -9`, none of them being able to do anything about the end of another."""
    for number in (signal.SIGSTOP, signal.SIGKILL):
        for pid in pids:
            try:
                os.kill(pid, number)
            except ProcessLookupError:
                continue


def eventually(holds: Callable[[], object], seconds: float = SECONDS) -> bool:
    """Whether something comes true in time."""
    deadline = time.monotonic() + seconds
    while not holds():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.02)
    return True


def end(process: "subprocess.Popen[str]") -> tuple[str, str]:
    """Wait for a process; what it printed."""
    return process.communicate(timeout=SECONDS)


def _kill(pid: int) -> None:
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        return


def _command(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode()
    except OSError:
        return "?"


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def _store_digest(path: Path) -> str:
    connection = sqlite3.connect(f"file://{path}?mode=ro", uri=True)
    try:
        connection.text_factory = bytes
        rows = [
            *connection.execute("SELECT * FROM node ORDER BY ref"),
            *connection.execute("SELECT * FROM variable ORDER BY name"),
        ]
    except sqlite3.DatabaseError:
        return _digest(path.read_bytes())
    finally:
        connection.close()
    return _digest(repr(rows).encode())


def wait_until_it_hears(pid: int, number: int, seconds: float = 60) -> None:
    """Until a process has set a handler for a signal, and a moment longer."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        fields = dict(
            line.split(":\t", 1) for line in Path(f"/proc/{pid}/status").read_text().splitlines()
        )
        if int(fields["SigCgt"], 16) >> (number - 1) & 1:
            time.sleep(0.3)
            return
        time.sleep(0.05)
    raise AssertionError(f"no handler for {number}")
