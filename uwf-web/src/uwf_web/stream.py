"""The stream by which pages learn that the store has changed: one poller for all browsers."""

import asyncio
import secrets
import threading
from collections.abc import AsyncIterator, Callable
from typing import TYPE_CHECKING

from starlette.responses import StreamingResponse

from uwf_core.errors import UwfError

if TYPE_CHECKING:
    from starlette.types import Receive, Scope, Send

    from uwf_core.client import Client

POLL_SECONDS = 0.2
BLIND_SECONDS = 2.0
"""How often pages read again where the store does not know whether it has changed."""
ALIVE_SECONDS = 15.0
MOST_STREAMS = 100


class EventStream(StreamingResponse):
    """Server-sent events, until they end or the browser has gone; `leave` is called then."""

    def __init__(self, events: AsyncIterator[bytes], leave: Callable[[], None]) -> None:
        headers = {"cache-control": "no-store", "x-accel-buffering": "no"}
        super().__init__(events, headers=headers, media_type="text/event-stream")
        self._leave = leave

    async def __call__(self, scope: "Scope", receive: "Receive", send: "Send") -> None:
        """Send the events."""
        try:
            await super().__call__(scope, receive, send)
        finally:
            self._leave()


class Changes:
    """The changes of the store, as events without content.

    The store is polled while somebody listens, with one client in a separate thread: the number
    that it gives is only comparable with earlier ones of the same client.
    """

    def __init__(self, open_client: "Callable[[], Client]") -> None:
        self._open = open_client
        self._boot = secrets.token_hex(4)
        self._number = 0
        self._changed = asyncio.Event()
        self._stop = threading.Event()
        self._streams = 0
        self._is_closed = False

    def close(self) -> None:
        """End all streams."""
        self._is_closed = True
        self._signal()

    def stream(self, last: str | None) -> EventStream | None:
        """The answer to a browser that listens; None if too many do. It counts from now on: of
        requests that arrive together, each sees those before it.
        """
        if self._streams >= MOST_STREAMS:
            return None
        if self._streams == 0:
            self._stop = threading.Event()
            words = (asyncio.get_running_loop(), self._stop)
            threading.Thread(target=self._poll, args=words, daemon=True).start()
        self._streams += 1
        return EventStream(self._events(last), self._leave)

    def _leave(self) -> None:
        self._streams -= 1
        if self._streams == 0:
            self._stop.set()

    async def _events(self, last: str | None) -> AsyncIterator[bytes]:
        """Server-sent events, beginning with one unless `last` is the newest (`Last-Event-ID`)."""
        yield b": open\n\n"
        while not self._is_closed:
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

    def _poll(self, loop: asyncio.AbstractEventLoop, stop: threading.Event) -> None:
        with self._open() as client:
            known, seconds = self._version(client), 0.0
            while not stop.wait(seconds):
                found = self._version(client)
                seconds = BLIND_SECONDS if found is None else POLL_SECONDS
                if (found != known or found is None) and not loop.is_closed():
                    known = found
                    loop.call_soon_threadsafe(self._signal)

    @staticmethod
    def _version(client: "Client") -> int | None:
        try:
            return client.changes()
        except UwfError:  # a store that is away for a moment comes back: pages show the error
            return None

    def _signal(self) -> None:
        self._number += 1
        self._changed.set()
        self._changed = asyncio.Event()
