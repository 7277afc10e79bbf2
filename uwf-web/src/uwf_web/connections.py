"""The server of uvicorn, bounded: slow requests are closed, and streams end with the server."""

import asyncio
import signal
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import uvicorn
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

HEAD_SECONDS = 10.0
"""How long the head of a request may take."""
HEAD_BYTES = 32 * 1024
"""How large it may be."""
MOST_UNKNOWN = 250
"""How many connections without a login may be open, half of all (`serve`): a further one closes the
oldest of them, so that they keep neither each other out, nor somebody who is logged in.
"""
MOST_WAITING = 100
"""How many requests of a connection may wait for the answer to an earlier one."""


class BoundedConnection(HttpToolsProtocol):
    """A connection with limits for the head of each request, and for what frames its body; forms
    have their own.

    The parser is in C: the usual one, in Python, takes a twentieth of the start.
    """

    is_known = False
    """Whether a request of this connection had a valid login."""
    _since = 0.0
    _late: asyncio.TimerHandle | None = None
    _frame: int | None = None
    """How many bytes of a request that is not complete have arrived, without its head, once that is
    complete, and its body: a head, the sizes of chunks, trailers. None: there is no such request.
    """
    _content = 0
    """How many bytes of bodies were in the newest data."""
    _is_refused = False
    """Whether nothing more is read, since a request was invalid."""
    _cycles: "deque[Any]"
    """The requests, from the first on that is not answered."""

    def connection_made(self, transport: Any) -> None:
        """Expect a request."""
        super().connection_made(transport)
        self._cycles = deque()
        self._expect()
        self._since = self.loop.time()
        open_: Any = self.connections
        unknown = [each for each in open_ if not each.is_known]
        if len(unknown) > MOST_UNKNOWN:
            oldest = min(unknown, key=lambda each: each._since)
            oldest.is_known = True  # it is closed in the next round of the loop
            oldest.transport.abort()

    def data_received(self, data: bytes) -> None:
        """Take a part of a request."""
        if self._is_refused:
            return
        is_between = self.cycle is None or self.cycle.response_complete
        if is_between and self._late is None:
            self._expect()
        self._content = 0
        super().data_received(data)
        if self._frame is not None:  # a single header is kept by the parser until its end
            self._frame += len(data) - self._content
            if self._frame > HEAD_BYTES and not self._is_refused:
                self.send_400_response("The head of the request is too large.")
        if self.cycle is not None and not self.cycle.response_complete:
            self._relax()

    def send_400_response(self, msg: str) -> None:
        """Refuse an invalid request, after the answer to a complete one before it."""
        self._is_refused = True
        before: Any = self.cycle
        if before is None or before.response_complete:
            super().send_400_response(msg)
        elif before.response_started:  # a stream, which would not end
            self.transport.close()
        elif before.more_body:
            super().send_400_response(msg)
        else:
            before.keep_alive = False

    def on_message_begin(self) -> None:
        """Begin with a head."""
        self._frame = 0
        super().on_message_begin()

    def on_header(self, name: bytes, value: bytes) -> None:
        """Take a header; one that follows the body would change what has been checked."""
        if not self.scope.get("method"):  # it is set at the end of the head
            super().on_header(name, value.rstrip(b" \t"))

    def on_headers_complete(self) -> None:
        """Take a head.

        Raises:
            ValueError: it is too large, its target is not a path of this server, its body is
                encoded, or too many are waiting; the parser turns it into an error of the request.
        """
        lines = sum(len(name) + len(value) + len(": \r\n") for name, value in self.headers)
        size = len(self.url) + lines
        codings = {value.lower() for name, value in self.headers if name == b"transfer-encoding"}
        is_path, is_waiting_room = self.url.startswith(b"/"), len(self.pipeline) < MOST_WAITING
        if size > HEAD_BYTES or not is_path or codings - {b"chunked"} or not is_waiting_room:
            raise ValueError
        self._frame = (self._frame or 0) - size
        self.scope["state"]["login"] = self._welcome
        super().on_headers_complete()
        while self._cycles and self._cycles[0].response_complete:
            self._cycles.popleft()
        self._cycles.append(self.cycle)
        if self.parser.should_upgrade():  # the parser leaves out what follows
            self.cycle.keep_alive = False

    def on_body(self, body: bytes) -> None:
        """Take a part of a body."""
        self._content += len(body)
        super().on_body(body)

    def on_message_complete(self) -> None:
        """End a request."""
        self._frame = None
        super().on_message_complete()

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget it, and tell what answers: uvicorn tells the newest request only, and a stream
        before that one would never end.
        """
        self._relax()
        for each in self._cycles:
            each.disconnected = True
            each.message_event.set()
        super().connection_lost(exc)

    def _welcome(self) -> None:
        """Take the connection out of the budget of those without a login."""
        self.is_known = True

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
