"""What becomes due by itself: a worker fires schedules and expires questions while it runs."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from uwf_core.errors import UwfError

if TYPE_CHECKING:
    from uwf_core.client import Client

SWEEP_SECONDS = 5.0
"""How often a worker looks for what is due."""
_END_SECONDS = 10.0
"""How long the end of a worker waits for a start of a thread."""


@contextmanager
def firing_schedules(
    open_client: "Callable[[], Client]", say: Callable[[str], None]
) -> Iterator[None]:
    """Fire what is due in a store from a thread, until the end; failures of the database end
    nothing.

    Args:
        open_client: opens a client, which belongs to the thread that calls this.
        say: gets a line for people for each start and each failure.
    """
    ends = threading.Event()

    def sweep() -> None:
        was_failing = False
        with open_client() as client:
            while not ends.is_set():
                try:
                    _fire(client, say)
                    was_failing = False
                except UwfError as error:
                    if not was_failing:
                        say(f"schedules: {error.message}; trying again")
                    was_failing = True
                ends.wait(SWEEP_SECONDS)

    thread = threading.Thread(target=sweep, name="schedules", daemon=True)
    thread.start()
    try:
        yield
    finally:
        ends.set()
        thread.join(_END_SECONDS)


def _fire(client: "Client", say: Callable[[str], None]) -> None:
    for each in client.queued.fire_due():
        if each.thread is not None:
            say(f"schedule {each.name}: thread {each.thread}")
        if each.error is not None:
            say(f"schedule {each.name}: {each.error}")
