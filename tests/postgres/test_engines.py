"""Queues of workers: each passes the kit, however bad it is made."""

import pytest
from tests.worker.engine_contract import EngineContract

from uwf_store_postgres.place import place_of
from uwf_worker.engines.engine import Hint, queue_of
from uwf_worker.engines.procrastinate import ProcrastinateEngine


class TestProcrastinate(EngineContract):
    @pytest.fixture
    def engine(self, workers_url):
        self.place, self.others = place_of(workers_url), []
        made = ProcrastinateEngine(self.place)
        yield made
        for each in (made, *self.others):
            each.close()

    def another(self, engine):
        self.others.append(ProcrastinateEngine(self.place))
        return self.others[-1]


def test_the_jobs_of_a_dead_worker_are_removed_and_nothing_piles_up(workers_url, server):
    """Finished jobs and their events are deleted; a stalled job makes room for a new hint."""
    place, queue = place_of(workers_url), queue_of([])
    schema = place.schema
    dead, alive = ProcrastinateEngine(place), ProcrastinateEngine(place)
    dead.enqueue([Hint("t", queue)])
    assert dead.claim([queue], 1) is not None
    workers = f"{schema}.procrastinate_workers"
    server.execute(
        f"UPDATE {workers} SET last_heartbeat = now() - interval '1 h' "
        f"WHERE id = (SELECT min(id) FROM {workers})"
    )
    assert alive.reap() == 1
    for table in ("jobs", "events"):
        assert server.execute(f"SELECT count(*) FROM {schema}.procrastinate_{table}") == [(0,)]
    assert dead.claim([queue], 0.1) is None, "it registers anew"
    for each in (dead, alive):
        each.close()
