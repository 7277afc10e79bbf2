"""The clauses about several real processes at once."""

import multiprocessing
import os
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from typing import Any, ClassVar

from uwf_core.api.store import StoreBackend
from uwf_testing import store_processes as processes
from uwf_testing.contract import needs
from uwf_testing.store_fixtures import Another, StoreFixtures
from uwf_testing.store_processes import COUNTER, FIRST, SECOND, WAIT_SECONDS, Place
from uwf_testing.store_records import holder, record, variable

_FRESH = multiprocessing.get_context("forkserver")
"""Processes are forked from one small server that has opened no store: as clean as a new
interpreter, and started many times faster.
"""
_FRESH.set_forkserver_preload(["__main__", processes.__name__])


class ConcurrencyClauses(StoreFixtures):
    """A store stays correct for several processes, whatever they do and however they end."""

    racers: ClassVar[int] = 4
    """How many processes race."""

    rounds: ClassVar[int] = 20
    """How often they race, and how many records each writes."""

    def _wait_until_free(self, backend: StoreBackend, name: str) -> None:
        seconds = self.lease_seconds + 5 if "lease" in self.spec.capabilities else 0
        until = time.monotonic() + seconds
        while backend.holder(name) is not None:
            assert time.monotonic() < until, "the lock is still held"
            time.sleep(0.05)

    @needs(capability="shared")
    def test_of_many_processes_exactly_one_makes_a_variable(
        self, another: Another, place: Place
    ) -> None:
        """If processes create a variable at the same moment, one wins, and its value is stored."""
        backend = another()
        won = _race(self.racers, processes.race_for_names, place, self.rounds)
        assert sorted(turn for mine in won for turn in mine) == list(range(self.rounds))
        for who, mine in enumerate(won):
            for turn in mine:
                kept = backend.variable(f"@uwf/race/{turn}")
                assert kept is not None
                assert kept.tags == {"who": str(who)}

    @needs(capability="shared")
    def test_no_update_of_many_processes_is_lost(self, another: Another, place: Place) -> None:
        """A counter that processes increase by compare-and-set loses no increment."""
        backend = another()
        assert backend.set_variable(variable(COUNTER, count="0"), None)
        done = _race(self.racers, processes.count_up, place, self.rounds)
        counter = backend.variable(COUNTER)
        assert counter is not None
        assert counter.tags["count"] == str(sum(done))

    @needs(capability="shared")
    def test_of_many_processes_exactly_one_gets_a_lock(
        self, another: Another, place: Place
    ) -> None:
        """If processes acquire a lock at the same moment, exactly one gets it and keeps it."""
        another().put(record("the store is there"))
        won = _race(self.racers, processes.race_for_locks, place, self.rounds)
        assert sorted(turn for mine in won for turn in mine) == list(range(self.rounds))

    @needs(capability="shared")
    def test_a_released_lock_goes_to_exactly_one(self, another: Another, place: Place) -> None:
        """If processes acquire and release one lock again and again, at most one ever holds it."""
        assert another().set_variable(variable(COUNTER, count="0"), None)
        clashes = _race(self.racers, processes.take_and_release, place, self.rounds)
        assert clashes == [0] * self.racers, "two processes held the lock at once"

    @needs(capability="shared")
    def test_looking_at_a_lock_never_makes_it_fail(self, another: Another, place: Place) -> None:
        """While another process asks for the holder, a free lock can be acquired at any moment."""
        backend = another()
        backend.put(record("the store is there"))
        with started(processes.look_at_a_lock, place, "@uwf/a") as (child, pipe):
            for _ in range(self.rounds * 10):
                assert received(pipe), "it has looked once more"
                handle = backend.lock("@uwf/a", holder())
                assert handle is not None, "a process that only looks at the lock has it"
                handle.release()
            child.kill()

    @needs(capability="shared")
    def test_programs_do_not_inherit_a_lock(self, another: Another, place: Place) -> None:
        """The lock of a killed process is free, even if a program that it started still runs."""
        backend = another()
        backend.put(record("the store is there"))
        holding = processes.hold_a_lock_beside_a_program
        with started(holding, place, "@uwf/a") as (child, pipe):
            program = received(pipe)
            child.kill()
            child.join()
            try:
                self._wait_until_free(backend, "@uwf/a")
                assert backend.lock("@uwf/a", holder()) is not None, "the program holds the lock"
            finally:
                os.kill(program, signal.SIGKILL)

    @needs(capability="shared")
    def test_many_first_openings_at_once(self, another: Another, place: Place) -> None:
        """If processes open a new store at the same moment, it is created once, and every write is
        kept.
        """
        refs = _race(self.racers, processes.open_first, place, 5)
        wanted = {ref for mine in refs for ref in mine}
        assert another().present(wanted) == wanted

    @needs(capability="shared")
    def test_a_killed_process_holds_nothing(self, another: Another, place: Place) -> None:
        """The lock of a killed process is free at once (a lease, when it expires), whatever its
        holder data says.
        """
        backend = another()
        backend.put(record("the store is there"))
        with _doomed(processes.hold_a_lock, place, "@uwf/a") as child:
            assert backend.lock("@uwf/a", holder()) is None
            seen = backend.holder("@uwf/a")
            assert seen is not None
            assert seen.pid == child.pid
        self._wait_until_free(backend, "@uwf/a")
        assert backend.held() == {}
        assert backend.lock("@uwf/a", holder()) is not None

    @needs(capability="shared")
    def test_a_writer_killed_before_its_commit_leaves_nothing(
        self, another: Another, place: Place
    ) -> None:
        """Neither the node nor the variable is stored, and the next process can write."""
        another().put(record("before"))
        with _doomed(processes.stop_before_the_commit, place):
            pass
        backend = another()
        assert backend.get(record("before").ref) == record("before")
        assert backend.get(record("within").ref) is None
        assert backend.variable(FIRST) is None
        with backend.transaction():
            backend.put(record("after"))
        assert backend.get(record("after").ref) == record("after")

    @needs(capability="shared")
    def test_a_reader_beside_a_writer_sees_whole_transactions(
        self, another: Another, place: Place
    ) -> None:
        """A reader never sees a variable before its node, nor half of a transaction, and never
        waits for the writer.
        """
        backend = another()
        backend.put(record("the store is there"))
        with started(processes.write_on_and_on, place, self.rounds * 10) as (child, pipe):
            seen = -1
            while child.is_alive() and not pipe.poll():
                seen = max(seen, _check_whole(backend))
            assert pipe.poll(WAIT_SECONDS), "the writer failed"
        assert _check_whole(backend) == self.rounds * 10 - 1


