"""The processes of the store contract; each function is the program of one.

Each gets a `Place` and a pipe for its result. A process that will be killed reports that it is
ready and waits.
"""

import os
import signal
import subprocess
import time
from collections.abc import Callable, Mapping
from contextlib import closing
from functools import wraps
from multiprocessing.connection import Connection
from multiprocessing.synchronize import Barrier
from pathlib import Path
from typing import Any, NamedTuple

from uwf_core.api.store import (
    Commit,
    CommitBackend,
    LeaseBackend,
    StoreBackend,
    StoreSpec,
    VariableChange,
)
from uwf_testing.store_records import holder, opened, record, variable

WAIT_SECONDS = 60.0
COUNTER = "@uwf/counter"
FIRST, SECOND = "@uwf/first", "@uwf/second"


class Place(NamedTuple):
    """The location of a store."""

    spec: StoreSpec
    url: str
    home: str

    def open(self) -> StoreBackend:
        """The backend."""
        return opened(self.spec, self.url, self.home)


def work(
    run: Callable[..., None], environment: Mapping[str, str], arguments: tuple[Any, ...]
) -> None:
    """Run one of the functions below in this environment: the fork server still has the one of its
    start.
    """
    os.environ.clear()
    os.environ.update(environment)
    run(*arguments)


def on_a_store(run: Callable[..., None]) -> Callable[..., None]:
    """Open the store of the place, and close it when the function has ended."""

    @wraps(run)
    def with_backend(place: Place, *arguments: Any) -> None:
        with closing(place.open()) as backend:
            run(backend, *arguments)

    return with_backend


@on_a_store
def race_for_names(
    backend: StoreBackend, pipe: Connection, barrier: Barrier, who: int, rounds: int
) -> None:
    """Create variables at the same moment as others; send the successful ones."""
    won = []
    for turn in range(rounds):
        name = f"@uwf/race/{turn}"
        barrier.wait(WAIT_SECONDS)
        if backend.set_variable(variable(name, who=str(who)), None):
            won.append(turn)
    pipe.send(won)


@on_a_store
def count_up(
    backend: StoreBackend, pipe: Connection, barrier: Barrier, who: int, times: int
) -> None:
    """Increment a counter `times` times by compare-and-set."""
    del who
    barrier.wait(WAIT_SECONDS)
    for _ in range(times):
        while True:
            before = backend.variable(COUNTER)
            assert before is not None
            after = variable(COUNTER, count=str(int(before.tags["count"]) + 1))
            if backend.set_variable(after, before.checksum):
                break
    pipe.send(times)


@on_a_store
def race_for_locks(
    backend: StoreBackend, pipe: Connection, barrier: Barrier, who: int, rounds: int
) -> None:
    """Acquire locks at the same moment as others; send the successful ones."""
    del who
    won = []
    for turn in range(rounds):
        barrier.wait(WAIT_SECONDS)
        if backend.lock(f"@uwf/lock/{turn}", holder()) is not None:
            won.append(turn)
    barrier.wait(WAIT_SECONDS)  # no process releases a lock before all have tried
    pipe.send(won)


def open_first(place: Place, pipe: Connection, barrier: Barrier, who: int, records: int) -> None:
    """Open a new store at the same moment as others, and put records."""
    barrier.wait(WAIT_SECONDS)
    backend = place.open()
    refs = [record(f"{who} {number}").ref for number in range(records)]
    for number in range(records):
        backend.put(record(f"{who} {number}"))
    pipe.send(refs)
    backend.close()


@on_a_store
def hold_a_lock(backend: StoreBackend, pipe: Connection, name: str) -> None:
    """Acquire the lock, send whether that succeeded, and wait for the kill."""
    pipe.send(backend.lock(name, holder()) is not None)
    signal.pause()


@on_a_store
def hold_a_lock_beside_a_program(backend: StoreBackend, pipe: Connection, name: str) -> None:
    """Acquire the lock, start a program with every inheritable descriptor, send the program's id,
    and wait for the kill.
    """
    assert backend.lock(name, holder()) is not None
    program = subprocess.Popen(("sleep", str(WAIT_SECONDS)), close_fds=False)
    pipe.send(program.pid)
    signal.pause()


@on_a_store
def look_at_a_lock(backend: StoreBackend, pipe: Connection, name: str) -> None:
    """Ask for the holder of a lock until the kill, and report each time."""
    while True:
        backend.holder(name)
        backend.held()
        pipe.send(True)


@on_a_store
def take_and_release(
    backend: StoreBackend, pipe: Connection, barrier: Barrier, who: int, times: int
) -> None:
    """Count up under a lock; send how often another process was counting as well."""
    del who
    barrier.wait(WAIT_SECONDS)
    clashes = 0
    for _ in range(times):
        while (handle := backend.lock(COUNTER, holder())) is None:
            time.sleep(0.001)
        before = backend.variable(COUNTER)
        assert before is not None
        time.sleep(0.002)  # another process in here would move the counter meanwhile
        after = variable(COUNTER, count=str(int(before.tags["count"]) + 1))
        clashes += not backend.set_variable(after, before.checksum)
        handle.release()
    pipe.send(clashes)


@on_a_store
def stop_before_the_commit(backend: StoreBackend, pipe: Connection) -> None:
    """Write in a transaction, report it, and wait for the kill before the commit."""
    with backend.transaction():
        within = record("within")
        backend.put(within)
        backend.set_variable(variable(FIRST, within.ref), None)
        pipe.send(True)
        signal.pause()


@on_a_store
def write_on_and_on(backend: StoreBackend, pipe: Connection, steps: int) -> None:
    """Move two names together, each time to a node that is put in the same transaction."""
    before: list[bytes | None] = [None, None]
    for step in range(steps):
        node = record(f"step {step}")
        moved = [variable(name, node.ref, step=str(step)) for name in (FIRST, SECOND)]
        with backend.transaction(durable=step % 10 == 0):
            backend.put(node)
            for each, expected in zip(moved, before, strict=True):
                assert backend.set_variable(each, expected)
        before = [each.checksum for each in moved]
    pipe.send(steps)


def hold_a_lease(place: Place, pipe: Connection, name: str) -> None:
    """Acquire a lock; then, at each word, commit under it and send whether it was stored, and
    whether it is kept in a transaction.
    """
    backend = place.open()
    lease = backend.lock(name, holder())
    assert lease is not None
    assert isinstance(backend, CommitBackend)
    assert isinstance(backend, LeaseBackend)
    pipe.send(True)
    for turn in range(3):
        while not Path(place.home, f"turn-{turn}").exists():
            time.sleep(0.02)
        change = VariableChange(f"{name}/{turn}", variable(f"{name}/{turn}"), None)
        done = backend.commit(Commit((record(f"late {turn}"),), (change,), (lease,), True))
        with backend.transaction():
            is_kept = not backend.keep([lease])
        pipe.send([list(done.lost), list(done.moved), is_kept])
