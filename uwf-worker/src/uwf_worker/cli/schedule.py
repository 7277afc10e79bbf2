"""`uwf schedule pause`, `resume`, `rm` and `run`."""

from typing import TypeVar

import click

from uwf_core.commands import Session, command, working_folder
from uwf_worker.cli.schedule_list import document_of, emit_schedule, schedules_of

_Row = TypeVar("_Row")


@command("pause", "uwf schedule pause nightly", logged=True)
@click.argument("name", metavar="NAME")
def pause(session: Session, name: str) -> None:
    """Let a schedule start nothing until `uwf schedule resume`. Its threads continue."""
    from uwf_core.client import Client

    with Client.open(cwd=working_folder()) as client, schedules_of(client) as found:
        found.pause(name)
        emit_schedule(session, _found(found.find(name), name))


@command("resume", "uwf schedule resume nightly", logged=True)
@click.argument("name", metavar="NAME")
def resume(session: Session, name: str) -> None:
    """Let a paused schedule start threads again, from its next time on."""
    from uwf_core.client import Client
    from uwf_worker.schedules.firing import resumed

    with Client.open(cwd=working_folder()) as client, schedules_of(client) as found:
        with found.locked(name) as row:
            one, now_ms = _found(row, name)
            after = resumed(client, one, now_ms)
            found.save(after)
        emit_schedule(session, after)


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
    from uwf_worker.schedules.firing import start_now

    with Client.open(cwd=working_folder()) as client, schedules_of(client) as found:
        after = _found(start_now(found, lambda at: open_at(client, session, at), name), name)
    session.emit(document_of(after), lambda shown, _: f"workers run thread {shown['thread']}")


def _found(row: _Row | None, name: str) -> _Row:
    from uwf_core.errors import UnknownIdError

    if row is None:
        raise UnknownIdError(f"unknown schedule {name!r}", hint="next: uwf schedule list")
    return row
