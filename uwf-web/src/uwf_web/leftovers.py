"""Notices that an earlier sender has left: the server has them sent, as each command does."""

import threading
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING

from uwf_core.errors import UwfError

if TYPE_CHECKING:
    from uwf_core.client import Client

SECONDS = 60.0
FIRST_SECONDS = 2.0
"""Until the first look: the first page has the processor for itself."""


def send_leftovers(
    open_client: "Callable[[], Client]",
    stop: threading.Event,
    seconds: float = SECONDS,
    first_seconds: float = FIRST_SECONDS,
) -> None:
    """Have what is left sent soon, then once a minute, also while no page is open.

    Args:
        open_client: opens a client, which belongs to the thread that calls this.
        stop: ends it.
        seconds: between two looks.
        first_seconds: until the first one.
    """
    if stop.wait(first_seconds):
        return
    with open_client() as client:
        while True:
            with suppress(UwfError):  # a store that is away for a moment comes back
                client.send_notices()
            if stop.wait(seconds):
                return
