"""Many machines in small: a PostgreSQL server, workers and a fan-out; one worker is killed.

    python3 dev.py demo --workers 3

Everything is in a temporary folder, which is removed at the end. The agent is a script that takes a
second for each step.
"""

import argparse
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from postgres_server import MISSING, Server, programs

from uwf_core.client import Client
from uwf_core.testing.project import Project
from uwf_store_postgres.backend import open_postgres
from uwf_store_postgres.place import place_of
from uwf_worker.migrating import migrate_queue

PARTS = 6
_ROLE = """\
    goal: Do your part.
    procedure: Work for a second.
    output: A status.
    frontmatter: {type: object, properties: {$status: {const: done}}, required: [$status]}
"""
PART = f"""\
version: 1
name: part
roles:
  writer:
{_ROLE}  reviewer:
{_ROLE}graph:
  $START: {{new: {{role: writer, prompt: Write.}}, resume: {{role: writer, prompt: Again.}}}}
  writer: {{done: {{role: reviewer, prompt: Review.}}}}
  reviewer: {{done: {{role: $END, prompt: Done.}}}}
"""
WHOLE = f"""\
version: 1
name: whole
roles:
  planner:
{_ROLE}  part: {{workflow: part}}
graph:
  $START: {{new: {{role: planner, prompt: Plan.}}, resume: {{role: planner, prompt: Again.}}}}
  planner:
    done:
      parallel:
{"".join(f"        part{n}: {{role: part, prompt: Part {n}.}}" + chr(10) for n in range(PARTS))}\
      maxParallel: {PARTS}
      then:
        done: {{role: $END, prompt: Done.}}
        $mixed: {{role: $END, prompt: Done.}}
"""


def say(text: str) -> None:
    """A line at once."""
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


def demo(count: int) -> int:
    """Run it; the exit code."""
    server, folder = Server(), Path(tempfile.mkdtemp(prefix="uwf-workers-"))
    workers: list[subprocess.Popen[str]] = []
    try:
        url = server.url(lease="5", schema="uwf")
        backend = open_postgres(url, "")
        backend.migrate()
        backend.close()
        migrate_queue(place_of(url))
        say(f"PostgreSQL runs on port {server.port}; its store has {PARTS} parts to do")
        project = Project(folder)
        project.env["UWF_STORE"] = url
        project.workflow("part", PART)
        project.workflow("whole", WHOLE)
        project.script(
            [
                {"role": role, "output": {"$status": "done"}, "delayMs": 1000}
                for role in ("planner", "writer", "reviewer")
            ],
            by_role=True,
        )
        workers += [project.start_uwf("worker", "start") for _ in range(count)]
        say(f"{count} workers start: processes {', '.join(str(each.pid) for each in workers)}")
        with project.client() as uwf:
            thread = uwf.start("whole", "Write all parts.", queue=True)["thread"]
            say(f"uwf run whole --queue: thread {thread}")
            return _watch(uwf, thread, workers)
    finally:
        for worker in workers:
            worker.terminate()
        for worker in workers:
            worker.communicate(timeout=60)
        server.remove()
        shutil.rmtree(folder, ignore_errors=True)


def _watch(uwf: Client, thread: str, workers: "list[subprocess.Popen[str]]") -> int:
    """Kill a worker in the middle of a part, and wait for the end."""
    killed, begun = None, time.monotonic()
    while time.monotonic() - begun < 120:
        rows = uwf.queued.backend.workers()
        busy = [each for each in rows if each.thread not in (None, thread)]
        if killed is None and len(busy) == len(workers):
            killed = busy[0]
            next(each for each in workers if each.pid == killed.pid).kill()
            say(f"kill -9 {killed.pid}, which was in the middle of thread {killed.thread}")
        if uwf.show(thread)["status"] == "completed":
            break
        time.sleep(0.3)
    shown, steps = uwf.show(thread), uwf.steps(thread)
    say(f"thread {thread} is {shown['status']} after {time.monotonic() - begun:.0f} s")
    parts = shown["children"]
    done = 0
    for each in parts:
        own = [step for step in uwf.steps(each["thread"]) if step["number"]]
        done += [step["role"] for step in own] == ["writer", "reviewer"]
        again = " (its worker was killed)" if killed and each["thread"] == killed.thread else ""
        say(f"  part {each['thread']}: {', '.join(step['role'] for step in own)}{again}")
    is_whole = shown["status"] == "completed" and done == PARTS and killed is not None
    say(f"{done} of {PARTS} parts have each step once: " + ("nothing is lost" if is_whole else "?"))
    return 0 if is_whole and steps else 1


def main() -> int:
    """Read the arguments."""
    words = argparse.ArgumentParser(description=__doc__)
    words.add_argument("--workers", type=int, default=3)
    given = words.parse_args()
    if programs() is None:
        say(MISSING)
        return 1
    return demo(max(2, given.workers))


if __name__ == "__main__":
    sys.exit(main())
