"""Failures of server, network and holders: no acknowledged step is lost, and none is doubled."""

import signal
import threading
import time
from collections.abc import Iterator

import pytest
from postgres_server import Server
from proxy import Proxy

from uwf_core.api.store import Commit, VariableChange
from uwf_core.cas.copy_store import StoreCopy, store_root
from uwf_core.cas.store import Store
from uwf_core.errors import BusyError, StoreError, UwfError
from uwf_core.stores.open import open_backend
from uwf_store_postgres.backend import open_postgres
from uwf_testing.store_records import holder, record, variable

NAME = "@uwf/head"


@pytest.fixture
def proxy(server: Server) -> Iterator[Proxy]:
    made = Proxy(server.port)
    yield made
    made.close()


def step(number: int, before: bytes | None) -> Commit:
    node = record(f"step {number}")
    head = variable(NAME, node.ref, at_ms=1000 + number, steps=str(number))
    return Commit([node], [VariableChange(NAME, head, before)], [], True)


@pytest.mark.parametrize("swallow", [True, False], ids=["lost on the way", "no answer"])
def test_a_network_that_breaks_at_any_byte_loses_and_doubles_no_step(server, url, proxy, swallow):
    """The connection breaks at a different byte of each commit, before or after the server has it.
    Every step that was acknowledged is there, and the head moved once for each.
    """
    through = url.replace(str(server.port), str(proxy.port))
    writer, reader = open_postgres(through, ""), open_postgres(url, "")
    assert writer.variable(NAME) is None, "it was reachable once"
    before = None
    for number in range(40):
        proxy.swallow = swallow
        proxy.cut_after = 1 + 61 * number
        done = writer.commit(step(number, before))
        assert not (done.moved or done.lost or done.differing), number
        head = reader.variable(NAME)
        assert head.tags["steps"] == str(number)
        assert reader.get(head.value) is not None
        before = head.checksum
    writer.close()
    reader.close()


def test_reads_and_locks_survive_a_broken_connection(server, url, proxy):
    backend = open_postgres(url.replace(str(server.port), str(proxy.port)), "")
    backend.put(record("one"))
    lease = backend.lock(NAME, holder())
    for _ in range(3):
        proxy.cut()
        assert backend.get(record("one").ref) == record("one")
    proxy.cut()
    assert backend.held() == {NAME: holder()}
    lease.release()
    assert backend.held() == {}
    with pytest.raises(StoreError), backend.transaction():
        backend.put(record("two"))
        proxy.cut()
        backend.put(record("three"))
    assert backend.present([record("two").ref, record("three").ref]) == set()
    backend.close()


def test_a_holder_that_is_cut_off_learns_it_before_others_take_over(another_url, server, proxy):
    """It learns this after two thirds of the lease, which is free after all of it, not before."""
    url = another_url(lease="3")
    mine = open_postgres(url.replace(str(server.port), str(proxy.port)), "")
    others = open_postgres(url, "")
    lease, told = mine.lock(NAME, holder()), threading.Event()
    lease.on_lost(told.set)
    server.execute(f"UPDATE {url.partition('schema=')[2].partition('&')[0]}.lease "
                   "SET owner_host = 'another machine'")  # fmt: skip
    proxy.close()
    begun = time.monotonic()
    assert told.wait(20 + 3)
    assert others.lock(NAME, holder()) is None or time.monotonic() - begun >= 2
    while others.lock(NAME, holder(8)) is None:
        assert time.monotonic() - begun < 3 + 15  # a busy machine
        time.sleep(0.05)
    with pytest.raises(UwfError):
        mine.commit(step(1, None)._replace(leases=[lease]))
    assert others.variable(NAME) is None
    others.close()


def test_a_stolen_lease_refuses_the_commit_whatever_the_clock_of_the_client_is(
    url, server, monkeypatch
):
    first, second = open_postgres(url, ""), open_postgres(url, "")
    lease = first.lock(NAME, holder())
    monkeypatch.setattr(time, "time", lambda: 0.0)
    assert second.lock(NAME, holder()) is None, "its clock does not count"
    schema = url.partition("schema=")[2]
    server.execute(f"UPDATE {schema}.lease SET expires = now() - interval '1 s'")
    stolen = second.lock(NAME, holder(9))
    assert stolen is not None
    assert [*first.commit(step(1, None)._replace(leases=[lease])).lost] == [NAME]
    assert not second.commit(step(1, None)._replace(leases=[stolen])).lost
    lease.release()
    assert second.held() == {NAME: holder(9)}, "the old holder releases nothing of the new one"
    first.close()
    second.close()


