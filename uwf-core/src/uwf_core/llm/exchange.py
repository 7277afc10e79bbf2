"""One HTTP exchange in a thread of its own, so that whoever waits for it can go at any moment.

A blocked read, a name that does not resolve and a connection that does not come up can all not be
interrupted from outside; here nobody waits for them: the caller waits for a queue, leaves when it
wants to, and the thread ends as soon as its socket is shut down or its own time is over.
"""

import contextlib
import queue
import socket
import threading
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from uwf_core.errors import AgentInterrupted, Stalled, TimedOut
from uwf_core.llm.limits import Clock
from uwf_core.named_tuple import NamedTuple
from uwf_core.process.cancel import Cancel

if TYPE_CHECKING:
    import httpx

_TICK_SECONDS = 0.05


class Head(NamedTuple):
    """How an answer begins; header names are in lower case."""

    status: int
    headers: Mapping[str, str]


class End(NamedTuple):
    """An answer is over: whole, too large, or broken off by `fault`."""

    fault: Exception | None = None
    too_large: bool = False


class Wire:
    """A connection with its httpx client, used by one exchange at a time."""

    def __init__(self, client: "httpx.Client") -> None:
        self.client = client
        self._socket: socket.socket | None = None

    def trace(self, _event: str, info: Mapping[str, Any]) -> None:
        """httpcore tells of each connection that stands, and again when TLS is on it."""
        extra_info = getattr(info.get("return_value"), "get_extra_info", None)
        if extra_info is not None:
            self._socket = extra_info("socket")

    def cut(self) -> None:
        """Wake whoever reads from it. Not `SSLSocket.shutdown`: that drops the TLS under the
        reader's feet.
        """
        if self._socket is not None:
            with contextlib.suppress(OSError):  # it is closed already
                socket.socket.shutdown(self._socket, socket.SHUT_RDWR)


class Exchange:
    """A request on its way. `take` gives the head, then pieces of the body, then the end."""

    def __init__(self, wire: Wire, request: "httpx.Request", most_bytes: int) -> None:
        self._wire = wire
        self._request = request
        self._most_bytes = most_bytes
        self._items: queue.SimpleQueue[Head | bytes | End] = queue.SimpleQueue()
        self._lock = threading.Lock()
        self._over = False
        self._left = False
        request.extensions["trace"] = self._trace
        threading.Thread(target=self._carry, name="uwf-llm", daemon=True).start()

    def take(self, seconds: float) -> Head | bytes | End | None:
        """What came next; None if nothing came in time."""
        try:
            return self._items.get(timeout=max(0.0, seconds))
        except queue.Empty:
            return None

    def leave(self) -> bool:
        """Go without waiting for the rest; True if it was over, so that the wire can be used on."""
        with self._lock:
            if self._over:
                return True
            self._left = True
        self._wire.cut()
        return False

    def _trace(self, event: str, info: Mapping[str, Any]) -> None:
        self._wire.trace(event, info)
        if self._left:
            self._wire.cut()

    def _carry(self) -> None:
        end = End()
        try:
            end = self._send()
        except Exception as fault:  # it is raised where the answer is waited for
            end = End(fault)
        finally:
            with self._lock:
                self._over = True
                left = self._left
            self._items.put(end)
            if left:
                self._wire.client.close()

    def _send(self) -> End:
        response = self._wire.client.send(self._request, stream=True)
        try:
            self._items.put(Head(response.status_code, response.headers))
            size = 0
            for piece in response.iter_bytes():
                size += len(piece)
                if size > self._most_bytes:
                    return End(too_large=True)
                self._items.put(piece)
        finally:
            response.close()
        return End()


class Patience:
    """How long one call may take, and who may end it earlier."""

    def __init__(self, seconds: float, cancel: Cancel, clock: Clock, place: str) -> None:
        self.cancel = cancel
        self.clock = clock
        self._seconds = seconds
        self._deadline = clock.monotonic() + seconds
        self._place = place

    def check(self) -> None:
        """Go on?

        Raises:
            AgentInterrupted: the cancel token is set.
            TimedOut: the time is over.
        """
        if self.cancel.is_set():
            raise AgentInterrupted(f"{self._place}: cancelled: {self.cancel.reason}")
        if self.left() <= 0:
            raise TimedOut(f"{self._place}: no answer within {self._seconds:g} s")

    def left(self) -> float:
        """Seconds."""
        return self._deadline - self.clock.monotonic()

    def wait(self, seconds: float) -> None:
        """Let time go by; raises as `check` does."""
        self.clock.wait(min(seconds, max(0.0, self.left())), self.cancel)
        self.check()

    def next(self, exchange: Exchange, idle_seconds: float | None) -> Head | bytes | End:
        """What comes next of an exchange.

        Raises:
            Stalled: nothing came for `idle_seconds`.
            AgentInterrupted, TimedOut: as `check`.
        """
        since = self.clock.monotonic()
        while True:
            self.check()
            item = exchange.take(min(_TICK_SECONDS, self.left()))
            if item is not None:
                return item
            if idle_seconds is not None and self.clock.monotonic() - since > idle_seconds:
                raise Stalled(f"{self._place}: not a byte for {idle_seconds:g} s")
