"""The threads that read and act for the server: each has its own client of uwf."""

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from uwf_core.client import Client

Result = TypeVar("Result")
MOST_THREADS = 40
"""How many requests are worked on at a time: a question to an agent keeps its thread for long."""


class Clients:
    """A pool of threads whose clients are opened when they are first needed.

    The pool is the standard library's: anyio's would take a tenth of the time until the first page.
    """

    def __init__(self, open_client: "Callable[[], Client]") -> None:
        self._open = open_client
        self._own = threading.local()
        self._pool = ThreadPoolExecutor(MOST_THREADS, "uwf-web")

    def get(self) -> "Client":
        """The client of this thread."""
        found: Client | None = getattr(self._own, "client", None)
        if found is None:
            found = self._own.client = self._open()
        return found

    async def run(self, work: Callable[[], Result]) -> Result:
        """Do work in a thread of the pool."""
        return await asyncio.get_running_loop().run_in_executor(self._pool, work)

    def close(self) -> None:
        """Let the threads end when they have nothing to do."""
        self._pool.shutdown(wait=False, cancel_futures=True)
