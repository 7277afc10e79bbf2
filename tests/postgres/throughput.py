"""Steps per second with workers, beside empty jobs of Procrastinate on the same server, and with
`--peers` beside DBOS and LangGraph (see `throughput_peers.py`).

    python tests/postgres/throughput.py --workers 8 --threads 200 --peers /tmp/peers

The server waits for the disk at each durable commit, as in production. Wall-clock
figures count only on an idle machine; those per CPU second also on a busy one.
"""

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from pathlib import Path
from typing import Any, NamedTuple

sys.path.insert(0, str(Path(__file__).parent))

from chaos import HERE, STEPS, chain
from postgres_server import Server, cpu_seconds
from throughput_peers import figures

from conftest import made_for_workers
from uwf_core.testing.project import Project
from uwf_store_postgres.place import place_of
from uwf_worker.engines.engine import Hint, queue_of
from uwf_worker.engines.procrastinate import ProcrastinateEngine

EMPTY_JOBS = 1000
WARM_STEPS = 5
"""After so many steps a worker has loaded all that it needs."""


class Mark(NamedTuple):
    """What was done at a time, and the CPU seconds that it took so far."""

    at: float
    steps: int
    workers: float
    server: float


def steps_per_second(
    server: Server, url: str, folder: Path, workers: int, threads: int
) -> dict[str, Any]:
    """Mock steps of threads that wait before the workers start, by the times in their log."""
    project = Project(folder)
    project.env["UWF_STORE"] = url
    project.workflow("chain", chain())
    replies = [{"role": f"r{n}", "output": {"$status": "done"}} for n in range(STEPS)]
    project.script(replies, by_role=True)
    with project.client() as uwf:
        for number in range(threads):
            uwf.start("chain", f"Task {number}.", queue=True)
        log = folder / "log.txt"
        words = [sys.executable, HERE / "chaos_worker.py", log, "procrastinate", "alone"]
        env = {**project.env, "UWF_STORE": url}
        processes = [
            subprocess.Popen(words, env=env, cwd=project.folder, stderr=subprocess.DEVNULL)
            for _ in range(workers)
        ]
        marks: list[Mark] = []
        begun: Mark | None = None
        while not marks or marks[-1].steps < threads * STEPS:
            time.sleep(0.25)
            used = sum(cpu_seconds(each.pid) for each in processes)
            done = steps_of(log)
            marks.append(Mark(time.monotonic(), done.total(), used, server.cpu_seconds()))
            if begun is None and min(done[each.pid] for each in processes) >= WARM_STEPS:
                begun = marks[-1]
        for each in processes:
            each.terminate()
        for each in processes:
            each.wait(60)
    # The steady part: from when all are warm, until some have nothing to do.
    high = next(mark for mark in marks if mark.steps >= threads * STEPS * 0.9)
    assert begun is not None and begun.steps < high.steps * 0.8, "too few threads for these workers"
    took = Mark(*(late - early for early, late in zip(begun, high, strict=True)))
    return {
        "steps": took.steps,
        "perSecond": round(took.steps / max(took.at, 0.1), 1),
        "perCpuSecond": round(took.steps / (took.workers + took.server), 1),
        "workerMs": round(1000 * took.workers / took.steps, 2),
        "serverMs": round(1000 * took.server / took.steps, 2),
    }


def steps_of(log: Path) -> "Counter[int]":
    """How many steps each process has acknowledged."""
    lines = log.read_text().splitlines() if log.exists() else []
    return Counter(int(line.split()[1]) for line in lines if line.startswith("ack "))


def jobs_per_second(url: str, workers: int) -> float:
    """Empty jobs of Procrastinate: deferred before, then fetched and finished by its workers."""
    place, queue = place_of(url), queue_of([])
    engines = [ProcrastinateEngine(place) for _ in range(workers)]
    engines[0].enqueue([Hint(f"t{n}", queue) for n in range(EMPTY_JOBS)])

    def work(engine: ProcrastinateEngine) -> None:
        while (job := engine.claim([queue], 0)) is not None:
            engine.finish(job)

    crew = [threading.Thread(target=work, args=[each]) for each in engines]
    begun = time.monotonic()
    for each in crew:
        each.start()
    for each in crew:
        each.join()
    took = time.monotonic() - begun
    for engine in engines:
        engine.close()
    return EMPTY_JOBS / took


def main() -> None:
    """Measure all in one run."""
    words = argparse.ArgumentParser(description=__doc__)
    words.add_argument("--workers", type=int, default=8)
    words.add_argument("--threads", type=int, default=40)
    words.add_argument("--peers", type=Path, help="the folder of an environment for them")
    given = words.parse_args()
    server = Server(fsync="on", max_connections="200")
    folder = Path(tempfile.mkdtemp(prefix="uwf-throughput-"))
    try:
        url = made_for_workers(server)
        empty = jobs_per_second(url, given.workers)
        found = steps_per_second(server, url, folder, given.workers, given.threads)
        found |= {"emptyJobsPerSecond": empty, "workers": given.workers}
        if given.peers is not None:
            roles = [f"r{number}" for number in range(STEPS)]
            found |= figures(server, given.peers, given.workers, given.threads, roles)
        schema = place_of(url).schema
        [(updates, hot)] = server.execute(
            "SELECT n_tup_upd, n_tup_hot_upd FROM pg_stat_user_tables "
            f"WHERE schemaname = '{schema}' AND relname = 'dispatch'"
        )
        found |= {"rowUpdates": updates, "rowUpdatesHot": hot}
        sys.stdout.write(json.dumps(found) + "\n")
    finally:
        server.remove()
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