def test_many_writers_of_one_head_lose_no_step_and_meet_no_deadlock(url):
    """Eight threads move one head and share their nodes, in different orders."""
    shared = [record(f"shared {number}") for number in range(20)]
    done = []

    def work(who: int) -> None:
        backend = open_postgres(url, "")
        for turn in range(15):
            while True:
                there = backend.variable(NAME)
                steps = int(there.tags["steps"]) if there else 0
                node = record(f"{who} {turn}")
                head = variable(NAME, node.ref, at_ms=steps + 1, steps=str(steps + 1), who=str(who))
                change = VariableChange(NAME, head, there.checksum if there else None)
                nodes = [node, *(shared if who % 2 else shared[::-1])]
                if not backend.commit(Commit(nodes, [change], [], False)).moved:
                    done.append(node.ref)
                    break
        backend.close()

    threads = [threading.Thread(target=work, args=(who,)) for who in range(8)]
    for each in threads:
        each.start()
    for each in threads:
        each.join(120)
    backend = open_postgres(url, "")
    assert backend.variable(NAME).tags["steps"] == str(8 * 15) == str(len(done))
    assert backend.present(done) == set(done)
    backend.close()


def test_a_store_is_copied_there_and_back_with_one_root_while_others_read_and_write(
    another_url, tmp_path
):
    home = str(tmp_path)
    store = Store(open_backend("sqlite:a.db", home), lambda: 1000)
    for number in range(300):
        ref = store.put_text(f"text {number}")
        store.set_variable(f"@uwf/registry/{number}", ref, {"status": f"ä\n{number}"}, None)
    ends = threading.Event()
    seen = []

    def use() -> None:
        mine = Store(open_backend("sqlite:a.db", home), lambda: 1000)
        while not ends.is_set():
            seen.append(len(mine.variables("@uwf/registry/")))
            mine.put_text(f"later {len(seen)}")
        mine.close()

    user = threading.Thread(target=use)
    user.start()
    url = another_url()
    old, new = open_backend("sqlite:a.db", home), open_postgres(url, "")
    with old.snapshot():
        there = StoreCopy(old, new).all()
    ends.set()
    user.join()
    back = open_backend("sqlite:b.db", home)
    with new.snapshot():
        again = StoreCopy(new, back).all()
    assert there.root == again.root == store_root(back) == store_root(new)
    assert {*seen} == {300}
    with pytest.raises(BusyError), old.transaction():
        old.seal("elsewhere")
        old.put(record("too late"))
    with new.transaction():
        new.seal(back.location())
    with pytest.raises(BusyError, match="moved to"):
        new.put(record("too late"))
    with pytest.raises(BusyError):
        new.lock(NAME, holder())
    assert new.facts()["movedTo"] == back.location()
    for each in (old, new, back, store):
        each.close()


def test_garbage_collection_spares_what_was_put_in_the_last_two_hours(url):
    """The stored time of a put may be an hour late, so `delete` counts with two."""
    backend = open_postgres(url, "")
    now = int(time.time() * 1000)
    hour = 3_600_000
    ages = {"new": 0, "hour": 1.5 * hour, "old": 2.5 * hour}
    nodes = {name: record(name, at_ms=now - int(age)) for name, age in ages.items()}
    for each in nodes.values():
        backend.put(each)
    assert backend.delete([each.ref for each in nodes.values()], now) == 1
    assert backend.get(nodes["old"].ref) is None
    again = nodes["hour"]._replace(touched_ms=now)
    backend.put(again)
    assert backend.get(again.ref).touched_ms == now, "it was late by more than an hour"
    backend.put(again._replace(touched_ms=now + hour // 2))
    assert backend.get(again.ref).touched_ms == now
    backend.close()


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGKILL], ids=["restarted", "crashed"])
def test_a_server_that_restarts_keeps_every_acknowledged_step(how):
    """With the sync of a real server: writers wait for it, and nothing acknowledged is lost."""
    server = Server(fsync="on")
    try:
        backend = open_postgres(server.url(), "")
        backend._session._retry_seconds = 120.0  # however busy the machine of the tests is
        backend.migrate()
        before = None
        for number in range(12):
            if number % 4 == 2:
                server.stop(how)
                restart = threading.Timer(0.5, server.start)
                restart.start()
            commit = step(number, before)
            done = backend.commit(commit)
            assert not (done.moved or done.lost or done.differing)
            before = commit.changes[0].variable.checksum
            if number % 4 == 2:
                restart.join()
        assert backend.variable(NAME).tags["steps"] == "11"
        assert len(list(backend.records())) == 12
        backend.close()
    finally:
        server.remove()


def test_a_transaction_that_keeps_its_lease_ends_before_another_process_has_it(url, server):
    """Also one that has expired, as long as nobody else has taken it."""
    first, second = open_postgres(url, ""), open_postgres(url, "")
    lease, taken = first.lock(NAME, holder()), []
    schema = url.partition("schema=")[2]
    server.execute(f"UPDATE {schema}.lease SET expires = now() - interval '1 s'")
    taker = threading.Thread(target=lambda: taken.append(second.lock(NAME, holder(9))))
    with first.transaction():
        assert first.keep([lease]) == []
        taker.start()
        time.sleep(0.5)
        assert taken == []
    taker.join(10)
    assert taken != [None] and taken
    with first.transaction():
        assert first.keep([lease]) == [NAME]
    first.close()
    second.close()
