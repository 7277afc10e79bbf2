"""`uwf schedule list`, and how a schedule is shown."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from uwf_core.commands import Column, Screen, Session, command, moment, table, working_folder

if TYPE_CHECKING:
    from uwf_core.client import Client
    from uwf_worker.schedules.table import Schedule, ScheduleTable

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


@contextmanager
def schedules_of(client: "Client") -> "Iterator[ScheduleTable]":
    """The schedules of a store.

    Raises:
        UsageError: it keeps none. StoreError: its tables are missing.
    """
    from uwf_core.errors import UsageError
    from uwf_worker.cli.opening import place_of_store
    from uwf_worker.migrating import check_queue
    from uwf_worker.schedules.table import ScheduleTable

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


def document_of(one: "Schedule") -> dict[str, Any]:
    """A schedule as commands print it."""
    state = "paused" if one.is_paused else "failing" if one.error else "active"
    return {
        "name": one.name,
        "cron": one.cron,
        "timeZone": one.zone,
        "state": state,
        "nextAtMs": None if one.is_paused else one.next_ms,
        "missed": one.missed,
        "overlap": one.overlap,
        "host": one.host,
        "workflow": one.plan.get("workflow"),
        "prompt": one.plan.get("prompt"),
        "cwd": one.plan.get("cwd"),
        "thread": one.thread,
        "firedAtMs": one.fired_ms,
        "waiting": one.waiting,
        "skipped": one.skipped,
        "error": one.error,
    }


def emit_schedule(session: Session, one: "Schedule") -> None:
    """Print a schedule."""
    session.emit(document_of(one), lambda shown, screen: _text({"schedules": [shown]}, screen))


@command("list", "uwf schedule list", "uwf schedule list --format json")
def list_(session: Session) -> None:
    """Show the schedules, their next times, and what went wrong at the last one."""
    from uwf_core.client import Client

    with Client.open(cwd=working_folder()) as client, schedules_of(client) as found:
        shown = {"schedules": [document_of(each) for each in found.all()]}
    session.emit(shown, _text)


def _text(document: Mapping[str, Any], screen: Screen) -> str:
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
