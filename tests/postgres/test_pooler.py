"""PgBouncer between uwf and the server: each transaction gets another connection."""

import os
import shutil
import subprocess
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from postgres_server import Server, free_port
from test_dispatch import DONE, TWO, started

from uwf_core.testing.project import Project
from uwf_store_postgres.place import place_of
from uwf_store_postgres.plugin import uwf_stores
from uwf_testing.store_commits import CommitClauses, LeaseClauses, SnapshotClauses
from uwf_testing.store_variables import LockClauses
from uwf_worker.engines.procrastinate import ProcrastinateEngine
from uwf_worker.migrating import migrate_queue
from uwf_worker.worker import Worker, WorkerOptions

CONNECTIONS = 3
"""Fewer than the clients have, so that they share them."""

SETTINGS = """\
[databases]
* = host=127.0.0.1 port={server} user=uwf
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = {port}
unix_socket_dir =
auth_type = any
pool_mode = transaction
default_pool_size = {connections}
logfile = {folder}/pgbouncer.log
pidfile = {folder}/pgbouncer.pid
"""


def program() -> str | None:
    """PgBouncer, None if this machine has none."""
    names = (os.environ.get("UWF_PGBOUNCER"), "pgbouncer", "/usr/sbin/pgbouncer")
    return next((found for each in names if each and (found := shutil.which(each))), None)


@pytest.fixture(scope="module")
def pooler(server: Server, tmp_path_factory) -> Iterator[int]:
    """The port of a pooler before the server."""
    found = program()
    if found is None:
        pytest.skip("no PgBouncer: install Debian's `pgbouncer`, or set UWF_PGBOUNCER to its path")
    folder: Path = server.folder("pooler")
    port = free_port()
    text = SETTINGS.format(server=server.port, port=port, folder=folder, connections=CONNECTIONS)
    (folder / "pgbouncer.ini").write_text(text)
    process = subprocess.Popen(
        [found, "-q", folder / "pgbouncer.ini"], cwd="/", stderr=subprocess.DEVNULL, **server.user
    )
    until = time.monotonic() + 30
    while not (folder / "pgbouncer.pid").exists():
        assert process.poll() is None, (folder / "pgbouncer.log").read_text()
        assert time.monotonic() < until
        time.sleep(0.02)
    yield port
    process.terminate()
    process.wait(30)


class TestPooled(CommitClauses, SnapshotClauses, LockClauses, LeaseClauses):
    """The clauses of the store contract on transactions, conflicts, locks and leases."""

    spec = uwf_stores()[0]
    lease_seconds = 4

    @pytest.fixture(autouse=True)
    def _own_store(self, another_url, server, pooler) -> None:
        direct = [another_url(lease="4", touch="0", pooler="transaction") for _ in range(2)]
        self.url, self.other_url = (
            each.replace(f":{server.port}", f":{pooler}") for each in direct
        )


def test_workers_run_threads_behind_a_pooler(another_url, server, pooler, tmp_path):
    """Two workers, their queues and a person share three connections of the server."""
    direct = another_url(pooler="transaction")
    migrate_queue(place_of(direct))
    project = Project(tmp_path)
    project.env["UWF_STORE"] = direct.replace(f":{server.port}", f":{pooler}")
    project.workflow("two", TWO)
    project.script([{"role": role, "output": DONE} for role in ("planner", "writer")], by_role=True)
    with project.client() as uwf, project.client() as first, project.client() as second:
        threads = [started(uwf, "two") for _ in range(3)]
        place, workers = place_of(project.env["UWF_STORE"]), []
        queues = [ProcrastinateEngine(place) for _ in range(2)]
        for client, queue in zip((first, second), queues, strict=True):
            options = WorkerOptions(client.queued.own_labels(), 2.0)
            workers.append(Worker(client, queue, options, lambda line: None))
        runs = [threading.Thread(target=each.run) for each in workers]
        for each in runs:
            each.start()
        until = time.monotonic() + 60
        while any(uwf.show(each)["status"] != "completed" for each in threads):
            assert time.monotonic() < until
            time.sleep(0.05)
        for each in workers:
            each.drain()
        for each in runs:
            each.join(60)
        assert [uwf.show(each)["steps"] for each in threads] == [2, 2, 2]
        for each in queues:
            each.close()
    used = "SELECT count(*) FROM pg_stat_activity WHERE application_name LIKE 'uwf%'"
    assert server.execute(used)[0][0] <= CONNECTIONS


def test_a_queue_behind_a_pooler_gives_each_job_once(another_url, server, pooler):
    from uwf_worker.engines.engine import Hint, queue_of

    direct, queue = another_url(pooler="transaction"), queue_of([])
    migrate_queue(place_of(direct))
    place = place_of(direct.replace(f":{server.port}", f":{pooler}"))
    engines = [ProcrastinateEngine(place) for _ in range(2)]
    engines[0].enqueue([Hint("t1", queue), Hint("t2", queue), Hint("t1", queue)])
    found = [engines[number % 2].claim([queue], 0) for number in range(3)]
    assert sorted(job.thread for job in found if job) == ["t1", "t2"]
    for job in filter(None, found):
        engines[1].finish(job)
    engines[0].heartbeat()
    for each in engines:
        each.close()
