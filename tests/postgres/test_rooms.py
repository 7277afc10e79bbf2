"""Who is claimed next: who has waited longest, and nobody waits for a limit that is not theirs."""

import time
from collections.abc import Iterator
from typing import Any

import pytest
from test_dispatch import TWO, started
from test_dispatch_rows import put, row, settled
from test_worker import Thread, is_done, script, wait

from conftest import made_for_workers
from uwf_core.errors import StoreError
from uwf_core.testing.project import Project
from uwf_core.threads.queued import JobEnd, QueuedThreads
from uwf_store_postgres.backend import PostgresBackend, open_postgres
from uwf_store_postgres.place import place_of
from uwf_worker.engines.memory import MemoryEngine
from uwf_worker.engines.procrastinate import ProcrastinateEngine

LIMITS = {"model:m": 1}
MANY = 1100


@pytest.fixture
def backend(url) -> Iterator[PostgresBackend]:
    opened = open_postgres(url, "")
    yield opened
    opened.close()


def ago(seconds: float) -> int:
    return int(1000 * (time.time() - seconds))


def claimed(backend: PostgresBackend, count: int = 1) -> list[str | None]:
    found = [backend.claim("w", [], LIMITS) for _ in range(count)]
    return [each and each.thread for each in found]


def waiting_for_room(backend: PostgresBackend) -> int:
    [[count]] = backend._rows("SELECT count(*) FROM {s}.dispatch WHERE room IS NOT NULL")
    return count


def expire(backend: PostgresBackend) -> None:
    """The workers of all claims have died."""
    backend._rows("UPDATE {s}.dispatch SET expires = now() - interval '1 s'")


def test_the_one_that_has_waited_longest_is_next_also_if_it_was_put_off(backend):
    put(backend, row("new"))
    put(backend, row("put-off", not_before_ms=ago(50)), row("older", not_before_ms=ago(90)))
    put(backend, row("urgent", priority=1))
    assert claimed(backend, 5) == ["urgent", "older", "put-off", "new", None]


def test_a_write_lets_no_thread_lose_its_turn(backend):
    """Unless it was put off, or a worker has run it and gives way to others."""
    put(backend, row("b"))
    put(backend, row("a"))
    put(backend, row("b", seq=2))
    assert [each.not_before_ms for each in backend.waiting(9)] == [0, 0]
    first = backend.claim("w", [], LIMITS)
    assert first is not None and first.thread == "b"
    assert backend.settle(*settled(first), None, keeps=False)
    assert claimed(backend, 2) == ["a", "b"]


def test_threads_without_room_keep_no_other_waiting(backend):
    """A thousand older ones of a full model are passed by at once, and in the order in which they
    came when there is room.
    """
    names = [f"m{number:04}" for number in range(MANY)]
    put(backend, *(row(name, uses=["model:m"], not_before_ms=ago(99) + n)
                   for n, name in enumerate(names)))  # fmt: skip
    put(backend, row("other"))
    first = backend.claim("v", [], LIMITS)
    assert first is not None and first.thread == names[0]
    assert claimed(backend, 2) == ["other", None]
    assert waiting_for_room(backend) == MANY - 1
    assert len(backend.waiting(MANY)) == MANY - 1, "they are listed"
    assert backend.settle(*settled(first, is_wanted=False), None, keeps=False)
    assert claimed(backend, 2) == [names[1], None]
    assert waiting_for_room(backend) == MANY - 2


def test_the_end_of_a_thread_is_room_for_another(backend):
    put(
        backend, *(row(name, uses=["model:m"], not_before_ms=9 - n) for n, name in enumerate("cba"))
    )
    assert claimed(backend, 2) == ["a", None]
    put(backend, row("a", uses=["model:m"], is_ended=True))
    assert claimed(backend, 2) == ["b", None]


def test_room_that_nobody_has_told_of_is_found_by_a_sweep(backend):
    """The worker of a thread died, or the limit was raised; each branch of a fan-out that is full
    waits as well.
    """
    put(backend, *(row(f"m{n}", uses=["model:m"]) for n in range(5)))
    put(backend, *(row(f"x{n:03}", group="g/1", most=2) for n in range(600)))
    assert [each and each[0] for each in claimed(backend, 4)].count("x") == 2
    assert waiting_for_room(backend) == 4 + 598
    assert backend.due([], LIMITS, 9, 30) == []
    expire(backend)
    found = {name for name, _ in backend.due([], LIMITS, 20, 30)}
    assert len(found) == 3 + 1 + 2, found
    again = claimed(backend, 4)
    assert sorted(each[0] for each in again if each) == ["m", "x", "x"]
    assert backend.due([], {"model:m": 3}, 9, 30) != [], "of three, one runs"


def test_a_thread_that_is_claimed_by_its_name_waits_for_room_as_well(backend):
    put(backend, row("a", uses=["model:m"]), row("b", uses=["model:m"]))
    assert backend.claim("w", [], LIMITS, "a") is not None
    assert backend.claim("w", [], LIMITS, "b") is None
    assert waiting_for_room(backend) == 1
    backend.leave("w")
    assert backend.claim("w", [], LIMITS, "b") is not None


def test_what_is_written_anew_waits_for_its_own_limits(backend):
    put(backend, row("a", uses=["model:m"]), row("b", uses=["model:m"]))
    assert claimed(backend, 2) == ["a", None]
    put(backend, row("b", seq=2, uses=["model:m"]))
    assert waiting_for_room(backend) == 1
    put(backend, row("b", seq=3))
    assert claimed(backend) == ["b"]


@pytest.mark.parametrize("engine", [lambda _: MemoryEngine(), ProcrastinateEngine])
def test_new_work_does_not_keep_a_thread_waiting_that_was_put_off(
    engine, server, tmp_path, monkeypatch
):
    """Each job brings another one, so there is always something newer to run."""
    project = Project(tmp_path)
    project.env["UWF_STORE"] = made_for_workers(server)
    project.workflow("two", TWO)
    script(project)
    monkeypatch.setattr("uwf_core.threads.queued._ERROR_SECONDS", 0.3)
    run, failed = QueuedThreads.run, list[str]()

    def run_and_bring_another(queued: QueuedThreads, claim: Any, *words: Any) -> JobEnd:
        started(boss, "two")
        if not failed:
            failed.append(claim.thread)
            return JobEnd(0, StoreError("no"))
        return run(queued, claim, *words)

    with project.client() as uwf, project.client() as boss:
        started(uwf, "two")
        started(uwf, "two")
        queue = engine(place_of(uwf.queued.store_url))
        monkeypatch.setattr(QueuedThreads, "run", run_and_bring_another)
        worker = Thread(project, queue)
        try:
            wait(lambda: failed and is_done(uwf, failed[0]))
        finally:
            worker.drain()
            queue.close()
