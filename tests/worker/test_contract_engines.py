"""The queue in memory passes the kit, however bad it is made; Procrastinate's: tests/postgres."""

import pytest
from engine_contract import EngineContract

from uwf_worker.engines.engine import queue_of
from uwf_worker.engines.memory import MemoryEngine


class TestMemory(EngineContract):
    @pytest.fixture
    def engine(self):
        made = MemoryEngine()
        yield made
        made.close()


def test_names_of_queues_are_short_and_depend_on_the_needs_alone():
    assert queue_of(["b", "a"]) == queue_of(("a", "b"))
    assert queue_of(["a" * 500]) != queue_of(["a" * 501])
    assert len(queue_of(["a" * 500])) <= 40
