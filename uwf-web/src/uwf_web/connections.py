"""The server of uvicorn, bounded: slow requests are closed, and streams end with the server."""

import asyncio
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

HEAD_SECONDS = 10.0
"""How long the head of a request may take."""


class BoundedConnection(H11Protocol):
    """A connection with a limit for the head of each request; forms have their own limit."""

    _late: asyncio.TimerHandle | None = None

    def connection_made(self, transport: Any) -> None:
        """Expect a request."""
        super().connection_made(transport)
        self._expect()

    def data_received(self, data: bytes) -> None:
        """Take a part of a request."""
        is_between = self.cycle is None or self.cycle.response_complete
        if is_between and self._late is None:
            self._expect()
        super().data_received(data)
        if self.cycle is not None and not self.cycle.response_complete:
            self._relax()

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget it."""
        self._relax()
        super().connection_lost(exc)

    def _expect(self) -> None:
        self._late = self.loop.call_later(HEAD_SECONDS, self._close)

    def _relax(self) -> None:
        if self._late is not None:
            self._late.cancel()
            self._late = None

    def _close(self) -> None:
        self._late = None
        if self.cycle is None or self.cycle.response_complete:
            self.transport.close()


class PageServer(uvicorn.Server):
    """The server. Ctrl-C and SIGTERM are its ordinary end, at which open streams end as well.

    Args:
        config: uvicorn's.
        end_streams: called when the server begins to stop.
    """

    def __init__(self, config: uvicorn.Config, end_streams: Callable[[], None]) -> None:
        super().__init__(config)
        self._end_streams = end_streams

    async def shutdown(self, sockets: Any = None) -> None:
        """Stop; nothing waits for a browser that listens."""
        self._end_streams()
        await super().shutdown(sockets)

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Stop at the first signal; uvicorn's own method would raise it once more at the end."""
        wanted = (signal.SIGINT, signal.SIGTERM)
        before = {each: signal.signal(each, self.handle_exit) for each in wanted}
        try:
            yield
        finally:
            for each, handler in before.items():
                signal.signal(each, handler)
