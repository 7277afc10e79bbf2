"""Leases: locks that expire by the clock of the server unless a thread of the holder renews them.

The token of a lease is a fence: a commit with it is refused once another process has the lock.
"""

import os
import secrets
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from threading import Event, Lock, RLock, Thread

from psycopg.conninfo import make_conninfo

from uwf_core.api import Holder, LockHandle, ProcessId, UwfError, hostname
from uwf_store_postgres.place import Place
from uwf_store_postgres.rows import LEASE, holder_of_row
from uwf_store_postgres.session import Row, Session

_TAKE = f"SELECT {LEASE} FROM {{s}}.take_lease(%s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s)"
_FREE = "SELECT {s}.free_leases(%s::text[], %s::bigint[])"
_RENEW = "SELECT * FROM {s}.renew_leases(%s::text[], %s::bigint[], %s)"
_KEEP = (
    "SELECT name FROM {s}.lease WHERE (name, token) IN "
    "(SELECT * FROM unnest(%s::text[], %s::bigint[])) ORDER BY name FOR SHARE"
)
_LIVE = f"SELECT {LEASE} FROM {{s}}.lease WHERE expires >= clock_timestamp()"
_NOBODY = -1


class Lease:
    """A lease of this process; releasing it twice is harmless."""

    def __init__(self, leases: "Leases", name: str, token: int) -> None:
        self._leases, self.name, self.token = leases, name, token
        self._calls: list[Callable[[], None]] = []
        self.is_lost = False

    def on_lost(self, call: Callable[[], None]) -> None:
        """See `LeaseHandle`."""
        self._calls.append(call)
        if self.is_lost:
            call()

    def lose(self) -> None:
        """Tell the holder, once."""
        if not self.is_lost:
            self.is_lost = True
            for call in self._calls:
                call()

    def release(self) -> None:
        """Release it."""
        self._leases.free(self)


class Leases:
    """The leases of this process, and what is known of those of others.

    Args:
        place: the store.
        session: its connection. guard: serializes the calls of it.
    """

    def __init__(self, place: Place, session: Session, guard: RLock) -> None:
        self._place, self._session = place, session
        self._guard = guard
        self._own: dict[str, Lease] = {}
        self._renewer: _Renewer | None = None

    def take(self, name: str, holder: Holder) -> Lease | None:
        """Acquire a lease that is free, has expired, or whose holder on this machine is dead."""
        token, dead = 1 + secrets.randbits(62), _NOBODY
        for _ in range(2):
            row = self._taken(name, token, holder, dead)
            if row is not None and row[-1] == token:
                lease = self._own[name] = Lease(self, name, token)
                self._renew(lease)
                return lease
            if row is None or not _is_dead(row):
                return None
            dead = row[-1]
        return None

    def _taken(self, name: str, token: int, holder: Holder, dead: int) -> Row | None:
        own = ProcessId.own()
        process = own.pid, own.start, machine()
        values = (name, token, *holder, *process, self._place.lease_seconds, dead)
        with self._guard:
            rows = self._session.rows(_TAKE, values)
        return rows[0] if rows else None

    def _renew(self, lease: Lease) -> None:
        if self._renewer is None or not self._renewer.is_usable():
            self._renewer = _Renewer(self._place)
        self._renewer.add(lease)

    def free(self, lease: Lease) -> None:
        """Release a lease of this process, if it still has it. It expires if the server cannot be
        reached.
        """
        if self._own.get(lease.name) is not lease:
            return
        del self._own[lease.name]
        if self._renewer is not None:
            self._renewer.remove(lease)
        with suppress(UwfError), self._guard:
            self._session.rows(_FREE, ([lease.name], [lease.token]))

    def keep(self, locks: Sequence[LockHandle]) -> list[str]:
        """Those that others have, by name; the rows of the rest are locked by the transaction."""
        own, foreign = own_and_foreign(locks)
        values = [each.name for each in own], [each.token for each in own]
        with self._guard:
            kept = {name for (name,) in self._session.rows(_KEEP, values)}
        return foreign + [each.name for each in own if each.name not in kept]

    def holder(self, name: str) -> Holder | None:
        """The current holder of a lease."""
        with self._guard:
            rows = self._session.rows(f"{_LIVE} AND name = %s", (name,))
        return next((holder_of_row(row)[1] for row in rows if not _is_dead(row)), None)

    def held(self) -> dict[str, Holder]:
        """All leases that are held."""
        with self._guard:
            rows = self._session.rows(_LIVE)
        return dict(holder_of_row(row) for row in rows if not _is_dead(row))

    def close(self) -> None:
        """Release all leases of this process."""
        own, self._own = [*self._own.values()], {}
        if self._renewer is not None:
            self._renewer.close()
            self._renewer = None
        if own:
            with suppress(UwfError), self._guard:
                values = [each.name for each in own], [each.token for each in own]
                self._session.rows(_FREE, values)


