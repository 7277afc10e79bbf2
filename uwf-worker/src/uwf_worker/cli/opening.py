"""What a worker opens: its store, the queue, and the port of its figures."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from uwf_core.commands import Session

if TYPE_CHECKING:
    from uwf_core.client import Client
    from uwf_store_postgres.place import Place
    from uwf_worker.engines.engine import Engine
    from uwf_worker.worker import Worker


@contextmanager
def serving_metrics(
    session: Session, worker: "Worker", client: "Client", port: int | None
) -> Iterator[None]:
    """Serve figures until the end, if a port is given."""
    if port is None:
        yield
        return
    from uwf_core.errors import UsageError

    try:
        from uwf_worker.metrics import serve_metrics
    except ModuleNotFoundError as error:
        raise UsageError(
            "--metrics needs the client of Prometheus",
            hint="next: uv tool install uwf-core --with 'uwf-worker[metrics]'",
        ) from error
    url, end = serve_metrics(worker, client, port)
    session.note(f"metrics: {url}")
    try:
        yield
    finally:
        end()


def place_of_store(client: "Client") -> "Place":
    """The place of a store that workers can use.

    Raises:
        UsageError: it is another one.
    """
    from uwf_store_postgres.place import place_of

    assert client.queued.backend
    return place_of(client.queued.store_url)


def open_queue(place: "Place", name: str) -> "Engine":
    """The queue of this name (`none`: one in memory), in the database of the store.

    Raises:
        StoreError: it cannot be reached, or has no tables.
    """
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
