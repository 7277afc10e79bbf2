"""Dispatch rows: written with the step, claimed by one worker, gone when the thread has ended."""

import random
import time
from collections.abc import Iterator

import psycopg
import pytest

from uwf_core.api.dispatch import Claim, Dispatch, WorkerRow
from uwf_core.api.store import Commit
from uwf_store_postgres.backend import PostgresBackend, open_postgres
from uwf_testing.store_records import record


def row(thread: str, **fields) -> Dispatch:
    return Dispatch(**{"thread": thread, "seq": 1, "is_wanted": True, **fields})


@pytest.fixture
def backend(url):
    opened = open_postgres(url, "")
    yield opened
    opened.close()


def put(backend: PostgresBackend, *rows: Dispatch) -> None:
    with backend.transaction():
        backend.dispatch(rows)


def settled(claim: Claim, **fields) -> tuple[Claim, Dispatch]:
    return claim, row(claim.thread, **fields)


def test_a_worker_gets_what_it_can_run_by_priority(backend):
    put(
        backend,
        row("a", needs=["agent:x"]),
        row("b", needs=["agent:x", "gpu"]),
        row("c", priority=5),
        row("d", not_before_ms=1 << 45),
        row("e", is_wanted=False),
    )
    labels = ["agent:x", "more"]
    claims = [backend.claim("w", labels, {}) for _ in range(3)]
    assert [each and each.thread for each in claims] == ["c", "a", None]
    assert backend.claim("v", [*labels, "gpu"], {}, "b").thread == "b"
    assert backend.claim("v", [*labels, "gpu"], {}, "a") is None, "it is claimed"


@pytest.fixture(params=["postgres", "icu"])
def in_any_locale(request, server) -> Iterator[PostgresBackend]:
    """A store in a database whose texts sort by bytes, and in one where they sort as people do."""
    if request.param == "icu":
        try:
            server.execute(
                "CREATE DATABASE icu TEMPLATE template0 LOCALE_PROVIDER icu ICU_LOCALE 'en'"
            )
        except psycopg.errors.DuplicateDatabase:
            pass
        except psycopg.Error as error:
            pytest.skip(f"no database with ICU: {error}")
    opened = open_postgres(server.url(request.param, schema="locale"), "")
    opened.migrate()
    yield opened
    opened.close()
    server.execute("DROP SCHEMA locale CASCADE", request.param)


def test_a_worker_finds_all_that_it_can_run_whatever_its_labels_are(in_any_locale):
    """The walk over the needs skips many of them, and never one that fits."""
    backend, chance = in_any_locale, random.Random(5)
    labels = ["agent:a", "Agent:B", "gpu", "GPU", "host:x", "host_y", "ä"]
    needs = {tuple(sorted(chance.sample(labels, chance.randrange(5)))) for _ in range(60)}
    put(backend, *(row(f"t{n}", needs=each) for n, each in enumerate(sorted(needs))))
    for _ in range(60):
        has = chance.sample(labels, chance.randrange(7))
        begin = sorted(chance.choice([*needs]))
        sql = "SELECT * FROM {s}.fitting_needs(%s::text[], %s::text[], 99)"
        found = backend._rows(sql, (has, begin))
        assert sorted(tuple(each) for (each,) in found) == sorted(
            n for n in needs if {*n} <= {*has}
        )
    claimed = [backend.claim("w", labels, {}) for _ in range(len(needs) + 1)]
    assert len({each.thread for each in claimed if each}) == len(needs)
    assert claimed[-1] is None


def test_of_very_many_kinds_of_needs_none_is_forgotten(backend):
    """A claim compares some hundred of them; the next one continues behind it."""
    names = [f"t{n:03}" for n in range(250)]
    put(backend, *(row(name, needs=[f"program:{name}"], priority=n % 7) for n, name in
                   enumerate(names)))  # fmt: skip
    labels = [f"program:{name}" for name in names]
    due = [name for _ in range(4) for name, _ in backend.due(labels, {}, 100, 30)]
    assert sorted(due) == names
    claimed = [backend.claim("w", labels, {}) for _ in range(251)]
    assert sorted(each.thread for each in claimed[:-1] if each) == names
    assert claimed[-1] is None


def test_what_no_worker_can_run_is_found_among_many_rows(backend):
    """And what waits is listed by priority, with whether a worker lives that can run it."""
    kinds = [["agent:x"], ["agent:x", "gpu"], ["agent:y"], []]
    put(backend, *(row(f"t{n:02}", needs=kinds[n % 4], priority=n) for n in range(20)))
    backend.beat(WorkerRow("w", "vm", 1, "", ["agent:x", "other"], "running", 0, None, 0, 0))
    taken = [backend.claim("w", ["agent:y"], {}) for _ in range(2)]
    assert [each.thread for each in taken if each] == ["t19", "t18"]
    expected = [n for n in reversed(range(18)) if n % 4 in (1, 2)]
    unserved = backend.waiting(5, unserved=True)
    assert [each.thread for each in backend.waiting(99, unserved=True)] == [
        f"t{n:02}" for n in expected
    ]
    assert len(unserved) == 5 and not any(each.can_run for each in unserved)
    waiting = backend.waiting(6)
    assert [(each.thread, each.can_run) for each in waiting] == [
        (f"t{n:02}", n % 4 in (0, 3)) for n in (17, 16, 15, 14, 13, 12)
    ]


