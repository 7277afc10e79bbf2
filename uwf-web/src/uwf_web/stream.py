"""The stream by which pages learn that the store has changed: one poller for all browsers."""

import asyncio
import contextlib
import secrets
from collections.abc import AsyncIterator, Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from uwf_core.client import Client

POLL_SECONDS = 0.2
BLIND_SECONDS = 2.0
"""How often pages read again where the store does not know whether it has changed."""
ALIVE_SECONDS = 15.0
MOST_STREAMS = 100


class Changes:
    """The changes of the store, as events without content.

    The store is polled while somebody listens, with one connection in a separate thread: its
    version is only comparable with earlier ones of the same connection.
    """

    def __init__(self, open_client: "Callable[[], Client]") -> None:
        self._open = open_client
        self._client: Client | None = None
        self._thread = ThreadPoolExecutor(1, "uwf-web-poller")
        self._boot = secrets.token_hex(4)
        self._number = 0
        self._changed = asyncio.Event()
        self._poller: asyncio.Task[None] | None = None
        self._streams = 0

    @property
    def is_full(self) -> bool:
        """Whether no further browser can listen."""
        return self._streams >= MOST_STREAMS

    async def events(self, last: str | None) -> AsyncIterator[bytes]:
        """Server-sent events, beginning with one unless `last` is the newest (`Last-Event-ID`)."""
        self._streams += 1
        if self._poller is None:
            self._poller = asyncio.create_task(self._poll())
        try:
            yield b": open\n\n"
            while True:
                changed, current = self._changed, f"{self._boot}-{self._number}"
                if last != current:
                    last = current
                    yield f"id: {current}\nevent: changed\ndata: {self._number}\n\n".encode()
                    continue
                try:
                    async with asyncio.timeout(ALIVE_SECONDS):
                        await changed.wait()
                except TimeoutError:
                    yield b": alive\n\n"
        finally:
            self._streams -= 1
            if self._streams == 0 and self._poller is not None:
                self._poller.cancel()
                self._poller = None

    async def _poll(self) -> None:
        loop = asyncio.get_running_loop()
        known: int | None = None
        while True:
            with contextlib.suppress(Exception):  # a store that is away for a moment comes back
                found = await loop.run_in_executor(self._thread, self._version)
                if found != known or found is None:
                    known = found
                    self._number += 1
                    self._changed.set()
                    self._changed = asyncio.Event()
            await asyncio.sleep(BLIND_SECONDS if known is None else POLL_SECONDS)

    def _version(self) -> int | None:
        if self._client is None:
            self._client = self._open()
        return self._client.changes()
