"""Where a service is, what it is sent with each request, and how a broken connection is told."""

import socket
from collections.abc import Mapping
from typing import TYPE_CHECKING

from uwf_core.errors import AuthRefused, BadRequest, Truncated, Unavailable
from uwf_core.llm.failures import Fault
from uwf_core.named_tuple import NamedTuple

if TYPE_CHECKING:
    import httpx

_CHAT = "/chat/completions"


class Address(NamedTuple):
    """A service. `url` is its base and `query` what follows every path (Azure's api-version);
    `place` is what errors call it: no user, no query.
    """

    url: str
    query: str
    place: str
    loopback: bool

    def of(self, path: str) -> str:
        """The address of an endpoint."""
        return f"{self.url}{path}{self.query}"


def read_address(base_url: str) -> Address:
    """The service at `base_url`; an address with `/chat/completions` is taken as well.

    Raises:
        BadRequest: it is no http address.
        Unavailable: httpx is not installed.
    """
    try:
        import httpx
    except ImportError as fault:
        raise Unavailable(
            "calling a model needs httpx, which is not installed",
            hint="pip install 'uwf-core[llm]'",
        ) from fault

    text, mark, query = base_url.strip().partition("?")
    text = text.rstrip("/").removesuffix(_CHAT)
    try:
        url = httpx.URL(text)
    except (httpx.InvalidURL, UnicodeError) as fault:
        raise BadRequest("baseUrl is no address", hint=_HINT) from fault
    if url.scheme not in ("http", "https") or not url.host:
        raise BadRequest(f"baseUrl is no http address: {_named(url)}", hint=_HINT)
    return Address(text, mark + query, _named(url), _is_loopback(url.host))


def headers_of(key: str | None, extra: Mapping[str, str]) -> dict[str, str]:
    """The headers of every request.

    Raises:
        AuthRefused: the key cannot be sent; the message does not show it.
        BadRequest: another header cannot.
    """
    from uwf_core import __version__

    headers = {
        "Accept": "application/json, text/event-stream",
        "Accept-Encoding": "identity",  # a compressed stream arrives in lumps
        "Content-Type": "application/json",
        "User-Agent": f"uwf-core/{__version__}",
    }
    if key is not None and (key := key.strip()):
        if not _can_be_sent(key):
            raise AuthRefused(
                "the key has characters that no header can carry",
                hint="was something else copied with it? uwf setup takes it anew",
            )
        headers["Authorization"] = f"Bearer {key}"
    for name, text in extra.items():
        if not (_can_be_sent(text) and name.isascii() and name.replace("-", "").isalnum()):
            raise BadRequest(f"the header {name!r} cannot be sent")
        headers[name] = text
    return headers


def broken(fault: Exception, address: Address, *, answered: bool) -> Fault:
    """The failure that a broken connection is. `answered`: after the head of the answer.

    Raises:
        Exception: `fault` itself, where it is not one of the network.
    """
    import httpx

    if isinstance(fault, httpx.ConnectError | httpx.ProxyError):
        return _not_connected(fault, address)
    if isinstance(fault, httpx.ConnectTimeout):
        text = f"{address.place}: no connection in time"
        return Fault(Unavailable(text, hint="is the address right, is the network up?"), again=True)
    if not isinstance(fault, httpx.TransportError | httpx.DecodingError):
        raise fault
    if answered:
        return Fault(Truncated(f"{address.place}: the answer broke off: {fault}"), again=True)
    return Fault(Unavailable(f"{address.place}: the connection broke: {fault}"), again=True)


_HINT = "it looks like https://api.example.com/v1: uwf config set providers.NAME.baseUrl …"


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


def _can_be_sent(text: str) -> bool:
    return text.isascii() and text.isprintable()


def _not_connected(fault: Exception, address: Address) -> Fault:
    """A connection that did not come to be, told by the error of the system below it."""
    import ssl

    cause = _cause(fault)
    if isinstance(cause, ssl.SSLCertVerificationError):
        text = f"{address.place}: its certificate is not trusted: {cause.verify_message}"
        return Fault(Unavailable(text, hint="SSL_CERT_FILE names further certificates to trust"))
    if isinstance(cause, socket.gaierror):
        text = f"{address.place}: the name of the host is not known ({cause.strerror})"
        again = cause.errno == socket.EAI_AGAIN
        return Fault(Unavailable(text, hint="is baseUrl right, is the network up?"), again=again)
    if isinstance(cause, ConnectionRefusedError):
        text = f"{address.place}: nobody listens there"
        # On this machine that is certain, and nobody is to wait for it.
        failure = Unavailable(text, hint="is the server running, is the port right?")
        return Fault(failure, again=not address.loopback)
    return Fault(Unavailable(f"{address.place}: no connection: {fault}"), again=True)


def _cause(fault: BaseException) -> BaseException:
    """The innermost cause."""
    while (inner := fault.__cause__ or fault.__context__) is not None:
        fault = inner
    return fault
