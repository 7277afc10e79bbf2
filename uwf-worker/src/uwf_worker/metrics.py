"""Figures of a worker and of its store for Prometheus, on this machine alone.

The only module that imports the client of Prometheus (the extra `metrics`).
"""

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from prometheus_client import CollectorRegistry, start_http_server
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric

from uwf_core.errors import UsageError, UwfError

if TYPE_CHECKING:
    from uwf_core.client import Client
    from uwf_worker.worker import Worker

ADDRESS = "127.0.0.1"
_MOST_WAITING = 1000


class WorkerCollector:
    """The figures, read when somebody asks for them."""

    def __init__(self, worker: "Worker", client: "Client") -> None:
        self._worker, self._queued = worker, client.queued

    def collect(self) -> Iterator[Metric]:
        """Those of the worker; then those of the store, if it can be reached."""
        totals = self._worker.totals
        for name, help_text, value in (
            ("jobs", "Threads that this worker took.", totals.jobs),
            ("steps", "Steps that it ran.", totals.steps),
            ("failed_jobs", "Jobs that ended with an error.", totals.failures),
            ("busy_seconds", "Seconds in which it ran threads.", totals.busy_seconds),
        ):
            yield CounterMetricFamily(f"uwf_worker_{name}", help_text, value=value)
        yield GaugeMetricFamily(
            "uwf_worker_busy", "Whether it runs a thread now.", value=totals.is_busy
        )
        up = GaugeMetricFamily("uwf_store_up", "Whether the store could be reached.")
        try:
            found = [*self._of_store()]
        except UwfError:
            found = []
        up.add_metric([], bool(found))
        yield up
        yield from found

    def _of_store(self) -> Iterator[Metric]:
        states = dict.fromkeys(("running", "draining", "lost"), 0)
        for each in self._queued.backend.workers():
            states[each.state] = states.get(each.state, 0) + 1
        workers = GaugeMetricFamily(
            "uwf_workers", "Workers of the store by state.", labels=["state"]
        )
        for state, count in states.items():
            workers.add_metric([state], count)
        yield workers
        waiting = self._queued.backend.waiting(_MOST_WAITING)
        yield GaugeMetricFamily(
            "uwf_threads_waiting", "Threads that wait for a worker, at most 1000.",
            value=len(waiting),
        )  # fmt: skip
        yield GaugeMetricFamily(
            "uwf_threads_unserved", "Those of them that no live worker can run.",
            value=sum(not each.can_run for each in waiting),
        )  # fmt: skip


def serve_metrics(worker: "Worker", client: "Client", port: int) -> tuple[str, Callable[[], None]]:
    """Serve the figures from a thread; the URL, and what ends it. Port 0 takes a free one.

    Raises:
        UsageError: the port is in use.
    """
    registry = CollectorRegistry(auto_describe=False)
    registry.register(WorkerCollector(worker, client))
    try:
        server, thread = start_http_server(port, addr=ADDRESS, registry=registry)
    except OSError as error:
        raise UsageError(
            f"cannot serve metrics on {ADDRESS}:{port}: {error.strerror}",
            hint="each worker needs its own port; --metrics 0 takes a free one",
        ) from error

    def end() -> None:
        server.shutdown()
        server.server_close()
        thread.join(5)

    return f"http://{ADDRESS}:{server.server_port}/metrics", end
