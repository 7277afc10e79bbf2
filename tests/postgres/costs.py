"""What commands and commits cost on PostgreSQL, on a server that waits for the disk.

    python tests/postgres/costs.py --rounds 15

Commands are compared with `python -c pass`, less one connection; the commit of a step with that of
one row of as many bytes. A slower disk is a delay of 3 ms before each sync (`commit_delay`).
"""

import argparse
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median

sys.path.insert(0, str(Path(__file__).parents[2]))
sys.path.insert(0, str(Path(__file__).parent))

import psycopg
from chaos import STEPS, chain
from postgres_server import Server

from benchmarks.measure import BASE, UWF, Case, interleaved
from conftest import made
from uwf_core.api.store import Commit, Committed
from uwf_core.testing.project import Project
from uwf_store_postgres.backend import PostgresBackend

THREADS = 20
COMMANDS = (("thread", "list"), ("thread", "show"), ("inbox",))


def milliseconds(call: Callable[[], object]) -> float:
    """How long a call takes."""
    started = time.perf_counter()
    call()
    return 1000 * (time.perf_counter() - started)


def project_at(folder: Path, url: str) -> Project:
    """A project whose threads are in this store."""
    project = Project(folder)
    project.env["UWF_STORE"] = url
    project.workflow("chain", chain())
    replies = [{"role": f"r{n}", "output": {"$status": "done"}} for n in range(STEPS)]
    project.script(replies, by_role=True)
    return project


def commands(project: Project, thread: str, server: Server, rounds: int) -> None:
    """Print what a command takes beyond one connection, in times of a bare Python."""
    cases = {}
    for words in COMMANDS:
        own = (*words, thread) if words[-1] == "show" else words
        cases[" ".join(words)] = Case((UWF, *own), project.folder, project.env)
    times = interleaved(cases, rounds)
    one = median(
        milliseconds(lambda: psycopg.connect(server.url()).close()) for _ in range(3 * rounds)
    )
    py = 1000 * median(times[BASE])
    print(f"a bare Python: {py:.1f} ms; one connection: {one:.1f} ms")
    for name in cases:
        took = 1000 * median(times[name])
        print(f"uwf {name}: {took:.0f} ms, {(took - one) / py:.1f} x py and one connection (<= 25)")


def commits(project: Project, server: Server, wanted: int) -> None:
    """Print what the last commit of a step takes, in times of a row of as many bytes."""
    server.execute("CREATE TABLE probe (data bytea)")
    steps, lone = [], []
    real = PostgresBackend.commit
    with psycopg.connect(server.url(), autocommit=True) as connection:

        def timed(self: PostgresBackend, commit: Commit) -> Committed:
            before = time.perf_counter()
            done = real(self, commit)
            took = 1000 * (time.perf_counter() - before)
            if commit.durable and commit.changes and len(commit.records) > 2:
                size = sum(len(each.data) for each in commit.records)
                row = ("INSERT INTO probe VALUES (%b)", (b"x" * size,))
                steps.append(took)
                lone.append(milliseconds(lambda: connection.execute(*row)))
            return done

        PostgresBackend.commit = timed  # type: ignore[method-assign]
        with project.client() as uwf:
            while len(steps) < wanted:
                uwf.exec(uwf.start("chain", "A task.")["thread"], until_done=True)
    PostgresBackend.commit = real  # type: ignore[method-assign]
    ratio = median(a / b for a, b in zip(steps, lone, strict=True))
    print(
        f"commit of a step: {median(steps):.2f} ms, of a row: {median(lone):.2f} ms; {ratio:.2f} x "
        f"({len(steps)} steps)"
    )


def main() -> None:
    """Measure, on a server as it is, and on one with a slower disk."""
    words = argparse.ArgumentParser(description=__doc__)
    words.add_argument("--rounds", type=int, default=15)
    words.add_argument("--steps", type=int, default=200)
    given = words.parse_args()
    for settings in ({}, {"commit_delay": "3000", "commit_siblings": "0"}):
        server = Server(fsync="on", **settings)
        try:
            with tempfile.TemporaryDirectory() as folder:
                project = project_at(Path(folder), made(server))
                print("the disk as it is:" if not settings else "syncs 3 ms longer:")
                commits(project, server, given.steps)
                if not settings:
                    with project.client() as uwf:
                        threads = [
                            uwf.start("chain", f"Task {number}.")["thread"]
                            for number in range(THREADS)
                        ]
                    commands(project, threads[0], server, given.rounds)
        finally:
            server.remove()


if __name__ == "__main__":
    main()
