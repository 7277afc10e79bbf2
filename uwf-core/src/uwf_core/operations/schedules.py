"""What is done with schedules."""

# ruff: noqa: F403, F405 (the kinds of arguments are the words of the table)

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Literal, Unpack

from uwf_core.operations.declare import Kind
from uwf_core.operations.kinds import *
from uwf_core.operations.table import operation

if TYPE_CHECKING:
    from uwf_core.threads.schedules.manage import ScheduleDocument

Name = Annotated[str, Kind("", "NAME")]


@operation(
    "schedule.add", "threads.schedules.manage:add_schedule", text="schedule:one_text",
    permission="run",
)  # fmt: skip
def schedule_add(
    name: Name,
    cron: Annotated[str, Kind("", "CRON")],
    workflow: Workflow,
    prompt: Annotated[Prompt, "The task."],
    *,
    zone: Annotated[
        str, Kind("", "ZONE", options=("--tz",)),
        "IANA time zone of the times, such as Europe/Berlin.",
    ] = "UTC",
    missed: Annotated[
        Literal["skip", "once"],
        "Times that have passed meanwhile: start once for all of them, or skip those that are more "
        "than ten minutes past.",
    ] = "once",
    overlap: Annotated[
        Literal["skip", "queue"],
        "While its thread before is open: skip the time, or start after its end.",
    ] = "skip",
    queue: Queue = False,
    **what: Unpack[Start],
) -> "ScheduleDocument":  # fmt: skip
    """Start WORKFLOW at the times of CRON, from now on; `uwf tick` does it.

    CRON has five fields: minute, hour, day of month, month, day of week. The thread is that of `uwf
    run` with the same options in the current folder: WORKFLOW is looked up, read and checked at
    each time. It runs in the background. With --queue workers start it and run it.

    In a store that several machines share, this machine starts it; any with --tag host=any.

    $ uwf schedule add nightly '30 2 * * *' triage -p 'Sort the new issues' --tz Europe/Berlin
    $ uwf schedule add hourly '0 * * * *' ./watch.yaml -p @task.md --missed skip --overlap queue
    """


@operation(
    "schedule.list", "threads.schedules.manage:list_schedules",
    text="schedule:schedules_text", key="schedules",
)  # fmt: skip
def schedule_list() -> "Sequence[ScheduleDocument]":
    """Show the schedules, their next times, and what went wrong at the last one.

    $ uwf schedule list
    $ uwf schedule list --format json
    """


@operation(
    "schedule.pause", "threads.schedules.manage:pause_schedule", text="schedule:one_text",
    permission="run",
)  # fmt: skip
def schedule_pause(name: Name) -> "ScheduleDocument":
    """Let a schedule start nothing until `uwf schedule resume`. Its threads continue.

    $ uwf schedule pause nightly
    """


@operation(
    "schedule.resume", "threads.schedules.manage:resume_schedule", text="schedule:one_text",
    permission="run",
)  # fmt: skip
def schedule_resume(name: Name) -> "ScheduleDocument":
    """Let a paused schedule start threads again, from its next time on.

    $ uwf schedule resume nightly
    """


@operation(
    "schedule.rm", "threads.schedules.manage:remove_schedule",
    text="deleted {removed}", key="removed", permission="run",
)  # fmt: skip
def schedule_rm(name: Name) -> str:
    """Delete a schedule; its threads stay.

    $ uwf schedule rm nightly
    """


@operation(
    "schedule.run", "threads.schedules.manage:run_schedule", text="started thread {thread}",
    permission="run",
)  # fmt: skip
def schedule_run(name: Name) -> "ScheduleDocument":
    """Start the thread of a schedule now, also while another one is open.

    The times of the schedule stay as they are.

    $ uwf schedule run nightly
    """
