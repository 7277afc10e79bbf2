"""fetch_url: a page of the public internet, as text.

The host's name is resolved once for each hop, every address it has must be public, and the
connection goes to the address that was looked at: a name that changes in between changes nothing.
No proxy is asked, since it would resolve the name anew.
"""

import contextlib
import http.client
import re
import socket
import ssl
import threading
import time
from collections.abc import Callable
from typing import NamedTuple
from urllib.parse import SplitResult, urljoin, urlsplit

from uwf_agent_builtin.tools.addresses import is_public
from uwf_agent_builtin.tools.errors import ToolError
from uwf_agent_builtin.tools.html_text import html_text
from uwf_agent_builtin.tools.record import Arguments, BuiltinTool, CallContext, cut, parameters
from uwf_core.api import Cancel

HOPS = 5
SECONDS = 30.0
CONNECT_SECONDS = 5.0
BYTES = 2 * 1024 * 1024
CHARACTERS = 40_000
_TICK_SECONDS = 0.05
_REDIRECTS = frozenset((301, 302, 303, 307, 308))
_TEXTS = re.compile(
    r"text/.*|application/([\w.-]+\+)?(json|xml|yaml|x-yaml|javascript|x-javascript|toml|x-ndjson)",
    re.IGNORECASE,
)


class Page(NamedTuple):
    """What came: the address it came from, its status, its type, its bytes, whether all."""

    url: str
    status: int
    content_type: str
    content: bytes
    whole: bool


Resolve = Callable[[str, int], list[str]]


class Fetcher:
    """Fetches under limits. Tests bring their own `resolve` and `public`.

    Args:
        resolve: the addresses of a host's name.
        public: whether one may be connected to.
    """

    def __init__(
        self, resolve: Resolve | None = None, public: Callable[[str], bool] = is_public
    ) -> None:
        self._resolve = resolve or addresses_of
        self._public = public

    def fetch(self, url: str, cancel: Cancel, seconds: float = SECONDS) -> Page:
        """The page at `url`, in a thread that nobody has to wait for.

        Raises:
            ToolError: a wrong or forbidden address, no answer, too many hops, no time left.
        """
        attempt = _Attempt(self, url, time.monotonic() + seconds)
        thread = threading.Thread(target=attempt.work, name="uwf-fetch", daemon=True)
        thread.start()
        while not attempt.done.wait(_TICK_SECONDS):
            if cancel.is_set() or time.monotonic() > attempt.deadline:
                attempt.leave()
                why = "cancelled" if cancel.is_set() else f"no answer within {seconds:g} s"
                raise ToolError(f"{url}: {why}")
        if attempt.fault is not None:
            raise attempt.fault
        assert attempt.page is not None
        return attempt.page

    def vetted(self, parts: SplitResult) -> tuple[list[str], int]:
        """The addresses and the port to connect to.

        Raises:
            ToolError: the host is not one of the public internet.
        """
        host = parts.hostname or ""
        port = parts.port or (443 if parts.scheme == "https" else 80)
        try:
            found = self._resolve(host, port)
        except (OSError, UnicodeError) as fault:
            raise ToolError(f"{host}: the name cannot be resolved ({fault})") from fault
        refused = [address for address in found if not self._public(address)]
        if refused or not found:
            raise ToolError(
                f"{host} is not fetched: {', '.join(refused) or 'it has no address'} is not an "
                "address of the public internet"
            )
        return found, port


def addresses_of(host: str, port: int) -> list[str]:
    """The addresses of a host, by the system's resolver, without zones."""
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(each[4][0]).partition("%")[0] for each in found))


def checked(url: str) -> SplitResult:
    """The parts of an address that may be asked for.

    Raises:
        ToolError: it is not a plain http(s) address.
    """
    if any(ord(letter) <= 32 or ord(letter) == 127 for letter in url):
        raise ToolError("an address holds no blanks or control characters")
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError as fault:
        raise ToolError(f"{url} is not an address: {fault}") from fault
    if parts.scheme not in ("http", "https"):
        raise ToolError(f"{url}: only http and https addresses are fetched")
    if not parts.hostname or port == 0 or "\\" in url:
        raise ToolError(f"{url} has no host")
    if parts.username is not None or parts.password is not None:
        raise ToolError("an address with a user or password is not fetched")
    if "%" in parts.hostname:
        raise ToolError(f"{parts.hostname} is not a host name")
    return parts


