"""Fire schedules: start the threads of those that are due."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from uwf_core.api import hostname
from uwf_core.errors import BusyError, StoreError, UnknownIdError, UsageError, UwfError
from uwf_core.ids import ThreadId
from uwf_worker.migrating import has_schedules
from uwf_worker.schedules.table import Schedule, ScheduleTable
from uwf_worker.schedules.times import Timing, decide, next_time

if TYPE_CHECKING:
    from uwf_core.client import Client
    from uwf_store_postgres.place import Place

SWEEP_SECONDS = 5.0
"""How often a worker looks for schedules that are due."""

TAG = "schedule"
"""The tag of the threads of a schedule; its value is the schedule's name."""

_AGAIN_MS = 60_000
"""When to look again at a schedule whose times are unknown on this machine."""

_END_SECONDS = 10.0
"""How long the end of a worker waits for a start of a thread."""

_ENDED = ("completed", "cancelled")


class Firing:
    """Fires schedules. Several processes may do so: the row of a schedule is locked meanwhile, and
    a start that is repeated creates no second thread.

    A start has two transactions: the first one stores when the schedule is due next, and the id
    of the thread; the second one starts the thread with this id and records that.

    Args:
        table: the schedules. open_client: opens a client in a folder.
        say: gets a line for people for each start and each failure.
    """

    def __init__(
        self,
        table: ScheduleTable,
        open_client: "Callable[[str], Client]",
        say: Callable[[str], None],
    ) -> None:
        self._table, self._open, self._say = table, open_client, say

    def sweep(self) -> int:
        """Fire what is due; how many threads were started.

        Raises:
            StoreError: the store cannot be reached.
        """
        return sum(self._attend(name) for name in self._table.due(hostname()))

    def _attend(self, name: str) -> bool:
        """Do what is to be done with a schedule that is due; whether a thread was started."""
        with self._table.claimed(name) as found:
            if found is not None and found[0].pending is None:
                self._table.save(self._decided(*found))
        with self._table.claimed(name) as found:
            if found is None or found[0].pending is None:
                return False
            after = self._started(*found)
            self._table.save(after)
        return after.error is None

    def _decided(self, one: Schedule, now_ms: int) -> Schedule:
        """The schedule with its next time, and with an id if a thread is to be started now."""
        timing = Timing(one.cron, one.zone, one.missed, one.overlap, one.next_ms, one.waiting)
        try:
            with self._open(folder_of(one)) as client:
                decision = decide(timing, now_ms, is_open=_is_open(client, one))
        except (StoreError, BusyError):
            raise
        except UwfError as error:  # of this schedule alone: its folder, its expression
            return self._failed(one, error)._replace(next_ms=_following(one, now_ms))
        after = one._replace(
            next_ms=decision.next_ms,
            waiting=decision.waiting,
            skipped=decision.skipped or one.skipped,
        )
        return begun(after, now_ms) if decision.fires else after

    def _started(self, one: Schedule, now_ms: int) -> Schedule:
        try:
            with self._open(folder_of(one)) as client:
                after = start(client, one, now_ms)
        except (StoreError, BusyError):
            raise
        except UwfError as error:
            return self._failed(one, error)._replace(pending=None)
        self._say(f"schedule {one.name}: thread {after.thread}")
        return after

    def _failed(self, one: Schedule, error: UwfError) -> Schedule:
        self._say(f"schedule {one.name}: {error.message}")
        where = f" ({error.where})" if error.where else ""
        hint = f"; {error.hint}" if error.hint else ""
        return one._replace(error=f"{error.message}{where}{hint}")


def folder_of(one: Schedule) -> str:
    """The folder in which a schedule was added, where its workflow is looked up.

    Raises:
        UsageError: the row has none; others wrote it.
    """
    folder = one.plan.get("folder")
    if not isinstance(folder, str):
        raise UsageError(
            f"the plan of schedule {one.name} has no folder", hint="add the schedule again"
        )
    return folder


