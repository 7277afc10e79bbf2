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
        count = 0
        for name in self._table.due(hostname()):
            with self._table.claimed(name) as found:
                if found is not None:
                    count += self._attend(*found)
        return count

    def _attend(self, one: Schedule, now_ms: int) -> bool:
        """Do what is to be done with a schedule that is due; whether a thread was started."""
        timing = Timing(one.cron, one.zone, one.missed, one.overlap, one.next_ms, one.waiting)
        try:
            with self._open(folder_of(one)) as client:
                decision = decide(timing, now_ms, is_open=_is_open(client, one))
                after = one._replace(
                    next_ms=decision.next_ms,
                    waiting=decision.waiting,
                    skipped=decision.skipped or one.skipped,
                )
                if decision.fires:
                    after = self._started(client, after, now_ms)
        except (StoreError, BusyError):
            raise
        except UwfError as error:  # of this schedule alone: its folder, its expression
            after, decision = _failed(one, error)._replace(next_ms=_following(one, now_ms)), None
            self._say(f"schedule {one.name}: {error.message}")
        self._table.save(after)
        return decision is not None and decision.fires and after.error is None

    def _started(self, client: "Client", one: Schedule, now_ms: int) -> Schedule:
        try:
            started = start(client, one)
        except (StoreError, BusyError):
            raise
        except UwfError as error:
            self._say(f"schedule {one.name}: {error.message}")
            return _failed(one, error)
        self._say(f"schedule {one.name}: thread {started.thread}")
        return started._replace(fired_ms=now_ms)


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


def start(client: "Client", one: Schedule) -> Schedule:
    """Start the thread of a schedule now; the schedule afterwards.

    Raises:
        UwfError: as `uwf run`; nothing was started.
    """
    client.queued.start_planned(one.plan, one.pending, {TAG: one.name})
    following = ThreadId.new(max(one.next_ms, ThreadId(one.pending).created_ms))
    return one._replace(thread=one.pending, pending=following, skipped=None, error=None)


def _failed(one: Schedule, error: UwfError) -> Schedule:
    where = f" ({error.where})" if error.where else ""
    hint = f"; {error.hint}" if error.hint else ""
    return one._replace(error=f"{error.message}{where}{hint}")


def _following(one: Schedule, now_ms: int) -> int:
    try:
        return next_time(one.cron, one.zone, now_ms)
    except UwfError:
        return now_ms + _AGAIN_MS


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
