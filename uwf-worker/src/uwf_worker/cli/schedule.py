"""`uwf schedule pause`, `resume`, `rm` and `run`."""

import time
from collections.abc import Callable
from typing import TYPE_CHECKING

import click

from uwf_core.commands import Session, command, working_folder
from uwf_worker.cli.schedule_list import document_of, emit_schedule, schedules_of

if TYPE_CHECKING:
    from uwf_worker.schedules.table import Schedule, ScheduleTable


@command("pause", "uwf schedule pause nightly", logged=True)
@click.argument("name", metavar="NAME")
def pause(session: Session, name: str) -> None:
    """Let a schedule start nothing until `uwf schedule resume`. Its threads continue."""
    _change(session, name, lambda found, one: found.pause(one.name))


@command("resume", "uwf schedule resume nightly", logged=True)
@click.argument("name", metavar="NAME")
def resume(session: Session, name: str) -> None:
    """Let a paused schedule start threads again, from its next time on."""
    from uwf_worker.schedules.times import next_time

    def change(found: "ScheduleTable", one: "Schedule") -> object:
        return found.resume(one.name, next_time(one.cron, one.zone, int(time.time() * 1000)))

    _change(session, name, change)


@command("rm", "uwf schedule rm nightly", logged=True)
@click.argument("name", metavar="NAME")
def rm(session: Session, name: str) -> None:
    """Delete a schedule; its threads stay."""
    from uwf_core.client import Client

    with Client.open(cwd=working_folder()) as client, schedules_of(client) as found:
        one = _found(found.find(name), name)
        found.remove(name)
    session.emit({"removed": one.name}, lambda shown, _: f"deleted {shown['removed']}")


@command("run", "uwf schedule run nightly", logged=True)
@click.argument("name", metavar="NAME")
def run(session: Session, name: str) -> None:
    """Start the thread of a schedule now, also while another one is open; workers run it.

    The times of the schedule stay as they are.
    """
    from uwf_core.client import Client
    from uwf_worker.cli.opening import open_at
    from uwf_worker.schedules.firing import folder_of, start

    with Client.open(cwd=working_folder()) as client, schedules_of(client) as found:
        folder = folder_of(_found(found.find(name), name))
        with found.locked(name) as one, open_at(client, session, folder) as at_folder:
            after = start(at_folder, _found(one, name))._replace(fired_ms=int(time.time() * 1000))
            found.save(after)
    session.emit(document_of(after), lambda shown, _: f"workers run thread {shown['thread']}")


def _change(
    session: Session, name: str, change: "Callable[[ScheduleTable, Schedule], object]"
) -> None:
    from uwf_core.client import Client

    with Client.open(cwd=working_folder()) as client, schedules_of(client) as found:
        change(found, _found(found.find(name), name))
        emit_schedule(session, _found(found.find(name), name))


def _found(one: "Schedule | None", name: str) -> "Schedule":
    from uwf_core.errors import UnknownIdError

    if one is None:
        raise UnknownIdError(f"unknown schedule {name!r}", hint="next: uwf schedule list")
    return one
