"""A connection: requests that wait for their answer while the peer's own messages are served.

Both sides of the protocol use it. A client reads only while one of its requests is pending; a
server reads in `serve` until its peer leaves. Its other threads send requests meanwhile, and the
answers that its services have promised.
"""

import threading
import time
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple, Protocol

from uwf_agent_acp.protocol.errors import (
    INTERNAL_ERROR,
    METHOD_NOT_FOUND,
    PARSE_ERROR,
    Abandoned,
    BadAnswer,
    ConnectionClosed,
    RpcError,
)
from uwf_agent_acp.protocol.wire import (
    Id,
    Message,
    Noise,
    Notification,
    Request,
    Response,
    parse,
    render,
)
from uwf_core.api.json_rpc import FIRST_ID, request_number


class Channel(Protocol):
    """What carries the lines: such as a `uwf_core.api.ChildProgram` started with stdin=None."""

    def write(self, data: bytes) -> None:
        """Queue bytes for the peer; called by any thread."""

    def lines(self) -> Iterator[bytes | None]:
        """The peer's lines as they come, until it closes its output; None now and then while no
        line comes, which only `Connection.drain` needs.
        """


Answer = Callable[[Any], None]
"""Takes the result of a request, or an `RpcError`; by any thread."""


class Later(NamedTuple):
    """The result of a service that comes later: `begin` gets the function that takes it."""

    begin: Callable[[Answer], None]


Service = Callable[[dict[str, Any]], Any]
"""Answers a request of the peer: given its params, the result or `Later`; raises `RpcError`."""


class PendingRequest:
    """A request that waits for its answer."""

    def __init__(self) -> None:
        self.is_over = threading.Event()
        self.is_abandoned = False
        self.response: Response | None = None

    def abandon(self) -> None:
        """Wait for it no longer; by any thread. An answer that comes later is dropped."""
        if not self.is_over.is_set():
            self.is_abandoned = True
            self.is_over.set()


