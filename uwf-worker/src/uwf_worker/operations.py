"""The operations of `uwf worker` and `uwf schedule`."""

from typing import Annotated, Any, Final, Literal, Unpack

from uwf_core.operations.declare import Kind, Table
from uwf_core.operations.kinds import Prompt, Start, Workflow

TABLE: Final = Table(
    "uwf_worker",
    groups={
        "schedule": "Schedules: workers start threads at set times",
        "worker": "Workers: several machines run the threads of one store",
    },
)
Name = Annotated[str, Kind("", "NAME")]

TABLE.command("worker.start", "cli.start:start")


@TABLE.operation("worker.status", "cli.status:status", text="status:status_text")
def worker_status() -> Any:
    """Show the workers of the store, and the threads that wait for one.

    A thread that no live worker can run is shown with the labels that are missing, and what to do.
    `uwf inbox` shows it as well.

    $ uwf worker status
    $ uwf worker status --format json
    """


@TABLE.operation(
    "worker.drain", "cli.status:drain", text="asked {asked} to end", key="asked", permission="run"
)
def worker_drain(
    worker: Annotated[str | None, Kind("", "WORKER")] = None,
    *,
    all: Annotated[bool, "All workers of the store."] = False,
) -> Any:
    """Let a worker end after its step; `uwf worker status` lists them.

    $ uwf worker drain --all
    $ uwf worker drain WORKER
    """


@TABLE.operation(
    "worker.migrate", "cli.status:migrate", text="status:applied_text", key="applied",
    permission="admin",
)  # fmt: skip
def worker_migrate() -> Any:
    """Create the tables of the queue and of schedules in the schema of the store.

    The role needs the right to create tables there; `uwf worker start` needs none.

    $ uwf worker migrate
    """


@TABLE.operation("schedule.add", "cli.schedule:add", text="schedule:one_text", permission="run")
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
        "Times at which no worker lived: skip them, or start once for all of them.",
    ] = "skip",
    overlap: Annotated[
        Literal["skip", "queue"],
        "While its thread before is open: skip the time, or start after its end.",
    ] = "skip",
    **what: Unpack[Start],
) -> Any:  # fmt: skip
    """Have workers start WORKFLOW at the times of CRON, from now on.

    CRON has five fields: minute, hour, day of month, month, day of week. The thread is that of `uwf
    run --queue` with the same options in the current folder: WORKFLOW is looked up, read and
    checked at each time. Workers of this machine start it, of any with --tag host=any.

    $ uwf schedule add nightly '30 2 * * *' triage -p 'Sort the new issues' --tz Europe/Berlin
    $ uwf schedule add hourly '0 * * * *' ./watch.yaml -p @task.md --missed once --overlap queue
    """


@TABLE.operation(
    "schedule.list", "cli.schedule:list_schedules", text="schedule:schedules_text", key="schedules"
)
def schedule_list() -> Any:
    """Show the schedules, their next times, and what went wrong at the last one.

    $ uwf schedule list
    $ uwf schedule list --format json
    """


@TABLE.operation("schedule.pause", "cli.schedule:pause", text="schedule:one_text", permission="run")
def schedule_pause(name: Name) -> Any:
    """Let a schedule start nothing until `uwf schedule resume`. Its threads continue.

    $ uwf schedule pause nightly
    """


@TABLE.operation(
    "schedule.resume", "cli.schedule:resume", text="schedule:one_text", permission="run"
)
def schedule_resume(name: Name) -> Any:
    """Let a paused schedule start threads again, from its next time on.

    $ uwf schedule resume nightly
    """


@TABLE.operation(
    "schedule.rm", "cli.schedule:remove", text="deleted {removed}", key="removed", permission="run"
)
def schedule_rm(name: Name) -> Any:
    """Delete a schedule; its threads stay.

    $ uwf schedule rm nightly
    """


@TABLE.operation(
    "schedule.run", "cli.schedule:start", text="workers run thread {thread}", permission="run"
)
def schedule_run(name: Name) -> Any:
    """Start the thread of a schedule now, also while another one is open; workers run it.

    The times of the schedule stay as they are.

    $ uwf schedule run nightly
    """
