"""One HTTP exchange in a separate thread, so that the caller can abandon it at any moment.

A blocked read, a name lookup and a connection attempt cannot be interrupted from outside. So the
caller waits only for a queue and can abandon the exchange; its thread ends once its socket is shut
down or its own time limit is over.
"""

import contextlib
import queue
import socket
import threading
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from uwf_core.api import Cancel
from uwf_core.errors import AgentInterrupted, Stalled, TimedOut
from uwf_llm.limits import Clock

if TYPE_CHECKING:
    import httpx

_TICK_SECONDS = 0.05


class ResponseHead(NamedTuple):
    """The head of a response; header names are in lower case."""

    status: int
    headers: Mapping[str, str]


class BodyEnd(NamedTuple):
    """The end of a response: complete, too large, or broken off by `fault`."""

    fault: Exception | None = None
    too_large: bool = False


ResponseItem = ResponseHead | bytes | BodyEnd


class Connection:
    """A connection with its httpx client, used by one exchange at a time."""

    def __init__(self, client: "httpx.Client") -> None:
        self.client = client
        self._socket: socket.socket | None = None

    def trace(self, _event: str, info: Mapping[str, Any]) -> None:
        """httpcore reports each new connection, and again once TLS is established on it."""
        extra_info = getattr(info.get("return_value"), "get_extra_info", None)
        if extra_info is not None:
            self._socket = extra_info("socket")

    def cut(self) -> None:
        """Wake the thread that reads from it. Not by `SSLSocket.shutdown`: that would drop the TLS
        state that the reader uses.
        """
        if self._socket is not None:
            with contextlib.suppress(OSError):  # it is closed already
                socket.socket.shutdown(self._socket, socket.SHUT_RDWR)


class HttpExchange:
    """A running request. `take` returns the head, then pieces of the body, then the end."""

    def __init__(self, connection: Connection, request: "httpx.Request", most_bytes: int) -> None:
        self._connection = connection
        self._request = request
        self._most_bytes = most_bytes
        self._items: queue.SimpleQueue[ResponseItem] = queue.SimpleQueue()
        self._lock = threading.Lock()
        self._over = False
        self._abandoned = False
        request.extensions["trace"] = self._trace
        threading.Thread(target=self._carry, name="uwf-llm", daemon=True).start()

    def take(self, seconds: float) -> ResponseItem | None:
        """The next item; None if none arrived in time."""
        try:
            return self._items.get(timeout=max(0.0, seconds))
        except queue.Empty:
            return None

    def abandon(self) -> bool:
        """Do not wait for the rest; True if it was over, so the connection can be reused."""
        with self._lock:
            if self._over:
                return True
            self._abandoned = True
        self._connection.cut()
        return False

    def _trace(self, event: str, info: Mapping[str, Any]) -> None:
        self._connection.trace(event, info)
        if self._abandoned:
            self._connection.cut()

    def _carry(self) -> None:
        end = BodyEnd()
        try:
            end = self._send()
        except Exception as fault:  # raised in the caller's thread
            end = BodyEnd(fault)
        finally:
            with self._lock:
                self._over = True
                abandoned = self._abandoned
            self._items.put(end)
            if abandoned:
                self._connection.client.close()

    def _send(self) -> BodyEnd:
        response = self._connection.client.send(self._request, stream=True)
        try:
            self._items.put(ResponseHead(response.status_code, response.headers))
            size = 0
            for piece in response.iter_bytes():
                size += len(piece)
                if size > self._most_bytes:
                    return BodyEnd(too_large=True)
                self._items.put(piece)
        finally:
            response.close()
        return BodyEnd()


class Deadline:
    """The time limit and the cancel token of one call."""

    def __init__(self, seconds: float, cancel: Cancel, clock: Clock, place: str) -> None:
        self.cancel = cancel
        self.clock = clock
        self._seconds = seconds
        self._deadline = clock.monotonic() + seconds
        self._place = place

    def check(self) -> None:
        """Check both.

        Raises:
            AgentInterrupted: the cancel token is set.
            TimedOut: the time limit is over.
        """
        if self.cancel.is_set():
            raise AgentInterrupted(f"{self._place}: cancelled: {self.cancel.reason}")
        if self.left() <= 0:
            raise TimedOut(f"{self._place}: no answer within {self._seconds:g} s")

    def left(self) -> float:
        """The seconds left."""
        return self._deadline - self.clock.monotonic()

    def wait(self, seconds: float) -> None:
        """Wait; raises like `check`."""
        self.clock.wait(min(seconds, max(0.0, self.left())), self.cancel)
        self.check()

    def next(self, exchange: HttpExchange, idle_seconds: float | None) -> ResponseItem:
        """The next item of an exchange.

        Raises:
            Stalled: nothing arrived for `idle_seconds`.
            AgentInterrupted, TimedOut: as `check`.
        """
        since = self.clock.monotonic()
        while True:
            self.check()
            item = exchange.take(min(_TICK_SECONDS, self.left()))
            if item is not None:
                return item
            if idle_seconds is not None and self.clock.monotonic() - since > idle_seconds:
                raise Stalled(f"{self._place}: received nothing for {idle_seconds:g} s")
