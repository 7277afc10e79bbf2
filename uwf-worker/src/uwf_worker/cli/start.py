"""`uwf worker start` and `migrate`."""

import signal
import sys
from types import FrameType
from typing import TYPE_CHECKING

import click

from uwf_core.commands import Session, command, working_folder

if TYPE_CHECKING:
    from uwf_core.client import Client
    from uwf_store_postgres.place import Place
    from uwf_worker.engines.engine import Engine
    from uwf_worker.worker import Worker


@command("start", "uwf worker start", "uwf worker start --label gpu --label eu", logged=True)
@click.option(
    "--label", "labels", multiple=True, metavar="LABEL",
    help="What this worker has, beside `worker.labels` (may be repeated).",
)  # fmt: skip
@click.option(
    "--engine", type=click.Choice(["procrastinate", "none"]), default="procrastinate",
    help="The queue that wakes it; `none`: it only looks into the store.",
)  # fmt: skip
@click.option(
    "--most-jobs", type=click.IntRange(1), default=1000, metavar="N",
    help="Start anew after N jobs (1000).",
)  # fmt: skip
def start(session: Session, labels: tuple[str, ...], engine: str, most_jobs: int) -> int:
    """Run threads that were handed to workers (`--queue`), until it drains.

    It runs one thread at a time; start several for more. A signal (Ctrl-C, SIGTERM) or `uwf worker
    drain` lets it end after its step, a second signal at once.
    """
    from uwf_core.api import own_python
    from uwf_core.client import Client
    from uwf_worker.worker import Worker, WorkerOptions, restart

    with Client.open(cwd=working_folder(), via="worker", on_notice=session.note) as client:
        own = [*client.queued.own_labels(), *labels]  # before anything connects
        place = _place(client)
        queue = _engine(place, engine)
        try:
            options = WorkerOptions([*dict.fromkeys(own)], place.lease_seconds, most_jobs)
            worker = Worker(client, queue, options, session.note)
            _obey_signals(worker)
            session.note(f"worker {worker.id} has {', '.join(options.labels)}")
            ended = worker.run()
        finally:
            queue.close()  # after the last step was recorded
    if ended.starts_anew:
        session.note(f"worker {worker.id} starts anew after {ended.jobs} jobs")
        restart([*own_python("uwf_core"), *sys.argv[1:]])
    document = {"worker": worker.id, "jobs": ended.jobs, "steps": ended.steps}
    session.emit(document, lambda shown, _: f"drained after {shown['jobs']} jobs")
    return 0


def _place(client: "Client") -> "Place":
    from uwf_store_postgres.place import place_of

    assert client.queued.backend
    return place_of(client.queued.store_url)


def _engine(place: "Place", name: str) -> "Engine":
    if name == "none":
        from uwf_worker.engines.memory import MemoryEngine

        return MemoryEngine()
    from uwf_core.api import StoreError
    from uwf_worker.engines.engine import EngineError
    from uwf_worker.engines.procrastinate import ProcrastinateEngine
    from uwf_worker.migrating import check_queue

    check_queue(place)
    try:
        return ProcrastinateEngine(place)
    except EngineError as error:
        raise StoreError(f"the queue failed: {error}", where=place.shown) from error


def _obey_signals(worker: "Worker") -> None:
    signals = 0

    def obey(_number: int, _frame: FrameType | None) -> None:
        nonlocal signals
        signals += 1
        worker.drain() if signals == 1 else worker.abort()

    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, obey)


@command("migrate", "uwf worker migrate", logged=True)
def migrate(session: Session) -> None:
    """Create the tables of the queue in the schema of the store.

    The role needs the right to create tables there; `uwf worker start` needs none.
    """
    from uwf_core.client import Client
    from uwf_worker.migrating import migrate_queue

    with Client.open(cwd=working_folder()) as client:
        applied = migrate_queue(_place(client))
    session.emit({"applied": applied}, lambda shown, _: ", ".join(shown["applied"]) or "up to date")
