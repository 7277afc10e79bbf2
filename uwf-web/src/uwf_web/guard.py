"""What every request passes before a page sees it: host, origin, login; and the headers of every
answer.
"""

from collections.abc import Mapping
from http.cookies import CookieError, SimpleCookie
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl, quote, urlencode

from starlette.responses import HTMLResponse, Response

from uwf_core.markup import tag
from uwf_web.hosts import Place
from uwf_web.keys import COOKIE_SECONDS, KEY_FILE, TOKEN_SECONDS, Keys, read_keys, use_token

if TYPE_CHECKING:
    from starlette.types import Message, Receive, Scope, Send

    from uwf_web.app import Server
    from uwf_web.settings import WebSettings

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "form-action 'self'; frame-ancestors 'none'; base-uri 'none'"
)
HEADERS: Mapping[str, str] = {
    "content-security-policy": POLICY,
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "private, no-cache",
}
"""Of each answer that does not set them itself."""
SAFE_METHODS = ("GET", "HEAD")


class Guard:
    """Answers what may not pass; the rest goes to the application with its session.

    Args:
        server: the application. Its scope gets `session`, `csrf` and `warning`.
        settings: those of the server; `port` is the one that it listens on.
    """

    def __init__(self, server: "Server", settings: "WebSettings") -> None:
        self.server = server
        self._settings = settings
        self._file = settings.own_folder / KEY_FILE
        self._stamp: tuple[int, int] | None = None
        self._keys = self.keys()

    def keys(self) -> Keys:
        """The keys as their file has them now: `--new-key` replaces them under a running server."""
        try:
            found = self._file.stat()
            stamp = (found.st_mtime_ns, found.st_ino)
        except FileNotFoundError:
            stamp = None
        if stamp is None or stamp != self._stamp:
            self._keys, self._stamp = read_keys(self._settings.own_folder), stamp
        return self._keys

    async def __call__(self, scope: "Scope", receive: "Receive", send: "Send") -> None:
        """Check a request and pass it on."""
        if scope["type"] != "http":
            return
        refused = self._refusal(scope)
        send = _with_headers(send)
        if refused is not None:
            await _answer(*refused)(scope, receive, send)
        else:
            await self.server(scope, receive, send)

    def _refusal(self, scope: "Scope") -> tuple[int, str, Mapping[str, str]] | None:
        """Status, sentence and headers of the answer to what may not pass, else None."""
        headers = _headers_of(scope)
        host, origin = headers.get("host", ""), headers.get("origin")
        if not self._settings.answers_to(host, self.keys().host):
            return 421, f"This server is not {host or 'what you asked for'}.", {}
        is_safe = scope["method"] in SAFE_METHODS
        if origin is None and not is_safe:
            return 403, "A form without an origin is not accepted.", {}
        if origin is not None and not self._settings.accepts(origin, host):
            cure = "Behind a proxy, `uwf web --base-url URL` names the address in your browser."
            return 403, f"A request from {origin} is not accepted. {cure}", {}
        if not is_safe and scope["method"] != "POST":
            return 405, "Only GET, HEAD and POST are answered.", {"allow": "GET, HEAD, POST"}
        return self._login(scope, headers, host)

    def _login(
        self, scope: "Scope", headers: Mapping[str, str], host: str
    ) -> tuple[int, str, Mapping[str, str]] | None:
        settings, keys = self._settings, self.keys()
        path = scope["path"]
        scope["csrf"], scope["warning"] = "", None
        if path.startswith(f"{settings.base}/static/"):
            return None
        query = parse_qsl(scope["query_string"].decode("latin-1"), keep_blank_values=True)
        token = next((value for name, value in query if name == "token"), None)
        if token is not None and scope["method"] == "GET":
            if use_token(settings.own_folder, token):
                rest = urlencode([each for each in query if each[0] != "token"])
                to = quote(path, safe="/") + (f"?{rest}" if rest else "")
                return 303, "", {"location": _local(to), "set-cookie": self._cookie(keys)}
            minutes = TOKEN_SECONDS // 60
            return 401, f"This link has been used, or is older than {minutes} minutes.", {}
        session = keys.session_of(_cookie_of(headers.get("cookie", ""), self.cookie_name))
        if session is None:
            return 401, "You are not logged in.", {}
        scope.get("state", {}).get("login", lambda: None)()
        scope["session"] = session
        scope["csrf"] = keys.csrf_of(session)
        scope["warning"] = self._warning(host)
        return None

    @property
    def cookie_name(self) -> str:
        """The name, which no server of another home shares."""
        return self._keys.host.partition(".")[0].replace("-", "_")

    def _cookie(self, keys: Keys) -> str:
        schemes = {self._settings.scheme, self._settings.outer and self._settings.outer.scheme}
        secure = "; Secure" if "https" in schemes else ""
        return (
            f"{self.cookie_name}={keys.new_cookie()}; Path={self._settings.base or '/'}; "
            f"Max-Age={COOKIE_SECONDS}; HttpOnly; SameSite=Strict{secure}"
        )

    def _warning(self, host: str) -> str | None:
        if host.partition(":")[0].rstrip(".") != "127.0.0.1":
            return None
        better = Place(self._settings.scheme, self.keys().host, self._settings.port)
        return (
            "Other servers on this machine can read the login of pages at 127.0.0.1. "
            f"Use {better} if your browser can open it."
        )


def _headers_of(scope: "Scope") -> dict[str, str]:
    """The headers by name; one that occurs twice has no value that could match."""
    found: dict[str, str] = {}
    for name, value in scope["headers"]:
        key, text = name.decode("latin-1"), value.decode("latin-1")
        found[key] = f"{found[key]}, {text}" if key in found else text
    return found


def _local(path: str) -> str:
    """A path of this server, whatever it begins with: `//host` would lead away."""
    return "/" + path.lstrip("/")


def _cookie_of(header: str, name: str) -> str:
    try:
        found = SimpleCookie(header).get(name)
    except CookieError:
        return ""
    return "" if found is None else found.value


def _with_headers(send: "Send") -> "Send":
    async def sending(message: "Message") -> None:
        if message["type"] == "http.response.start":
            there = {name for name, _ in message.setdefault("headers", [])}
            missing = [
                (name.encode(), value.encode())
                for name, value in HEADERS.items()
                if name.encode() not in there
            ]
            message["headers"] = [*message["headers"], *missing]
        await send(message)

    return sending


def _answer(status: int, sentence: str, headers: Mapping[str, str]) -> Response:
    """A page of one sentence."""
    parts: list[Any] = [tag("h1", f"{status}"), tag("p", sentence)]
    if status == 401:
        parts.append(tag("p", "Run ", tag("code", "uwf web"), " in a terminal: it prints a link."))
    body = f"<!doctype html><title>uwf</title>{''.join(parts)}\n"
    return HTMLResponse(body, status, headers)
