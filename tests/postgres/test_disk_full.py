"""The disk of the server is full: a step fails with a clear error, and runs when there is room.

The store is in a tablespace on a disk of 24 MB in memory, so that the server itself has room.
"""

import os
import random
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager

import psycopg
import pytest
from postgres_server import MISSING, Server, programs
from test_dispatch import DONE, TWO, started
from test_worker import Thread, is_done, wait

from conftest import made_for_workers
from uwf_core.errors import StoreError
from uwf_core.testing.project import Project

FULL = "the disk of the database is full; nothing was stored"


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    """A server for these tests alone: one that loses the disk of a tablespace fails for all."""
    if not os.environ.get("UWF_DISK_FULL"):
        pytest.skip("set UWF_DISK_FULL=1; it needs the right to mount")
    if programs() is None:
        pytest.skip(MISSING)
    running = Server()
    yield running
    running.remove()


@pytest.fixture(scope="module")
def tablespace(server: Server) -> Iterator[str]:
    """The name of a tablespace on a small disk."""
    folder = server.folder("small")
    size = ["-o", f"size=24m,mode=0777,uid={folder.stat().st_uid}"]
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", *size, "tmpfs", folder],
        capture_output=True,
        text=True,
        check=False,
    )
    if mounted.returncode:
        pytest.skip(f"a small disk needs the right to mount one: {mounted.stderr.strip()}")
    try:
        server.execute(f"CREATE TABLESPACE small LOCATION '{folder}'")
        yield "small"
    finally:
        subprocess.run(["umount", "--lazy", folder], check=True)


@pytest.fixture
def full(server: Server, tablespace: str):
    """Fill the disk, until the end."""

    @contextmanager
    def fill() -> Iterator[None]:
        server.execute(
            f"CREATE TABLE filler (data text) TABLESPACE {tablespace};"
            "ALTER TABLE filler ALTER data SET STORAGE PLAIN"
        )
        for rows in (1000, 100, 1):
            more = f"SELECT repeat('x', 7000) FROM generate_series(1, {rows})"
            with pytest.raises(psycopg.errors.DiskFull):
                while True:
                    server.execute(f"INSERT INTO filler {more}")
        try:
            yield
        finally:
            server.execute("DROP TABLE filler")

    return fill


@pytest.fixture
def project(tmp_path, server, tablespace) -> Project:
    made = Project(tmp_path)
    option = f"-c%20default_tablespace%3D{tablespace}"
    made.env["UWF_STORE"] = made_for_workers(server, options=option)
    made.workflow("two", TWO)
    body = random.Random(1).randbytes(200_000).hex()  # more than the room that pages still have
    made.script([{"role": role, "output": DONE, "body": body} for role in ("planner", "writer")],
                by_role=True)  # fmt: skip
    return made


def test_a_step_fails_with_a_clear_error_and_nothing_is_half_stored(project, full):
    with project.client() as uwf:
        thread = uwf.start("two", "Task.")["thread"]
        with full():
            with pytest.raises(StoreError, match=FULL) as caught:
                uwf.exec(thread, until_done=True)
            assert "free disk space" in (caught.value.hint or "")
            assert uwf.show(thread)["steps"] == 0
            again = project.uwf("thread", "exec", thread)
            assert again.exit_code == StoreError.exit_code
            assert FULL in again.error["message"]
        assert uwf.exec(thread, until_done=True).document["status"] == "completed"
        assert [row["number"] for row in uwf.steps(thread)] == [0, 1, 2]
    verified = project.uwf("cas", "verify").document
    assert verified["valid"], verified["problems"]


def test_a_worker_tries_again_until_there_is_room(project, full):
    with project.client() as uwf:
        threads = [started(uwf, "two") for _ in range(2)]
        with full():
            worker = Thread(project)
            wait(lambda: any(FULL in line for line in worker.said))
            assert worker.ended is None
        wait(lambda: all(is_done(uwf, each) for each in threads), 200)
        assert worker.drain().steps == 4
        assert [uwf.show(each)["steps"] for each in threads] == [2, 2]
    verified = project.uwf("cas", "verify").document
    assert verified["valid"], verified["problems"]
