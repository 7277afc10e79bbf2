"""The server of uvicorn, bounded: slow requests are closed, and streams end with the server."""

import asyncio
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import uvicorn
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

HEAD_SECONDS = 10.0
"""How long the head of a request may take."""
HEAD_BYTES = 32 * 1024
"""How large it may be."""


class BoundedConnection(HttpToolsProtocol):
    """A connection with limits for the head of each request; forms have their own.

    The parser is in C: the usual one, in Python, takes a twentieth of the start.
    """

    _late: asyncio.TimerHandle | None = None
    _head: int | None = None
    """How many bytes of an incomplete head have arrived; None: there is none."""

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
        if self._head is not None:  # a single header is kept by the parser until its end
            self._head += len(data)
            if self._head > HEAD_BYTES and not self.transport.is_closing():
                self.send_400_response("The head of the request is too large.")
        if self.cycle is not None and not self.cycle.response_complete:
            self._relax()

    def on_message_begin(self) -> None:
        """Begin with a head."""
        self._head = 0
        super().on_message_begin()

    def on_headers_complete(self) -> None:
        """Take a head.

        Raises:
            ValueError: it is too large; the parser turns it into an error of the request.
        """
        self._head = None
        lines = sum(len(name) + len(value) + len(": \r\n") for name, value in self.headers)
        if len(self.url) + lines > HEAD_BYTES:
            raise ValueError
        super().on_headers_complete()

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