def _check_whole(backend: StoreBackend) -> int:
    """The step of the names; the second one is read later, so its step may be higher."""
    first, second = backend.variable(FIRST), backend.variable(SECOND)
    if first is None:
        return -1
    assert backend.get(first.value) is not None, "the name points to a node that is not there"
    assert second is not None, "only one of two names that move together is there"
    assert int(second.tags["step"]) >= int(first.tags["step"]), "two names moved apart"
    return int(first.tags["step"])


def _race(racers: int, run: Callable[..., None], place: Place, times: int) -> list[Any]:
    """Start processes at the same moment and return the result of each."""
    barrier = _FRESH.Barrier(racers)
    runners: list[tuple[BaseProcess, Connection]] = []
    try:
        for who in range(racers):
            ours, theirs = _FRESH.Pipe(duplex=False)
            child = _process(run, place, theirs, barrier, who, times)
            child.start()
            theirs.close()
            runners.append((child, ours))
        return [received(pipe) for _, pipe in runners]
    finally:
        for runner, pipe in runners:
            _end(runner, pipe)


@contextmanager
def started(run: Callable[..., None], place: Place, *more: Any) -> Iterator[Any]:
    """A process, and the pipe on which it sends; killed in the end if it still runs."""
    ours, theirs = _FRESH.Pipe(duplex=False)
    child = _process(run, place, theirs, *more)
    child.start()
    theirs.close()
    try:
        yield child, ours
    finally:
        _end(child, ours)


@contextmanager
def _doomed(run: Callable[..., None], place: Place, *more: Any) -> Iterator[BaseProcess]:
    """A process that reports when it is ready, and is killed on exit."""
    with started(run, place, *more) as (child, pipe):
        assert received(pipe)
        yield child
        child.kill()
        child.join()


def _process(run: Callable[..., None], *arguments: Any) -> BaseProcess:
    """A process that calls `run` in the current environment."""
    environment = dict(os.environ)
    return _FRESH.Process(target=processes.work, args=(run, environment, arguments))


def received(pipe: Connection) -> Any:
    """Receive the result of a process.

    Raises:
        AssertionError: it ended without a result, or did not answer in time.
    """
    assert pipe.poll(WAIT_SECONDS), "a process of the contract did not answer"
    try:
        return pipe.recv()
    except EOFError as error:
        raise AssertionError("a process of the contract failed; its traceback is above") from error


def _end(child: BaseProcess, pipe: Connection) -> None:
    pipe.close()
    child.join(0.2)
    if child.is_alive():
        child.kill()
        child.join()
    child.close()
