"""The operations of `uwf worker`."""

from typing import Annotated, Any, Final

from uwf_core.operations.declare import Kind, Table

TABLE: Final = Table(
    "uwf_worker",
    groups={"worker": "Workers: several machines run the threads of one store"},
)
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
    """Create the tables of the queue in the schema of the store.

    The role needs the right to create tables there; `uwf worker start` needs none.

    $ uwf worker migrate
    """
