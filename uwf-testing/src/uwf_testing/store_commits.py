"""The clauses about commits of whole steps, leases and snapshots, which are optional."""

import os
import signal
import time
from multiprocessing.connection import Connection
from pathlib import Path

import pytest

from uwf_core.api.store import (
    Commit,
    CommitBackend,
    Committed,
    LeaseHandle,
    LockHandle,
    SnapshotBackend,
    StoreBackend,
    Variable,
    VariableChange,
)
from uwf_testing import store_processes as processes
from uwf_testing.contract import needs
from uwf_testing.store_concurrency import received, started
from uwf_testing.store_fixtures import Another, StoreFixtures
from uwf_testing.store_processes import Place
from uwf_testing.store_records import holder, record, variable

_NAME = "@uwf/a"


class CommitClauses(StoreFixtures):
    """A commit writes a whole step, or nothing and reports every kind of conflict."""

    @pytest.fixture
    def commits(self, backend: StoreBackend) -> CommitBackend:
        """The store of this test."""
        return _with_commit(backend)

    @pytest.mark.parametrize("durable", [True, False])
    def test_a_commit_stores_nodes_and_variables(
        self, backend: StoreBackend, commits: CommitBackend, durable: bool
    ) -> None:
        """It puts records, and creates, moves and deletes variables; it reports when the records
        that existed were first put.
        """
        old, new, gone = record("old", at_ms=500), record("new"), variable("@uwf/gone")
        moving, moved = variable(_NAME), variable(_NAME, new.ref, at_ms=2000, status="done")
        backend.put(old)
        assert backend.set_variable(gone, None)
        assert backend.set_variable(moving, None)
        changes = [
            VariableChange(_NAME, moved, moving.checksum),
            VariableChange(gone.name, None, gone.checksum),
            VariableChange("@uwf/new", variable("@uwf/new"), None),
        ]
        later = old._replace(created_ms=9000, touched_ms=9000)
        done = commits.commit(Commit([new, later], changes, [], durable))
        assert _is_stored(done)
        assert dict(done.existing) == {old.ref: 500}
        assert backend.get(new.ref) == new
        assert backend.get(old.ref) == old._replace(touched_ms=9000)
        assert backend.variables("") == [moved, variable("@uwf/new")]

    def test_a_commit_with_a_conflict_stores_nothing(
        self, backend: StoreBackend, commits: CommitBackend
    ) -> None:
        """A variable that has moved, exists already or is gone is named, and nothing is written."""
        there = variable(_NAME)
        assert backend.set_variable(there, None)
        first, new = variable("@uwf/0"), variable(_NAME, at_ms=2000)
        for change in (
            VariableChange(_NAME, new, None),
            VariableChange(_NAME, new, new.checksum),
            VariableChange(_NAME, None, new.checksum),
            VariableChange("@uwf/b", variable("@uwf/b"), there.checksum),
            VariableChange("@uwf/b", None, there.checksum),
        ):
            changes = [VariableChange(first.name, first, None), change]
            done = commits.commit(Commit([record("new")], changes, [], True))
            assert ([*done.moved], [*done.differing]) == ([change.name], [])
            assert backend.variables("") == [there]
            assert backend.get(record("new").ref) is None

    def test_a_commit_reports_another_payload_under_a_reference(
        self, backend: StoreBackend, commits: CommitBackend
    ) -> None:
        """A reference with another record is named, and nothing is written."""
        first = record("one")
        backend.put(first)
        forged = first._replace(data=b"\x63two", sha256=b"2" * 32)
        changes = [VariableChange(_NAME, variable(_NAME), None)]
        done = commits.commit(Commit([record("new"), forged], changes, [], True))
        assert [*done.differing] == [first.ref]
        assert backend.get(first.ref) == first
        assert backend.get(record("new").ref) is None
        assert backend.variable(_NAME) is None

    def test_a_commit_needs_its_locks(self, backend: StoreBackend, commits: CommitBackend) -> None:
        """With a lock that is held everything is written, with one that was released nothing."""
        mine, other = backend.lock("@uwf/lock", holder()), backend.lock("@uwf/other", holder())
        assert mine is not None
        assert other is not None
        assert _is_stored(commits.commit(_step("1", mine, other)))
        mine.release()
        assert [*commits.commit(_step("2", other, mine)).lost] == ["@uwf/lock"]
        again = backend.lock("@uwf/lock", holder())
        assert again is not None
        assert [*commits.commit(_step("2", mine)).lost] == ["@uwf/lock"], "it is another lock now"
        assert backend.get(record("2").ref) is None
        assert _is_stored(commits.commit(_step("3", again)))

    def test_an_empty_commit_is_none(self, commits: CommitBackend) -> None:
        """Without records and changes nothing is written, without an error."""
        assert _is_stored(commits.commit(Commit((), (), (), True)))


