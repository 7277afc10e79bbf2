"""The schedules of a store, each a variable: its node is what to start, its tag the rest."""

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from uwf_core.errors import CorruptNodeError, UnknownIdError, WrongStateError
from uwf_core.fields.mismatch import FieldFault
from uwf_core.fields.records import read_record, write_record
from uwf_core.thread.names import SCHEDULES
from uwf_core.threads.schedules.times import Missed, Overlap

if TYPE_CHECKING:
    from uwf_core.api.store import Variable
    from uwf_core.cas.store import Store

TAG = "schedule"
"""The tag of the variable with the schedule, and of its threads with its name."""


class Schedule(NamedTuple):
    """A schedule.

    Attributes:
        name: unique in the store. cron, time_zone, missed, overlap, next_at_ms, waiting: see
            `times.Timing`.
        host: the machine that fires it, None: any. queue: whether workers run its threads.
        is_paused: nobody fires it.
        thread, fired_at_ms: that of the last start, and when.
        skipped: why the last time was skipped. error: why the last start failed.
    """

    name: str
    cron: str
    time_zone: str
    missed: Missed
    overlap: Overlap
    host: str | None
    queue: bool
    next_at_ms: int
    waiting: int = 0
    is_paused: bool = False
    thread: str | None = None
    fired_at_ms: int | None = None
    skipped: str | None = None
    error: str | None = None


class Stored(NamedTuple):
    """A schedule, and the variable that it was read from."""

    schedule: Schedule
    variable: "Variable"

    def plan(self, store: "Store") -> Mapping[str, Any]:
        """What to start, and the `folder` in which the schedule was added."""
        plan: Mapping[str, Any] = json.loads(store.text(self.variable.value))
        return plan

    def save(self, store: "Store", after: Schedule) -> "Stored":
        """Replace it. Raises BusyError: another process was quicker."""
        name, value = self.variable.name, self.variable.value
        return Stored(after, store.set_variable(name, value, _tags(after), self.variable))


def all_schedules(store: "Store") -> list[Stored]:
    """All schedules by name."""
    return [_read(each) for each in store.variables(SCHEDULES)]


def find_schedule(store: "Store", name: str) -> Stored:
    """A schedule. Raises as `find_row`, and CorruptNodeError if it is damaged."""
    return _read(find_row(store, name))


def find_row(store: "Store", name: str) -> "Variable":
    """The variable of a schedule.

    Raises:
        UnknownIdError: there is none.
    """
    found = store.variable(SCHEDULES + name)
    if found is None:
        raise UnknownIdError(f"unknown schedule {name!r}", hint="next: uwf schedule list")
    return found


def new_schedule(store: "Store", one: Schedule, plan: Mapping[str, Any]) -> Stored:
    """Store a schedule.

    Raises:
        WrongStateError: there is one with its name.
    """
    name = SCHEDULES + one.name
    with store.transaction():
        if store.variable(name) is not None:
            raise WrongStateError(
                f"the schedule {one.name!r} exists",
                hint=f"next: uwf schedule rm {one.name}, or use another name",
            )
        value = store.put_text(json.dumps(plan, ensure_ascii=False))
        return Stored(one, store.set_variable(name, value, _tags(one), None))


def _tags(one: Schedule) -> dict[str, str]:
    return {TAG: json.dumps(write_record(one), ensure_ascii=False)}


def _read(variable: "Variable") -> Stored:
    try:
        return Stored(read_record(Schedule, json.loads(variable.tags[TAG])), variable)
    except (KeyError, ValueError, FieldFault) as error:
        name = variable.name.removeprefix(SCHEDULES)
        raise CorruptNodeError(
            f"the schedule {name!r} is damaged: {error}",
            hint=f"next: uwf schedule rm {name}, and add it again",
        ) from error