def own_and_foreign(locks: Sequence[LockHandle]) -> tuple[list[Lease], list[str]]:
    """The leases, in the order in which everybody locks them, and the names of other locks."""
    own = sorted((each for each in locks if isinstance(each, Lease)), key=lambda lease: lease.name)
    foreign = [each for each in locks if not isinstance(each, Lease)]
    return own, [str(getattr(each, "name", "a lock")) for each in foreign]


class _Renewer:
    """A thread that renews leases over a separate connection.

    A lease counts as lost if it could not be renewed for two thirds of its time: then its holder
    can still end what it runs before another process begins.
    """

    def __init__(self, place: Place) -> None:
        self._place, self._session = place, Session(_impatient(place), retry_seconds=0)
        self._pid = os.getpid()
        self._lock = Lock()
        self._leases: dict[Lease, float] = {}
        self._wake, self._ends = Event(), False
        self._thread = Thread(target=self._run, name="uwf leases", daemon=True)
        self._thread.start()

    def is_usable(self) -> bool:
        """Whether it runs, in this process."""
        return self._pid == os.getpid() and self._thread.is_alive()

    def add(self, lease: Lease) -> None:
        """Renew a lease from now on."""
        with self._lock:
            self._leases[lease] = time.monotonic()

    def remove(self, lease: Lease) -> None:
        """Renew it no longer."""
        with self._lock:
            self._leases.pop(lease, None)

    def close(self) -> None:
        """End the thread."""
        self._ends = True
        self._wake.set()
        if self._pid == os.getpid():
            self._thread.join(5)

    def _run(self) -> None:
        pause = self._place.lease_seconds / 3
        failed = False
        while not self._wake.wait(min(pause, 1.0) if failed else pause) and not self._ends:
            failed = not self._renewed()
        self._session.close()

    def _renewed(self) -> bool:
        with self._lock:
            leases = [*self._leases]
        if not leases:
            return True
        begun = time.monotonic()
        values = [each.name for each in leases], [each.token for each in leases]
        try:
            rows = self._session.rows(_RENEW, (*values, self._place.lease_seconds))
        except UwfError:
            self._give_up(time.monotonic())
            return False
        kept = {name for (name,) in rows}
        with self._lock:
            for each in leases:
                if each in self._leases and each.name in kept:
                    self._leases[each] = begun
            lost = [each for each in self._leases if each in leases and each.name not in kept]
        self._lose(lost)
        return True

    def _give_up(self, now: float) -> None:
        most = self._place.lease_seconds * 2 / 3
        with self._lock:
            late = [each for each, renewed in self._leases.items() if now - renewed >= most]
        self._lose(late)

    def _lose(self, leases: list[Lease]) -> None:
        for lease in leases:
            self.remove(lease)
            lease.lose()


def _impatient(place: Place) -> Place:
    """The place with a connection that breaks within a third of the lease."""
    seconds = max(1, int(place.lease_seconds / 3))
    limits = {"connect_timeout": max(2, seconds), "tcp_user_timeout": seconds * 1000}
    return place._replace(conninfo=make_conninfo(place.conninfo, **limits))


def _is_dead(row: Row) -> bool:
    """Whether the process that renews a lease is one of this machine that has ended."""
    _, _, _, _, _, pid, start, host, _ = row
    return bool(host == machine()) and not ProcessId(pid, start).is_alive()


def machine() -> str:
    """This machine, as far as process numbers mean the same: containers have their own."""
    try:
        space = os.readlink("/proc/self/ns/pid")  # noqa: PTH115
    except OSError:
        space = ""
    return f"{hostname()} {space}".strip()