class _Attempt:
    """One running fetch, in a separate thread."""

    def __init__(self, fetcher: Fetcher, url: str, deadline: float) -> None:
        self._fetcher = fetcher
        self._url = url
        self._socket: socket.socket | None = None
        self._left = False
        self.deadline = deadline
        self.done = threading.Event()
        self.page: Page | None = None
        self.fault: ToolError | None = None

    def work(self) -> None:
        """Fetch; the outcome is in `page` or `fault`."""
        try:
            self.page = self._follow(self._url)
        except ToolError as fault:
            self.fault = fault
        except (OSError, http.client.HTTPException, ValueError) as fault:
            words = str(fault) or type(fault).__name__
            self.fault = ToolError(f"{self._url}: the connection failed: {words}")
        finally:
            self.done.set()

    def leave(self) -> None:
        """Wake the thread: nobody waits for it any more."""
        self._left = True
        if self._socket is not None:
            with contextlib.suppress(OSError):  # it is closed already
                socket.socket.shutdown(self._socket, socket.SHUT_RDWR)

    def _follow(self, url: str) -> Page:
        for _ in range(HOPS + 1):
            parts = checked(url)
            page, target = self._hop(url, parts)
            if target is None:
                return page
            url = urljoin(url, target)
        raise ToolError(f"{self._url}: more than {HOPS} redirects")

    def _hop(self, url: str, parts: SplitResult) -> tuple[Page, str | None]:
        connection = self._connection(parts)
        try:
            path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
            headers = {
                "User-Agent": "uwf-agent-builtin",
                "Accept": "text/*, application/json, */*;q=0.1",
                "Accept-Encoding": "identity",
                "Connection": "close",
            }
            connection.request("GET", _quoted(path), headers=headers)
            # The answer holds the socket on its own, once the connection is to be closed.
            with connection.getresponse() as answer:
                return self._answered(url, answer)
        finally:
            connection.close()

    def _answered(self, url: str, answer: http.client.HTTPResponse) -> tuple[Page, str | None]:
        """The page, and where it sends us instead."""
        target = answer.headers.get("Location")
        if answer.status in _REDIRECTS and target:
            return Page(url, answer.status, "", b"", True), target
        content = self._read(answer)
        kind = answer.headers.get("Content-Type") or ""
        if answer.headers.get("Content-Encoding", "identity") != "identity":
            raise ToolError(f"{url}: the answer is compressed, though that was not asked for")
        return Page(url, answer.status, kind, content[:BYTES], len(content) <= BYTES), None

    def _read(self, answer: http.client.HTTPResponse) -> bytes:
        pieces, size = [], 0
        while size <= BYTES and (piece := answer.read1(65536)):
            self._check_time()
            pieces.append(piece)
            size += len(piece)
        return b"".join(pieces)

    def _check_time(self) -> float:
        left = self.deadline - time.monotonic()
        if self._left or left <= 0:
            raise ToolError(f"{self._url}: no time left")
        return left

    def _connection(self, parts: SplitResult) -> http.client.HTTPConnection:
        """A connection to the vetted address; the certificate is checked against the name."""
        addresses, port = self._fetcher.vetted(parts)
        host = parts.hostname or ""
        opened = self._connect(addresses, port)
        try:
            self._socket = opened
            self._check_time()
            connection = http.client.HTTPConnection(_host_header(host), port)
            if parts.scheme == "https":
                connection = http.client.HTTPSConnection(_host_header(host), port)
                context = ssl.create_default_context()
                self._socket = opened = context.wrap_socket(opened, server_hostname=host)
        except BaseException:
            opened.close()
            raise
        connection.sock = opened
        return connection

    def _connect(self, addresses: list[str], port: int) -> socket.socket:
        """A connection to the first of the addresses that takes one: this machine may have no way
        to those of one kind.
        """
        for address in addresses[:-1]:
            seconds = min(self._check_time(), CONNECT_SECONDS)
            with contextlib.suppress(OSError):  # the next one is tried
                return socket.create_connection((address, port), timeout=seconds)
        return socket.create_connection((addresses[-1], port), timeout=self._check_time())


def _host_header(host: str) -> str:
    return f"[{host}]" if ":" in host else host.encode("idna").decode("ascii")


def _quoted(path: str) -> str:
    from urllib.parse import quote

    return quote(path, safe="/?&=%:;,+$@!~*'()[]#-._")


def page_text(page: Page) -> str:
    """A page as the answer to the model."""
    kind = page.content_type.partition(";")[0].strip()
    if kind and not _TEXTS.fullmatch(kind):
        return f"[{page.url}: HTTP {page.status}, {kind}, no text ({len(page.content)} bytes)]"
    charset = re.search(r"charset=[\"']?([\w-]+)", page.content_type, re.IGNORECASE)
    text = _decoded(page.content, charset[1] if charset else "utf-8")
    if "html" in kind or (not kind and text.lstrip()[:1] == "<"):
        text = html_text(text)
    rest = "" if page.whole else f"; only the first {BYTES} bytes"
    return f"[{page.url}: HTTP {page.status}{rest}]\n" + cut(text, CHARACTERS, "the page")


def _decoded(content: bytes, charset: str) -> str:
    try:
        return content.decode(charset, "replace")
    except LookupError:
        return content.decode("utf-8", "replace")


def fetch_url(arguments: Arguments, context: CallContext) -> str:
    """The text of a page."""
    seconds = max(0.1, min(SECONDS, context.seconds_left()))
    return page_text(Fetcher().fetch(arguments["url"], context.call.cancel, seconds))


FETCH_URL = BuiltinTool(
    "fetch_url",
    "Fetch a public web page as text.",
    parameters(("url",), url={"type": "string"}),
    fetch_url,
)
