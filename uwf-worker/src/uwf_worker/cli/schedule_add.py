"""`uwf schedule add`."""

import re
from typing import TYPE_CHECKING, Any

import click

from uwf_core.commands import Session, command, new_thread, start_options, working_folder

if TYPE_CHECKING:
    from uwf_worker.schedules.times import Missed, Overlap

_NAME = re.compile(r"[a-z0-9][a-z0-9._-]{0,63}")


@command(
    "add",
    "uwf schedule add nightly '30 2 * * *' triage -p 'Sort the new issues' --tz Europe/Berlin",
    "uwf schedule add hourly '0 * * * *' ./watch.yaml -p @task.md --missed once --overlap queue",
    logged=True,
)
@click.argument("name", metavar="NAME")
@click.argument("cron", metavar="CRON")
@start_options
@click.option(
    "--tz", "zone", default="UTC", metavar="ZONE",
    help="IANA time zone of the times, such as Europe/Berlin (UTC).",
)  # fmt: skip
@click.option(
    "--missed", type=click.Choice(["skip", "once"]), default="skip",
    help="Times at which no worker lived: skip them (default), or start once for all of them.",
)  # fmt: skip
@click.option(
    "--overlap", type=click.Choice(["skip", "queue"]), default="skip",
    help="While its thread before is open: skip the time (default), or start after its end.",
)  # fmt: skip
def add(
    session: Session,
    name: str,
    cron: str,
    zone: str,
    missed: "Missed",
    overlap: "Overlap",
    **what: Any,
) -> None:
    """Have workers start WORKFLOW at the times of CRON, from now on.

    CRON has five fields: minute, hour, day of month, month, day of week. The thread is that of `uwf
    run --queue` with the same options in the current folder: WORKFLOW is looked up, read and
    checked at each time. Workers of this machine start it, of any with --tag host=any.
    """
    import time

    from uwf_core.api import hostname
    from uwf_core.client import Client
    from uwf_core.errors import UsageError, WrongStateError
    from uwf_worker.cli.schedule_list import emit_schedule, schedules_of
    from uwf_worker.schedules.table import Schedule
    from uwf_worker.schedules.times import next_time

    if not _NAME.fullmatch(name):
        raise UsageError(
            f"{name!r} is not a name for a schedule",
            hint="use at most 64 lower-case letters, digits, `.`, `_` and `-`",
        )
    following = next_time(cron, zone, int(time.time() * 1000))
    options = new_thread(session, **what)
    with (
        Client.open(cwd=working_folder(), on_notice=session.note) as client,
        schedules_of(client) as table,
    ):
        plan = client.queued.plan_start(options)
        host = None if options.tags.get("host") == "any" else hostname()
        new = Schedule(name, cron, zone, missed, overlap, plan, host, False, following, 0)
        if not table.add(new):
            raise WrongStateError(
                f"the schedule {name!r} exists",
                hint=f"next: uwf schedule rm {name}, or use another name",
            )
        emit_schedule(session, new)
