"""A thread that another client runs, until the test lets it go on."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from threading import Thread
from typing import Any

from tests.crash.rig import eventually

from uwf_core.testing.project import Project


@contextmanager
def running(project: Project, thread: str, *steps: Mapping[str, Any]) -> Iterator[None]:
    """While another client runs the next step of a thread: its role plays one of `steps` at the
    end of the block.
    """
    go = project.home / "go"
    project.script([{**step, "untilFile": str(go)} for step in steps], by_role=True, repeat=True)

    def run() -> None:
        with project.client() as own:
            own.exec(thread)

    runner = Thread(target=run)
    runner.start()
    try:
        with project.client() as watcher:
            assert eventually(lambda: watcher.show(thread)["running"] is not None)
        yield
    finally:
        go.touch()
        runner.join(60)
        go.unlink()
