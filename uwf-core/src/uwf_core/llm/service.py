"""A service with its connections: requests go out, answers come in piece by piece."""

import contextlib
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from uwf_core.errors import TooLarge
from uwf_core.llm.address import Address, broken, headers_of, read_address
from uwf_core.llm.exchange import End, Exchange, Head, Patience, Wire
from uwf_core.llm.failures import Fault
from uwf_core.llm.limits import ChatLimits
from uwf_core.named_tuple import NamedTuple

if TYPE_CHECKING:
    import ssl

    import httpx

_ERROR_BYTES = 64 * 1024
_LAST_SECONDS = 0.05


class Outgoing(NamedTuple):
    """A request; `idle_seconds` is how long its answer may be silent."""

    method: str
    path: str
    body: bytes = b""
    idle_seconds: float | None = None


class Service:
    """Where requests go. Each exchange has a connection of its own, which is kept for the next.

    Raises:
        BadRequest: `base_url` is no address, or a header cannot be sent.
        AuthRefused: the key has characters that cannot be sent.
    """

    def __init__(
        self, base_url: str, key: str | None, headers: Mapping[str, str], limits: ChatLimits
    ) -> None:
        self.address: Address = read_address(base_url)
        self._headers = headers_of(key, headers)
        self._limits = limits
        self._wires: list[Wire] = []
        self._tls: ssl.SSLContext | None = None

    @contextlib.contextmanager
    def exchange(self, outgoing: Outgoing, patience: Patience) -> Iterator["Answer"]:
        """Send a request; its answer, as far as the caller wants it.

        Raises:
            Fault: no answer came.
            AgentFailure: the time was over, or the call cancelled.
        """
        patience.check()
        wire = self._wire()
        request = wire.client.build_request(
            outgoing.method,
            self.address.of(outgoing.path),
            content=outgoing.body or None,
            headers=self._headers,
        )
        exchange = Exchange(wire, request, self._limits.reply_bytes)
        try:
            yield Answer(exchange, outgoing, patience, self.address)
        finally:
            if exchange.leave():
                self._wires.append(wire)

    def close(self) -> None:
        """Close all connections that nobody uses."""
        while self._wires:
            self._wires.pop().client.close()

    def _wire(self) -> Wire:
        with contextlib.suppress(IndexError):  # none is free
            return self._wires.pop()
        return Wire(self._client())

    def _client(self) -> "httpx.Client":
        import httpx

        limits = self._limits
        timeout = httpx.Timeout(limits.total_seconds, connect=limits.connect_seconds)
        # A proxy is not asked for what runs on this machine.
        outside = not self.address.loopback
        return httpx.Client(
            timeout=timeout, verify=self._trust(), trust_env=outside, follow_redirects=False
        )

    def _trust(self) -> "ssl.SSLContext":
        """The certificates to trust; reading them takes longer than all the rest of a client."""
        import ssl

        import httpx

        if self._tls is None:
            plain = self.address.loopback and self.address.url.startswith("http:")
            # Plain HTTP without a proxy meets no certificate: an empty context trusts nobody.
            self._tls = (
                ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT) if plain else httpx.create_ssl_context()
            )
        return self._tls


class Answer:
    """The answer to a request: its head, then its body."""

    def __init__(
        self, exchange: Exchange, outgoing: Outgoing, patience: Patience, address: Address
    ) -> None:
        self._exchange = exchange
        self._idle_seconds = outgoing.idle_seconds
        self._patience = patience
        self._address = address
        self.head = self._head()

    def pieces(self) -> Iterator[bytes]:
        """The body, as it comes.

        Raises:
            Fault: it broke off, or is too large.
            AgentFailure: the time was over, or the call cancelled.
        """
        while True:
            item = self._patience.next(self._exchange, self._idle_seconds)
            if isinstance(item, End):
                return self._end(item)
            if isinstance(item, bytes):
                yield item

    def whole(self) -> bytes:
        """The whole body."""
        return b"".join(self.pieces())

    def error_body(self) -> bytes:
        """The body of an error, as much of it as is worth reading."""
        body = bytearray()
        with contextlib.suppress(Fault, TooLarge):  # what came has to do
            for piece in self.pieces():
                body += piece
                if len(body) > _ERROR_BYTES:
                    break
        return bytes(body[:_ERROR_BYTES])

    def settle(self) -> None:
        """Everything needed is here: let the connection end its answer, so that it is kept."""
        while isinstance(self._exchange.take(_LAST_SECONDS), bytes):
            continue

    def _head(self) -> Head:
        item = self._patience.next(self._exchange, self._idle_seconds)
        if isinstance(item, Head):
            return item
        fault = item.fault if isinstance(item, End) else None
        # httpx has the same limit: when it notices first, on a busy machine, the time is over too.
        self._patience.check()
        raise broken(fault or RuntimeError("no head"), self._address, answered=False) from fault

    def _end(self, end: End) -> None:
        if end.too_large:
            raise TooLarge(f"{self._address.place}: the answer is larger than the limit allows")
        if end.fault is not None:
            self._patience.check()
            raise broken(end.fault, self._address, answered=True) from end.fault
