"""What `uwf schedule` does, and how a schedule is shown."""

import re
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from uwf_core.api import hostname
from uwf_core.client import StartOptions
from uwf_core.commands import Column, Screen, moment, table
from uwf_core.errors import UnknownIdError, UsageError, WrongStateError
from uwf_worker.cli.opening import open_at, place_of_store
from uwf_worker.migrating import check_queue
from uwf_worker.schedules.firing import resumed, start_now
from uwf_worker.schedules.table import Schedule, ScheduleTable
from uwf_worker.schedules.times import Missed, Overlap, next_time

if TYPE_CHECKING:
    from collections.abc import Callable

    from uwf_core.client import Client

_Row = TypeVar("_Row")
_NAME = re.compile(r"[a-z0-9][a-z0-9._-]{0,63}")
_COLUMNS = (
    Column("name", "name"),
    Column("cron", "cron"),
    Column("timeZone", "time zone", rank=3),
    Column("state", "state"),
    Column("next", "next"),
    Column("workflow", "workflow", rank=2),
    Column("thread", "last thread", rank=4),
)
_SKIPPED = {
    "missed": "the last time was missed: no worker lived",
    "overlap": "the last time was skipped: the thread before is open",
}


class ScheduleDocument(NamedTuple):
    """A schedule as commands print it; `state` is active, paused or failing."""

    name: str
    cron: str
    time_zone: str
    state: str
    next_at_ms: int | None
    missed: Missed
    overlap: Overlap
    host: str | None
    workflow: str | None
    prompt: str | None
    cwd: str | None
    thread: str | None
    fired_at_ms: int | None
    waiting: int
    skipped: str | None
    error: str | None


@contextmanager
def schedules_of(client: "Client") -> "Iterator[ScheduleTable]":
    """The schedules of a store.

    Raises:
        UsageError: it keeps none. StoreError: its tables are missing.
    """
    try:
        place = place_of_store(client)
    except UsageError as error:
        raise UsageError(
            "schedules need workers, and these a store of PostgreSQL",
            hint="next: uwf config set store postgresql://HOST/DATABASE; on one machine a timer of "
            "the system can start threads: uwf run WORKFLOW -p TASK --background",
        ) from error
    check_queue(place)
    found = ScheduleTable(place)
    try:
        yield found
    finally:
        found.close()


def _document(one: Schedule) -> ScheduleDocument:
    state = "paused" if one.is_paused else "failing" if one.error else "active"
    following = None if one.is_paused else one.next_ms
    plan = one.plan.get
    return ScheduleDocument(
        *(one.name, one.cron, one.zone, state, following, one.missed, one.overlap, one.host),
        *(plan("workflow"), plan("prompt"), plan("cwd"), one.thread, one.fired_ms, one.waiting),
        *(one.skipped, one.error),
    )


def add(
    client: "Client", name: str, cron: str, zone: str, missed: Missed, overlap: Overlap,
    options: StartOptions,
) -> ScheduleDocument:  # fmt: skip
    """Add a schedule."""
    if not _NAME.fullmatch(name):
        raise UsageError(
            f"{name!r} is not a name for a schedule",
            hint="use at most 64 lower-case letters, digits, `.`, `_` and `-`",
        )
    following = next_time(cron, zone, int(time.time() * 1000))
    with schedules_of(client) as found:
        plan = client.queued.plan_start(options)
        host = None if options.tags.get("host") == "any" else hostname()
        new = Schedule(name, cron, zone, missed, overlap, plan, host, False, following, 0)
        if not found.add(new):
            raise WrongStateError(
                f"the schedule {name!r} exists",
                hint=f"next: uwf schedule rm {name}, or use another name",
            )
    return _document(new)


def list_schedules(client: "Client") -> list[ScheduleDocument]:
    """The schedules of the store."""
    with schedules_of(client) as found:
        return [_document(each) for each in found.all()]


def pause(client: "Client", name: str) -> ScheduleDocument:
    """Let a schedule start nothing."""
    with schedules_of(client) as found:
        found.pause(name)
        return _document(_found(found.find(name), name))


def resume(client: "Client", name: str) -> ScheduleDocument:
    """Let a paused schedule start threads again."""
    with schedules_of(client) as found, found.locked(name) as row:
        one, now_ms = _found(row, name)
        after = resumed(client, one, now_ms)
        found.save(after)
    return _document(after)


def remove(client: "Client", name: str) -> str:
    """Delete a schedule."""
    with schedules_of(client) as found:
        one = _found(found.find(name), name)
        found.remove(name)
    return one.name


def start(client: "Client", notice: "Callable[[str], None]", name: str) -> ScheduleDocument:
    """Start the thread of a schedule now."""
    with schedules_of(client) as found:
        after = start_now(found, lambda folder: open_at(client, notice, folder), name)
    return _document(_found(after, name))


def _found(row: _Row | None, name: str) -> _Row:
    if row is None:
        raise UnknownIdError(f"unknown schedule {name!r}", hint="next: uwf schedule list")
    return row


def one_text(document: Mapping[str, Any], screen: Screen) -> str:
    """A schedule."""
    return schedules_text({"schedules": [document]}, screen)


def schedules_text(document: Mapping[str, Any], screen: Screen) -> str:
    """`schedule list`."""
    if not document["schedules"]:
        return "no schedules; next: uwf schedule add --help"
    rows = [
        {**each, "next": moment(each["nextAtMs"]) if each["nextAtMs"] else ""}
        for each in document["schedules"]
    ]
    lines = [table(_COLUMNS, rows, screen)]
    for each in document["schedules"]:
        if each["error"]:
            lines.append(screen.paint(f"{each['name']}: {each['error']}", "error"))
        elif each["skipped"]:
            lines.append(f"{each['name']}: {_SKIPPED.get(each['skipped'], each['skipped'])}")
        if each["waiting"]:
            lines.append(f"{each['name']}: {each['waiting']} wait for the end of {each['thread']}")
    return "\n".join(lines)