class LeaseClauses(StoreFixtures):
    """A lock of a backend with leases expires if its holder does not renew it."""

    @needs(capability="lease")
    def test_a_stopped_process_loses_its_lease(self, another: Another, place: Place) -> None:
        """A process that is stopped for longer than the lease loses it: its later commit is
        refused, and a transaction learns that it is lost, whatever it does afterwards.
        """
        backend = another()
        backend.put(record("the store is there"))
        with started(processes.hold_a_lease, place, _NAME) as (child, pipe):
            assert received(pipe)
            assert _is_stored(_turn(place, 0, pipe)), "it holds the lease"
            time.sleep(self.lease_seconds * 1.5)
            assert backend.lock(_NAME, holder()) is None, "it renews the lease"
            child_id = child.pid
            assert child_id is not None
            os.kill(child_id, signal.SIGSTOP)
            try:
                lease = wait_for_lock(backend, _NAME, self.lease_seconds + 5)
            finally:
                os.kill(child_id, signal.SIGCONT)
            assert [*_turn(place, 1, pipe).lost] == [_NAME]
            lease.release()
            assert [*_turn(place, 2, pipe).lost] == [_NAME], "it was not taken again"
        assert backend.get(record("late 0").ref) is not None
        assert backend.present([record(f"late {turn}").ref for turn in (1, 2)]) == set()

    @needs(capability="lease")
    def test_a_lease_that_is_renewed_reports_no_loss(self, backend: StoreBackend) -> None:
        """`on_lost` is not called while the lease is renewed, nor when it is released."""
        lease, lost = backend.lock(_NAME, holder()), list[bool]()
        assert isinstance(lease, LeaseHandle)
        lease.on_lost(lambda: lost.append(True))
        time.sleep(self.lease_seconds * 1.2)
        lease.release()
        time.sleep(self.lease_seconds * 0.5)
        assert lost == []


class SnapshotClauses(StoreFixtures):
    """A snapshot is one state of the store."""

    @needs(capability="shared")
    def test_a_snapshot_does_not_see_what_others_write(self, another: Another) -> None:
        """Nodes and variables within are those of its first read; afterwards the new ones."""
        mine, others = another(), another()
        if not isinstance(mine, SnapshotBackend):
            pytest.skip("the backend has no snapshot, which is optional")
        others.put(record("before"))
        with mine.snapshot():
            assert mine.variables("") == []
            others.put(record("within"))
            assert others.set_variable(variable(_NAME), None)
            assert [each.ref for each in mine.records()] == [record("before").ref]
            assert mine.variable(_NAME) is None
        assert mine.variable(_NAME) == variable(_NAME)
        assert mine.get(record("within").ref) == record("within")


def _with_commit(backend: StoreBackend) -> CommitBackend:
    if not isinstance(backend, CommitBackend):
        pytest.skip("the backend has no commit, which is optional")
    return backend


def _is_stored(done: Committed) -> bool:
    return not (done.moved or done.differing or done.lost)


def _step(text: str, *leases: LockHandle) -> Commit:
    new: Variable = variable(f"@uwf/step/{text}")
    return Commit([record(text)], [VariableChange(new.name, new, None)], leases, True)


def wait_for_lock(backend: StoreBackend, name: str, seconds: float) -> LockHandle:
    """Acquire a lock that becomes free within `seconds`."""
    until = time.monotonic() + seconds
    while (lease := backend.lock(name, holder())) is None:
        assert time.monotonic() < until, f"the lock is not free after {seconds} s"
        time.sleep(0.05)
    return lease


def _turn(place: Place, turn: int, pipe: Connection) -> Committed:
    Path(place.home, f"turn-{turn}").touch()
    lost, moved, is_kept = received(pipe)
    assert is_kept == (not lost), "in a transaction"
    return Committed(lost=tuple(lost), moved=tuple(moved))
