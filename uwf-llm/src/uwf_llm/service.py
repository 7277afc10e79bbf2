"""A service with its connections: send requests, receive responses piece by piece."""

import contextlib
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, NamedTuple

from uwf_core.errors import TooLarge
from uwf_llm.address import Address, broken
from uwf_llm.exchange import BodyEnd, Connection, Deadline, HttpExchange, ResponseHead
from uwf_llm.failures import RequestFailed
from uwf_llm.limits import ChatLimits

if TYPE_CHECKING:
    import ssl

    import httpx

_ERROR_BYTES = 64 * 1024
_LAST_SECONDS = 0.05


class HttpRequest(NamedTuple):
    """A request; `idle_seconds` limits the pauses in its response."""

    method: str
    path: str
    body: bytes = b""
    idle_seconds: float | None = None


class Service:
    """Sends requests. Each exchange has a separate connection, which is kept for the next one."""

    def __init__(self, address: Address, headers: Mapping[str, str], limits: ChatLimits) -> None:
        self.address = address
        self._headers = headers
        self._limits = limits
        self._idle: list[Connection] = []
        self._tls: ssl.SSLContext | None = None

    @contextlib.contextmanager
    def exchange(self, request: HttpRequest, deadline: Deadline) -> Iterator["HttpResponse"]:
        """Send a request; its response, which the caller may leave unread.

        Raises:
            RequestFailed: there was no response.
            AgentFailure: the time limit was reached, or the call was cancelled.
        """
        deadline.check()
        connection = self._connection()
        message = connection.client.build_request(
            request.method,
            self.address.endpoint(request.path),
            content=request.body or None,
            headers=self._headers,
        )
        exchange = HttpExchange(connection, message, self._limits.reply_bytes)
        try:
            yield HttpResponse(exchange, request, deadline, self.address)
        finally:
            if exchange.abandon():
                self._idle.append(connection)

    def close(self) -> None:
        """Close all unused connections."""
        while self._idle:
            self._idle.pop().client.close()

    def _connection(self) -> Connection:
        with contextlib.suppress(IndexError):  # none is free
            return self._idle.pop()
        return Connection(self._client())

    def _client(self) -> "httpx.Client":
        import httpx

        limits = self._limits
        timeout = httpx.Timeout(limits.total_seconds, connect=limits.connect_seconds)
        # A server on this machine is never reached through a proxy.
        outside = not self.address.loopback
        return httpx.Client(
            timeout=timeout, verify=self._trust(), trust_env=outside, follow_redirects=False
        )

    def _trust(self) -> "ssl.SSLContext":
        """The trusted certificates; reading them takes longer than all the rest of a client."""
        import ssl

        import httpx

        if self._tls is None:
            plain = self.address.loopback and self.address.url.startswith("http:")
            # Plain HTTP without a proxy needs no certificates: an empty context trusts none.
            self._tls = (
                ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT) if plain else httpx.create_ssl_context()
            )
        return self._tls


class HttpResponse:
    """The response to a request: its head, then its body."""

    def __init__(
        self, exchange: HttpExchange, request: HttpRequest, deadline: Deadline, address: Address
    ) -> None:
        self._exchange = exchange
        self._idle_seconds = request.idle_seconds
        self._deadline_of = deadline
        self._address = address
        self.head = self._head()

    def pieces(self) -> Iterator[bytes]:
        """The body, as it arrives.

        Raises:
            RequestFailed: it broke off, or is too large.
            AgentFailure: the time limit was reached, or the call was cancelled.
        """
        while True:
            item = self._deadline_of.next(self._exchange, self._idle_seconds)
            if isinstance(item, BodyEnd):
                return self._end(item)
            if isinstance(item, bytes):
                yield item

    def whole(self) -> bytes:
        """The whole body."""
        return b"".join(self.pieces())

    def error_body(self) -> bytes:
        """The beginning of the body of an error."""
        body = bytearray()
        with contextlib.suppress(RequestFailed, TooLarge):  # the part that arrived is enough
            for piece in self.pieces():
                body += piece
                if len(body) > _ERROR_BYTES:
                    break
        return bytes(body[:_ERROR_BYTES])

    def hurry(self, seconds: float) -> None:
        """Allow pauses of so many seconds at most from now on."""
        if self._idle_seconds is None or self._idle_seconds > seconds:
            self._idle_seconds = seconds

    def settle(self) -> None:
        """Read what follows the reply, so that the connection can be reused."""
        while isinstance(self._exchange.take(_LAST_SECONDS), bytes):
            continue

    def _head(self) -> ResponseHead:
        item = self._deadline_of.next(self._exchange, self._idle_seconds)
        if isinstance(item, ResponseHead):
            return item
        fault = item.fault if isinstance(item, BodyEnd) else None
        # httpx has the same time limit and may notice first on a busy machine.
        self._deadline_of.check()
        raise broken(fault or RuntimeError("no head"), self._address, answered=False) from fault

    def _end(self, end: BodyEnd) -> None:
        if end.too_large:
            raise TooLarge(f"{self._address.place}: the response is larger than the limit")
        if end.fault is not None:
            self._deadline_of.check()
            raise broken(end.fault, self._address, answered=True) from end.fault
