"""How long a thread stands still when its worker dies: until another one begins the next attempt.

    python tests/postgres/takeover.py --seed 1 --rounds 5 --lease 2 --lease 30

prints one line for each way to die and each lease. `killed`: SIGKILL, on the machine of the other
worker, which sees that the process is gone. `stopped`: SIGSTOP, so that the process is there and
silent, as one on another machine that is lost: only its lease says so.
"""

import argparse
import random
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).parent))

from postgres_server import Server

from conftest import made_for_workers
from uwf_core.client import Client
from uwf_core.testing.project import Project
from uwf_store_postgres.place import place_of

HERE = Path(__file__).parent
WORKFLOW = """\
version: 1
name: slow
roles:
  r0:
    goal: Do it.
    procedure: Do it.
    output: A status.
    frontmatter: {type: object, properties: {$status: {const: done}}, required: [$status]}
graph:
  $START: {new: {role: r0, prompt: Begin.}, resume: {role: r0, prompt: More.}}
  r0: {done: {role: $END, prompt: "Done."}}
"""
WAYS = {"killed": signal.SIGKILL, "stopped": signal.SIGSTOP}
SLOW_MS = 600_000


class Bed(NamedTuple):
    """A server, a store in it, and a project whose agent takes long."""

    server: Server
    schema: str
    project: Project

    def count(self, sql: str) -> int:
        """The number that a statement gives."""
        return int(self.server.execute(sql.replace("{s}", self.schema))[0][0])

    def started(self) -> "subprocess.Popen[bytes]":
        """A new worker, which is registered."""
        words = [sys.executable, HERE / "chaos_worker.py", self.project.folder / "log", "none",
                 "alone"]  # fmt: skip
        child = subprocess.Popen(words, env=self.project.env, cwd=self.project.folder,
                                 stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)  # fmt: skip
        there = f"SELECT count(*) FROM {{s}}.worker WHERE pid = {child.pid}"
        until(lambda: self.count(there) == 1)
        return child


def until(condition: Callable[[], bool], seconds: float = 180) -> None:
    """Wait."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it takes too long"
        time.sleep(0.02)


def takeover(bed: Bed, uwf: Client, how: signal.Signals, delay: float) -> float:
    """The seconds from the death of the worker of a thread to the next attempt at its step."""
    thread = uwf.start("slow", "Task.", queue=True)["thread"]
    begun = f"SELECT count(*) FROM {{s}}.variable WHERE name = '@uwf/attempt/{thread}/1.%d'"
    first = bed.started()
    second = None
    try:
        until(lambda: bed.count(begun % 1) == 1)
        second = bed.started()
        time.sleep(delay)
        first.send_signal(how)
        died = time.monotonic()
        until(lambda: bed.count(begun % 2) == 1)
        return time.monotonic() - died
    finally:
        for each in filter(None, (first, second)):
            each.kill()
            each.wait()
        bed.server.execute(f"DELETE FROM {bed.schema}.dispatch; DELETE FROM {bed.schema}.worker")


def measured(server: Server, lease: float, rounds: int, chance: random.Random) -> None:
    """Print a line for each way to die."""
    url = made_for_workers(server, lease=f"{lease:g}")
    with tempfile.TemporaryDirectory(prefix="uwf-takeover-") as folder:
        project = Project(Path(folder))
        project.env["UWF_STORE"] = url
        project.workflow("slow", WORKFLOW)
        done = {"role": "r0", "output": {"$status": "done"}, "delayMs": SLOW_MS}
        project.script([done], by_role=True)
        bed = Bed(server, place_of(url).schema, project)
        with project.client() as uwf:
            for word, how in WAYS.items():
                took = [
                    takeover(bed, uwf, how, chance.uniform(0, min(lease, 6))) for _ in range(rounds)
                ]
                sys.stdout.write(
                    f"{word}, lease {lease:g} s: median {statistics.median(took):.1f} s, most "
                    f"{max(took):.1f} s of {rounds}; bound {lease + 5:g} s\n"
                )
                sys.stdout.flush()


def main() -> None:
    """Measure with each lease."""
    words = argparse.ArgumentParser(description=__doc__)
    words.add_argument("--seed", type=int, default=1)
    words.add_argument("--rounds", type=int, default=5)
    words.add_argument("--lease", type=float, action="append")
    given = words.parse_args()
    server = Server()
    try:
        for lease in given.lease or [2, 30]:
            measured(server, lease, given.rounds, random.Random(given.seed))
    finally:
        server.remove()


if __name__ == "__main__":
    main()