def test_a_worker_that_can_run_nothing_reads_few_of_many_rows(url, server):
    schema = url.partition("schema=")[2]
    server.execute(
        f"INSERT INTO {schema}.dispatch "
        "(thread, seq, wanted, needs, uses, not_before, priority, most) SELECT 't' || i, 1, true, "
        "ARRAY['agent:a' || i % 20, 'host:b'], '{}', 0, 0, 0 FROM generate_series(1, 5000) AS i"
    )
    idle = open_postgres(url, "")
    for _ in range(10):
        assert idle.claim("w", ["agent:a3", "agent:a7", "gpu", "host:c"], {}) is None
    pid = idle._session.connection().info.backend_pid
    idle.close()
    while server.execute(f"SELECT FROM pg_stat_activity WHERE pid = {pid}"):
        time.sleep(0.01)  # it reports what it has read when it ends
    [(rows, entries)] = server.execute(
        "SELECT sum(t.seq_tup_read), sum(i.idx_tup_read) FROM pg_stat_user_tables t "
        f"JOIN pg_stat_user_indexes i USING (relid) WHERE i.indexrelname = 'dispatch_wanted' "
        f"AND t.schemaname = '{schema}'"
    )
    assert (rows, entries <= 10 * 10) == (0, True), (rows, entries)


def test_limits_are_counted_over_all_workers(backend):
    put(backend, *(row(name, uses=["model:m"]) for name in "abc"))
    put(backend, *(row(name, group="g", most=1) for name in "xy"))
    limits = {"model:m": 2}
    found = [backend.claim(f"w{number}", [], limits) for number in range(5)]
    names = sorted(each.thread for each in found if each)
    assert names == ["a", "b", "x"], "two of the model, one of the group"
    backend.release(next(each for each in found if each and each.thread == "x"))
    assert backend.claim("v", [], limits, "x") is not None


def test_a_row_that_others_wrote_meanwhile_is_not_overwritten(backend):
    put(backend, row("a"))
    claim = backend.claim("w", [], {})
    put(backend, row("b", is_ended=True, caller="a"))
    assert not backend.settle(*settled(claim, is_wanted=False), None, keeps=False)
    now = backend.row("a")
    assert (now.token, now.version) == (claim.token, claim.version + 1)
    assert backend.settle(
        *settled(claim._replace(version=now.version), is_wanted=False), None, keeps=False
    )
    assert backend.claim("w", [], {}) is None


def test_an_expired_claim_is_taken_over_and_its_holder_writes_nothing(backend, url, server):
    put(backend, row("a"))
    first = backend.claim("w", [], {})
    schema = url.partition("schema=")[2]
    server.execute(f"UPDATE {schema}.dispatch SET expires = now() - interval '1 s'")
    second = backend.claim("v", [], {})
    assert second is not None and second.token != first.token
    assert not backend.settle(*settled(first), None, keeps=False)
    worker = WorkerRow("w", "h", 1, "", [], "running", 0, "a", 0, 0)
    assert backend.beat(worker) is None, "it renews nothing of the other"
    assert backend.request("a", "stop") == "asked"
    assert backend.beat(worker._replace(id="v")) == "stop"


def test_a_refused_step_writes_no_row(backend):
    """The row is part of the transaction of the step."""
    lost = backend.commit(Commit([record("x")], [], [object()], True, [row("a")]))
    assert lost.lost
    assert backend.row("a") is None
    assert not backend.commit(Commit([record("x")], [], [], True, [row("a")])).lost
    assert backend.row("a") is not None
    put(backend, row("a", is_ended=True))
    assert backend.row("a") is None


def test_a_hint_is_due_once_in_a_while(backend):
    put(backend, row("a"), row("b", needs=["gpu"]))
    assert backend.due([], {}, 10, 30) == [("a", [])]
    assert backend.due([], {}, 10, 30) == []
    assert backend.due(["gpu"], {}, 10, 30) == [("b", ["gpu"])]
    assert sorted(backend.due(["gpu"], {}, 10, 0)) == [("a", []), ("b", ["gpu"])]


def test_a_thread_whose_worker_has_died_is_due_at_once(backend, url, server):
    """Whenever the last hint for it was given."""
    put(backend, row("a"), row("b"))
    assert sorted(backend.due([], {}, 10, 30)) == [("a", []), ("b", [])]
    claims = [backend.claim(name, [], {}) for name in "vw"]
    assert backend.due([], {}, 10, 30) == []
    backend.leave("v")
    assert backend.due([], {}, 10, 30) == [(claims[0].thread, [])]
    schema = url.partition("schema=")[2]
    server.execute(f"UPDATE {schema}.dispatch SET expires = now() - interval '1 s'")
    assert backend.due([], {}, 10, 30) == [(claims[1].thread, [])]