def begun(one: Schedule, now_ms: int) -> Schedule:
    """The schedule with the id of a thread that is created now; a start that is under way already
    keeps its own. Save it before `start`. The ids of a schedule sort as its starts.
    """
    if one.pending is not None:
        return one
    if one.thread is None or not ThreadId.matches(one.thread):
        return one._replace(pending=ThreadId.new(now_ms))
    return one._replace(pending=ThreadId.after(one.thread, now_ms))


def start(client: "Client", one: Schedule, now_ms: int) -> Schedule:
    """Start the thread of a start that has `begun`, unless it exists; the schedule afterwards.

    Raises:
        UwfError: as `uwf run`; nothing was started.
    """
    if one.pending is None:
        return one
    client.queued.start_planned(one.plan, one.pending, {TAG: one.name})
    return recorded(one, now_ms)


def start_now(
    table: ScheduleTable, open_client: "Callable[[str], Client]", name: str
) -> Schedule | None:
    """Start the thread of a schedule beside its times, also while another one is open; the
    schedule afterwards, None if there is none. A call that is repeated after it was killed
    finishes the start that it interrupted, unless a worker has done so.

    Raises:
        UwfError: as `uwf run`; nothing was started.
    """
    with table.locked(name) as found:
        if found is None:
            return None
        before = begun(*found)
        folder = folder_of(before)
        table.save(before)
    with table.locked(name) as found:
        if found is None:
            return None
        one, failure = found[0]._replace(pending=before.pending), None
        try:
            with open_client(folder) as client:
                after = start(client, one, found[1])
        except (StoreError, BusyError):
            raise
        except UwfError as error:
            after, failure = one._replace(pending=None), error
        if found[0].pending == before.pending:  # else a worker was faster and has recorded it
            table.save(after)
    if failure is not None:
        raise failure
    return after


def recorded(one: Schedule, now_ms: int) -> Schedule:
    """The schedule after the thread of the start that is under way was created."""
    return one._replace(thread=one.pending, pending=None, fired_ms=now_ms, skipped=None, error=None)


def resumed(client: "Client", one: Schedule, now_ms: int) -> Schedule:
    """The schedule with its times from now on. A start that a pause has interrupted is recorded if
    it has created its thread, and is dropped otherwise.

    Raises:
        UsageError: the expression or the time zone is unknown here.
    """
    following = next_time(one.cron, one.zone, now_ms)
    if one.is_paused and one.pending is not None:
        is_there = _exists(client, one.pending)
        one = recorded(one, now_ms) if is_there else one._replace(pending=None)
    return one._replace(is_paused=False, next_ms=following, waiting=0)


def _following(one: Schedule, now_ms: int) -> int:
    try:
        return next_time(one.cron, one.zone, now_ms)
    except UwfError:
        return now_ms + _AGAIN_MS


def _exists(client: "Client", thread: str) -> bool:
    try:
        client.show(thread)
    except UnknownIdError:
        return False
    return True


def _is_open(client: "Client", one: Schedule) -> bool:
    if one.thread is None:
        return False
    try:
        return client.show(one.thread)["status"] not in _ENDED
    except UnknownIdError:  # it was deleted
        return False


@contextmanager
def firing_schedules(
    place: "Place", open_client: "Callable[[str], Client]", say: Callable[[str], None]
) -> Iterator[None]:
    """Fire the schedules of a store from a thread, until the end; failures of the database end
    nothing.
    """
    if not has_schedules(place):
        yield
        return
    table, ends = ScheduleTable(place), threading.Event()
    firing = Firing(table, open_client, say)

    def sweep() -> None:
        was_failing = False
        while not ends.is_set():
            try:
                firing.sweep()
                was_failing = False
            except UwfError as error:
                if not was_failing:
                    say(f"schedules: {error.message}; trying again")
                was_failing = True
            ends.wait(SWEEP_SECONDS)
        table.close()

    thread = threading.Thread(target=sweep, name="schedules", daemon=True)
    thread.start()
    try:
        yield
    finally:
        ends.set()
        thread.join(_END_SECONDS)