class Connection:
    """JSON-RPC over a channel.

    Args:
        channel: carries the lines.
        services: what the peer may ask, by method; anything else is answered with -32601.
        on_notification: gets method and params of each of the peer's notifications.
    """

    def __init__(
        self,
        channel: Channel,
        services: dict[str, Service],
        on_notification: Callable[[str, dict[str, Any]], None],
    ) -> None:
        self._channel = channel
        self._lines = channel.lines()
        self._services = services
        self._on_notification = on_notification
        self._next_id = FIRST_ID
        self._noise = ""
        self._writing = threading.Lock()
        # The thread that holds it reads. Reentrant, since a service may send a request itself.
        self._reading = threading.RLock()
        self._waiting: dict[int, PendingRequest] = {}
        self._is_closed = False

    def request(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        """The result of a request, {} where it is null; until it comes, the peer is served.

        One thread at a time, unless another one runs `serve`.

        Raises:
            RpcError: the peer answers with an error.
            BadAnswer: the result is not an object.
            ConnectionClosed: the peer leaves before it answers.
        """
        return self.finish(self.begin(method, params), method)

    def begin(self, method: str, params: dict[str, Any]) -> PendingRequest:
        """Send a request, whose answer `finish` waits for.

        Raises:
            ConnectionClosed: the peer has left.
        """
        waiter = PendingRequest()
        with self._writing:
            id_, self._next_id = self._next_id, self._next_id + 1
            if not self._is_closed:
                self._waiting[id_] = waiter
        if self._is_closed:
            raise ConnectionClosed(method, self._noise)
        self._write(Request(id_, method, params))
        return waiter

    def finish(self, waiter: PendingRequest, method: str) -> dict[str, Any]:
        """The result of a request that was sent; as `request`.

        Raises:
            Abandoned: somebody has abandoned it. AcpError: as `request`.
        """
        self._await(waiter)
        response = waiter.response
        if waiter.is_abandoned:
            raise Abandoned(method)
        if response is None:
            raise ConnectionClosed(method, self._noise)
        if response.error is not None:
            raise _rpc_error(response.error)
        if response.result is None:
            return {}
        if not isinstance(response.result, dict):
            raise BadAnswer(f"{method} was answered with {response.result!r:.200}, not an object")
        return response.result

    def notify(self, method: str, params: dict[str, Any]) -> None:
        """Tell the peer something; by any thread."""
        self._write(Notification(method, params))

    def serve(self) -> None:
        """Serve the peer until it leaves; other threads may send requests meanwhile. A line that is
        not a message is answered with an error.
        """
        with self._reading:
            self._read(lambda _is_silent: False, is_server=True)

    def drain(self, quiet_seconds: float, most_seconds: float) -> None:
        """Serve the peer until it has sent nothing for `quiet_seconds`, at most `most_seconds`."""
        began = heard = time.monotonic()

        def is_over(is_silent: bool) -> bool:
            nonlocal heard
            now = time.monotonic()
            heard = heard if is_silent else now
            return now - heard >= quiet_seconds or now - began >= most_seconds

        with self._reading:
            self._read(is_over)

    def _await(self, waiter: PendingRequest) -> None:
        """Read until the answer is there, or wait for it where another thread reads."""
        if not self._reading.acquire(blocking=False):
            waiter.is_over.wait()
            return
        try:
            self._read(lambda _is_silent: waiter.is_over.is_set())
        finally:
            self._reading.release()

    def _read(self, is_over: Callable[[bool], bool], *, is_server: bool = False) -> None:
        """Read until `is_over`, which is asked after each line, and each silence (True)."""
        for line in self._lines:
            if line is not None:
                self._take(parse(line), is_server)
            if is_over(line is None):
                return
        self._close()

    def _take(self, message: Message, is_server: bool) -> None:
        match message:
            case Response():
                self._settle(message)
            case Request():
                self._serve_one(message)
            case Notification():
                self._on_notification(message.method, _mapping(message.params))
            case Noise():
                self._noise = message.text or self._noise
                if is_server:
                    error = RpcError(PARSE_ERROR, f"not a message: {message.text[:100]!r}")
                    self._answer(None, error)

    def _settle(self, response: Response) -> None:
        """Deliver an answer; one that nobody waits for is late or wrong, and dropped."""
        number = request_number(response.id)
        with self._writing:
            waiter = None if number is None else self._waiting.pop(number, None)
        if waiter is not None:
            waiter.response = response
            waiter.is_over.set()

    def _close(self) -> None:
        with self._writing:
            self._is_closed = True
            waiting, self._waiting = list(self._waiting.values()), {}
        for waiter in waiting:
            waiter.is_over.set()

    def _serve_one(self, request: Request) -> None:
        service = self._services.get(request.method)
        if service is None:
            self._answer(request.id, RpcError(METHOD_NOT_FOUND, "Method not found"))
            return
        try:
            result = service(_mapping(request.params))
        except RpcError as error:
            result = error
        except Exception:
            # The peer must not wait for ever for what our own fault keeps from it.
            self._answer(request.id, RpcError(INTERNAL_ERROR, "Internal error"))
            raise
        if isinstance(result, Later):
            result.begin(lambda found: self._answer(request.id, found))
        else:
            self._answer(request.id, result)

    def _answer(self, id_: Id, result: Any) -> None:
        if not isinstance(result, RpcError):
            self._write(Response(id_, result))
            return
        data = {} if result.data is None else {"data": result.data}
        self._write(Response(id_, None, {"code": result.code, "message": result.message, **data}))

    def _write(self, message: Request | Notification | Response) -> None:
        with self._writing:
            self._channel.write(render(message))


def _rpc_error(error: Any) -> RpcError:
    fields = _mapping(error)
    code, message = fields.get("code"), fields.get("message")
    if not isinstance(code, int) or not isinstance(message, str):
        return RpcError(INTERNAL_ERROR, f"an error of no known form: {error!r:.200}")
    return RpcError(code, message, fields.get("data"))


def _mapping(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}
