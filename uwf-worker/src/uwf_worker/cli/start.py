"""`uwf worker start`."""

import signal
import sys
from functools import partial
from types import FrameType
from typing import TYPE_CHECKING, TypedDict

import click

from uwf_core.commands import Session, command, working_folder

if TYPE_CHECKING:
    from uwf_worker.worker import Worker

METRICS_PORT = 9464
"""The port of `--metrics` without a number: that of exporters of OpenTelemetry for Prometheus."""


class DrainedDocument(TypedDict):
    """What a worker has done."""

    worker: str
    jobs: int
    steps: int


@command(
    "start",
    "uwf worker start",
    "uwf worker start --label gpu --label eu",
    "uwf worker start --metrics 9464",
    logged=True,
)
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
@click.option(
    "--metrics", type=click.IntRange(0, 65535), is_flag=False, flag_value=METRICS_PORT,
    metavar="[PORT]", help=f"Serve figures for Prometheus on 127.0.0.1:PORT ({METRICS_PORT}).",
)  # fmt: skip
def start(
    session: Session, labels: tuple[str, ...], engine: str, most_jobs: int, metrics: int | None
) -> int:
    """Run threads that were handed to workers (`--queue`), until it drains.

    It runs one thread at a time; start several for more. It also starts the threads of schedules
    that were added with --queue.
    A signal (Ctrl-C, SIGTERM) or `uwf worker drain` lets it end after its step, a second signal at
    once.
    """
    from uwf_core.api import own_python
    from uwf_core.client import Client
    from uwf_worker.cli.opening import open_queue, place_of_store, serving_metrics
    from uwf_worker.schedules import firing_schedules
    from uwf_worker.worker import Worker, WorkerOptions, restart

    open_client = partial(Client.open, cwd=working_folder(), via="worker", on_notice=session.note)
    with open_client() as client:
        own = [*client.queued.own_labels(), *labels]  # before anything connects
        place = place_of_store(client)
        queue = open_queue(place, engine)
        try:
            options = WorkerOptions([*dict.fromkeys(own)], place.lease_seconds, most_jobs)
            worker = Worker(client, queue, options, session.note)
            _obey_signals(worker)
            session.note(f"worker {worker.id} has {', '.join(options.labels)}")
            with (
                serving_metrics(session, worker, client, metrics),
                firing_schedules(open_client, session.note),
            ):
                ended = worker.run()
        finally:
            queue.close()  # after the last step was recorded
    if ended.starts_anew:
        session.note(f"worker {worker.id} starts anew after {ended.jobs} jobs")
        restart([*own_python("uwf_core"), *sys.argv[1:]])
    document: DrainedDocument = {"worker": worker.id, "jobs": ended.jobs, "steps": ended.steps}
    session.emit(document, lambda shown, _: f"drained after {shown['jobs']} jobs")
    return 0


def _obey_signals(worker: "Worker") -> None:
    signals = 0

    def obey(_number: int, _frame: FrameType | None) -> None:
        nonlocal signals
        signals += 1
        worker.drain() if signals == 1 else worker.abort()

    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, obey)
