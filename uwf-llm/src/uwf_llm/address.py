"""The address of a service, the headers of each request, and the errors of a connection."""

import re
import socket
from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

from uwf_core import __version__
from uwf_core.errors import AuthRefused, BadRequest, Truncated, Unavailable
from uwf_llm.failures import RequestFailed

if TYPE_CHECKING:
    import httpx

_ENDPOINTS = re.compile(r"/(chat/completions|responses|messages|models/[^/]+:\w+)\Z")


class Address(NamedTuple):
    """A service. `url` is its base, `query` is appended to every path (Azure's api-version), and
    `place` names it in errors, without user and query.
    """

    url: str
    query: str
    place: str
    loopback: bool

    def endpoint(self, path: str) -> str:
        """The URL of an endpoint."""
        query = self.query.replace("?", "&") if "?" in path else self.query
        return f"{self.url}{path}{query}"


def read_address(base_url: str) -> Address:
    """Parse `base_url`; an address that ends with an endpoint, such as
    `/chat/completions`, is accepted too.

    Raises:
        BadRequest: it is not an http address.
    """
    import httpx

    text, mark, query = base_url.strip().partition("?")
    text = _ENDPOINTS.sub("", text.rstrip("/"))
    try:
        url = httpx.URL(text)
    except (httpx.InvalidURL, UnicodeError) as fault:
        raise BadRequest("baseUrl is not an address", hint=_HINT) from fault
    if url.scheme not in ("http", "https") or not url.host:
        raise BadRequest(f"baseUrl is not an http address: {_named(url)}", hint=_HINT)
    return Address(text, mark + query, _named(url), _is_loopback(url.host))


def checked_key(key: str | None) -> str | None:
    """The key without surrounding white space; None for none.

    Raises:
        AuthRefused: it cannot be sent; the message does not show it.
    """
    if key is None or not (key := key.strip()):
        return None
    if not _is_header_text(key):
        raise AuthRefused(
            "the API key has characters that a header cannot contain",
            hint="copy only the key; next: uwf setup",
        )
    return key


def headers_of(own: Mapping[str, str], extra: Mapping[str, str]) -> dict[str, str]:
    """The headers of every request: those of the protocol, then further ones.

    Raises:
        BadRequest: one cannot be sent.
    """
    headers = {
        "Accept": "application/json, text/event-stream",
        "Accept-Encoding": "identity",  # a compressed stream arrives in lumps
        "Content-Type": "application/json",
        "User-Agent": f"uwf-core/{__version__}",
    }
    for name, text in (*own.items(), *extra.items()):
        if not (_is_header_text(text) and name.isascii() and name.replace("-", "").isalnum()):
            raise BadRequest(f"the header {name!r} cannot be sent")
        headers[name] = text
    return headers


def broken(fault: Exception, address: Address, *, answered: bool) -> RequestFailed:
    """The failure for a broken connection; `answered`: after the head of the response.

    Raises:
        Exception: `fault` itself, if it is not an error of the network.
    """
    import httpx

    if isinstance(fault, httpx.ConnectError | httpx.ProxyError):
        return _not_connected(fault, address)
    if isinstance(fault, httpx.ConnectTimeout):
        text = f"{address.place}: the connection timed out"
        failure = Unavailable(text, hint="check baseUrl and the network")
        return RequestFailed(failure, retryable=True)
    if not isinstance(fault, httpx.TransportError | httpx.DecodingError):
        raise fault
    kind, what = (Truncated, "response") if answered else (Unavailable, "connection")
    return RequestFailed(kind(f"{address.place}: the {what} broke off: {fault}"), retryable=True)


_HINT = "example: https://api.example.com/v1; next: uwf config set providers.NAME.baseUrl URL"


def _named(url: "httpx.URL") -> str:
    return str(url.copy_with(username=None, password=None, query=None, fragment=None))


def _is_loopback(host: str) -> bool:
    import ipaddress

    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _is_header_text(text: str) -> bool:
    return text.isascii() and text.isprintable()


def _not_connected(fault: Exception, address: Address) -> RequestFailed:
    """The failure for a connection that was not established, by the system's error below it."""
    import ssl

    cause = _cause(fault)
    if isinstance(cause, ssl.SSLCertVerificationError):
        text = f"{address.place}: its certificate is not trusted: {cause.verify_message}"
        hint = "set SSL_CERT_FILE to add trusted certificates"
        return RequestFailed(Unavailable(text, hint=hint))
    if isinstance(cause, socket.gaierror):
        text = f"{address.place}: unknown host ({cause.strerror})"
        failure = Unavailable(text, hint="check baseUrl and the network")
        return RequestFailed(failure, retryable=cause.errno == socket.EAI_AGAIN)
    if isinstance(cause, ConnectionRefusedError):
        text = f"{address.place}: connection refused"
        failure = Unavailable(text, hint="check that the server runs, and its port")
        # On this machine a retry would not help.
        return RequestFailed(failure, retryable=not address.loopback)
    return RequestFailed(Unavailable(f"{address.place}: no connection: {fault}"), retryable=True)


def _cause(fault: BaseException) -> BaseException:
    """The innermost cause."""
    while (inner := fault.__cause__ or fault.__context__) is not None:
        fault = inner
    return fault
