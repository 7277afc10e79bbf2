"""What a claim costs where many threads wait: how long it takes, and the plan of the server.

    python tests/postgres/claims.py --rows 1000000 --needs 50

The statistics of the server are up to date, as after autovacuum.
"""

import argparse
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from postgres_server import Server

from conftest import made
from uwf_core.api.dispatch import WorkerRow
from uwf_store_postgres.backend import open_postgres
from uwf_store_postgres.place import place_of

AGENTS = 7
_FILL = """
INSERT INTO {s}.dispatch (thread, seq, wanted, needs, uses, not_before, priority, most)
SELECT 'T' || i, 1, true, ARRAY['agent:a' || i % {agents}, 'host:h' || lpad((i / {agents} % {hosts})
    ::text, 5, '0')], ARRAY['model:m' || i % 2], i, i % 3, 0 FROM generate_series(1, {rows}) AS i"""
_WALK = (
    "EXPLAIN (ANALYZE, BUFFERS, COSTS off, TIMING off) SELECT d.needs FROM {s}.dispatch d "
    "WHERE d.wanted AND d.room IS NULL AND d.needs >= ARRAY['agent:none'] ORDER BY d.needs LIMIT 1"
)


def measured(call: Callable[[], object], times: int = 30) -> str:
    """How long a call takes."""
    call()
    took = []
    for _ in range(times):
        begun = time.perf_counter()
        call()
        took.append(1000 * (time.perf_counter() - begun))
    return f"{statistics.median(took):8.2f} ms, at best {min(took):8.2f}"


def main() -> None:
    """Fill the table and measure."""
    words = argparse.ArgumentParser(description=__doc__)
    words.add_argument("--rows", type=int, default=100_000)
    words.add_argument("--needs", type=int, default=50)
    given = words.parse_args()
    server = Server(shared_buffers="256MB")
    try:
        url = made(server)
        schema, backend = place_of(url).schema, open_postgres(url, "")
        hosts = max(1, given.needs // AGENTS)
        server.execute(_FILL.format(s=schema, agents=AGENTS, hosts=hosts, rows=given.rows))
        server.execute(f"VACUUM ANALYZE {schema}.dispatch")
        agents = [f"agent:a{number}" for number in range(AGENTS)]
        fits, none = [*agents, "host:h00000"], [*agents, "gpu", "host:other"]
        every = [*agents, *(f"host:h{number:05}" for number in range(hosts))]
        worker = WorkerRow("all", "vm", 1, "", every, "running", 0, None, 0, 0)
        calls = {
            "claim of a worker with fitting labels": lambda: backend.claim("w", fits, {}),
            "sweep of such a worker": lambda: backend.due(fits, {}, 8, 30),
            "claim with a limit": lambda: backend.claim("w", fits, {agents[0]: given.rows}),
            "claim, every second thread lacks room": lambda: backend.claim(
                "w", fits, {"model:m0": 0}
            ),
            "sweep of a worker, when so many lack room": lambda: backend.due(fits, {}, 8, 30),
            "claim of a worker that fits no waiting thread": lambda: backend.claim("w", none, {}),
            "sweep of such a worker, nothing fits": lambda: backend.due(none, {}, 8, 30),
            "claim of a thread": lambda: backend.claim("w", fits, {}, "T70"),
            "claim of a worker that fits all needs": lambda: backend.claim("w", every, {}),
            "sweep of that worker": lambda: backend.due(every, {}, 8, 30),
            "uwf worker status": lambda: backend.waiting(1000),
            "inbox, all can be run": lambda: backend.waiting(1000, unserved=True),
        }
        for name, call in calls.items():
            backend.beat(worker)
            sys.stdout.write(f"{measured(call)}  {name}\n")
        for (line,) in server.execute(_WALK.format(s=schema)):
            sys.stdout.write(f"    {line}\n")
        backend.close()
    finally:
        server.remove()


if __name__ == "__main__":
    main()
