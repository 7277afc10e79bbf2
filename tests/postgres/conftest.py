"""A PostgreSQL server for each process of the tests, and a store of its own for each test."""

import os
import sys
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from postgres_server import MISSING, Server, programs

NUMBERS = count(1)
HERE = Path(__file__).parent


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    if os.environ.get("UWF_POSTGRES"):
        return
    reason = pytest.mark.skip(reason="runs in the session `postgres`, with UWF_POSTGRES=1")
    for item in items:
        if HERE in item.path.parents:
            item.add_marker(reason)


def pytest_sessionfinish(session: pytest.Session) -> None:
    """A run that was to try PostgreSQL and has tried nothing is no success."""
    if os.environ.get("UWF_POSTGRES") == "":  # without a server on purpose
        return
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    if reporter is None or not reporter.stats.get("skipped"):  # one of several processes
        return
    if not any(reporter.stats.get(kind) for kind in ("passed", "failed", "error")):
        session.exitstatus = pytest.ExitCode.NO_TESTS_COLLECTED
        line = "NOTHING RAN: `python3 dev.py postgres` starts a server for the tests of PostgreSQL"
        reporter.write_line(f"\n{line}", red=True, bold=True)


@pytest.fixture(scope="session")
def server() -> Iterator[Server]:
    if programs() is None:
        pytest.skip(MISSING)
    running = Server()
    yield running
    running.remove()


@pytest.fixture
def url(server: Server) -> str:
    """The URL of an empty store."""
    return made(server)


def made(server: Server, **options: str) -> str:
    """The URL of a new store."""
    from uwf_store_postgres.backend import open_postgres

    address = server.url(schema=f"s{next(NUMBERS)}", **options)
    backend = open_postgres(address, "")
    backend.migrate()
    backend.close()
    return address


@pytest.fixture
def another_url(server: Server) -> Callable[..., str]:
    return lambda **options: made(server, **options)


def made_for_workers(server: Server, **options: str) -> str:
    """The same with the tables of a queue."""
    from uwf_store_postgres.place import place_of
    from uwf_worker.migrating import migrate_queue

    address = made(server, **options)
    migrate_queue(place_of(address))
    return address


@pytest.fixture
def workers_url(server: Server) -> str:
    """The URL of an empty store with a queue."""
    return made_for_workers(server)
