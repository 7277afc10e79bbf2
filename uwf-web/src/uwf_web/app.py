"""The application: each page of the table, its `.json`, the actions, the assets, the stream."""

import asyncio
import hmac
from collections.abc import Callable
from functools import partial
from hashlib import sha256
from importlib import import_module
from typing import TYPE_CHECKING, Any, cast
from urllib.parse import quote

from uwf_core.errors import UsageError, UwfError
from uwf_web import __version__
from uwf_web.actions import ACTIONS, Act
from uwf_web.assets import Assets
from uwf_web.clients import Clients
from uwf_web.exchange import (
    HTML,
    Answer,
    AnyAnswer,
    EventStream,
    Receive,
    Request,
    Scope,
    Send,
    json_answer,
    no_events,
    redirect,
)
from uwf_web.forms import MOST_BYTES, PREFIX, SentForm, parse_form
from uwf_web.guard import SAFE_METHODS, Guard
from uwf_web.page import Page, Site, Visit
from uwf_web.rendering import Rendering
from uwf_web.routes import DOWNLOADS, PAGES, Endpoint, Route, find_route
from uwf_web.stream import Changes

if TYPE_CHECKING:
    from uwf_core.client import Client
    from uwf_web.settings import WebSettings

FORM = "application/x-www-form-urlencoded"
FORM_SECONDS = 20.0
"""How long a form may take to arrive."""
STATUS_OF = {
    "unknown-id": 404,
    "missing-node": 404,
    "wrong-state": 409,
    "busy": 409,
    "usage": 400,
    "plugin": 400,
    "ambiguous-id": 400,
    "invalid-definition": 422,
    "invalid-payload": 422,
}
"""The HTTP status of an error by its code; others are ours."""
SENTENCES = {
    404: "This page does not exist.",
    500: "This is an error of uwf-web; its terminal shows the traceback.",
    503: "The server is stopping.",
}


def make_app(settings: "WebSettings", open_client: "Callable[[], Client]") -> Guard:
    """The whole site behind its guard.

    Args:
        settings: of the server; `port` is the one that it listens on.
        open_client: opens a client; called once for each thread that handles requests.
    """
    return Guard(Server(settings, open_client), settings)


class Server:
    """What the endpoints share: the settings, the clients, the templates and the assets."""

    def __init__(self, settings: "WebSettings", open_client: "Callable[[], Client]") -> None:
        self.settings = settings
        self.clients = Clients(open_client)
        self.rendering = Rendering(settings.own_folder / "web.templates")
        self.assets = Assets(settings.base)
        self.changes = Changes(open_client)
        self._routes = self._all_routes()

    def end_streams(self) -> None:
        """End the streams, since the server begins to stop."""
        self.changes.close()

    def close(self) -> None:
        """Let the threads end, since the server has stopped."""
        self.clients.close()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request that the guard lets pass."""
        request = Request(scope, receive)
        try:
            answer = await self._answer(request)
        except asyncio.CancelledError:  # uvicorn does so when it stops, and would print it
            answer = self._refused(503, request)
        except Exception:
            answer = self._refused(500, request)
            await answer.send(receive, send)
            raise  # the server prints it
        await answer.send(receive, send)

    async def _answer(self, request: Request) -> AnyAnswer:
        found = find_route(self._routes, request.path, request.method)
        if not isinstance(found, int):
            request.route, request.words = found.route.path, found.words
            return await found.route.endpoint(request)
        path = request.path
        other = path[:-1] if path.endswith("/") else path + "/"
        if found == 404 and not isinstance(find_route(self._routes, other, request.method), int):
            query = request.query_string
            return redirect(quote(other) + (f"?{query}" if query else ""), 307)
        allowed = {"allow": "POST" if request.method in SAFE_METHODS else "GET, HEAD"}
        return self._refused(found, request)._replace(headers=allowed if found == 405 else {})

    def _all_routes(self) -> list[Route]:
        """All URLs."""
        base = self.settings.base
        found = [
            Route(base + "/static/{path}", self._asset),
            Route(base + "/stream", self._stream),
        ]
        for path, name in DOWNLOADS.items():
            found.append(Route(base + path, self._reading(partial(self._download, name))))
        for path, name in PAGES.items():
            inner = "/inbox" if path == "/" else path
            found += [
                Route(f"{base}{inner}.json", self._endpoint(name, self._document)),
                Route(f"{base}{path}", self._endpoint(name, self._page)),
            ]
        return found + [Route(base + path, self._action, "POST") for path in ACTIONS]

    # -- pages -------------------------------------------------------------------------------------

    def _endpoint(self, name: str, show: "Callable[[Page, Visit, Request], Answer]") -> Endpoint:
        """What answers a page's URL; the page is imported then."""

        def answer(request: Request) -> Answer:
            return show(_named(f"pages.{name}"), self._visit(request), request)

        return self._reading(answer)

    def _reading(self, read: "Callable[[Request], Answer]") -> Endpoint:
        """What answers with what a thread of the pool reads, or with the page of its error."""

        def answer(request: Request) -> Answer:
            try:
                return read(request)
            except UwfError as error:
                return self._error(error, request)

        async def answer_in_pool(request: Request) -> Answer:
            return await self.clients.run(partial(answer, request))

        return answer_in_pool

    def _visit(self, request: Request) -> Visit:
        return Visit(self.clients.get(), request.words, request.query)

    def _document(self, page: Page, visit: Visit, _request: Request) -> Answer:
        return json_answer(page.read(visit), headers={"cache-control": "no-store"})

    def _page(self, page: Page, visit: Visit, request: Request) -> Answer:
        """A page, unless the browser has it: of a reference that is known without reading."""
        reference = page.etag(visit) if page.etag is not None else None
        site = self.site(request, page.commands_of(visit))
        known, body = _known_tags(request), b""
        if reference is not None:
            kind = "r" if site.read_only else "w"
            tag = f'"{reference}-{__version__}-{kind}{site.csrf[:8]}"'
        if reference is None or tag not in known:
            body = self.rendering.page(page.template, page.read(visit), site).encode()
        if reference is None:
            tag = f'"{sha256(body).hexdigest()[:24]}"'
        if tag in known:
            return Answer(status=304, headers={"etag": tag})
        return Answer(body, HTML, headers={"etag": tag})

    def site(self, request: Request, commands: tuple[str, ...] = ()) -> Site:
        """What a template gets beside its document."""
        query = request.query_string
        return Site(
            base=self.settings.base,
            here=request.path + (f"?{query}" if query else ""),
            query=request.query,
            csrf=request.scope["csrf"],
            read_only=self.settings.read_only,
            version=__version__,
            assets=self.assets,
            commands=commands,
            warning=request.scope["warning"],
        )

    # -- errors ------------------------------------------------------------------------------------

    def _error(self, error: UwfError, request: Request) -> Answer:
        return self._failed(STATUS_OF.get(error.code, 500), error.document()["error"], request)

    def _refused(self, status: int, request: Request) -> Answer:
        """The page of an URL that does not exist, or not with this method."""
        sentence = SENTENCES.get(status, "That is not possible here.")
        return self._failed(status, {"message": sentence, "hint": None}, request)

    def _failed(self, status: int, error: Any, request: Request) -> Answer:
        document = {"error": error}
        if request.path.endswith(".json"):
            return json_answer(document, status)
        body = self.rendering.page("error.html", {**document, "status": status}, self.site(request))
        return Answer(body.encode(), HTML, status)

    # -- actions -----------------------------------------------------------------------------------

    async def _action(self, request: Request) -> Answer:
        """Check a form, act in a thread of the pool, and lead to the page that follows."""
        if self.settings.read_only:
            return self._failed(403, {"message": "This server only shows.", "hint": None}, request)
        form = SentForm({}, {})
        try:
            form = parse_form(await _body(request))
            given, expected = form.words.get("csrf", ""), request.scope["csrf"]
            if not hmac.compare_digest(given.encode(), expected.encode()):
                sentence = "The form was not made for this login; load its page again."
                return self._failed(403, {"message": sentence, "hint": None}, request)
            act = ACTIONS[request.route.removeprefix(self.settings.base)]
            path = request.words
            sent = path, form.words, form.fields
            to = await self.clients.run(lambda: act(Act(self.clients.get(), *sent)))
        except UwfError as error:
            return await self.clients.run(partial(self._refused_form, error, request, form))
        if isinstance(to, str):
            return redirect(self.settings.base + to)
        site = self.site(request)
        show = partial(self.rendering.page, to.template, to.document, site)
        body = await self.clients.run(show)
        return Answer(body.encode(), HTML, to.status)

    def _refused_form(self, error: UwfError, request: Request, form: SentForm) -> Answer:
        """The page of a form that was refused, with what was sent; else the page of the error."""
        route = request.route.removeprefix(self.settings.base)
        status = STATUS_OF.get(error.code, 500)
        own = next((each for each in (route, route.rpartition("/")[0]) if each in PAGES), None)
        if own is None or not form.words or status == 500:
            return self._error(error, request)
        action = "start" if own == route else route.rpartition("/")[2]
        here = request.path if own == route else request.path.rpartition("/")[0]
        page: Page = _named(f"pages.{PAGES[own]}")
        visit = Visit(self.clients.get(), request.words, {})
        fields = {f"{PREFIX}{name}": texts for name, texts in form.fields.items()}
        site = self.site(request, page.commands_of(visit))._replace(
            here=here, query={}, problem=error.document()["error"], action=action,
            form={**{name: (text,) for name, text in form.words.items()}, **fields},
        )  # fmt: skip
        try:
            body = self.rendering.page(page.template, page.read(visit), site)
        except UwfError:  # of a thread that does not exist
            return self._error(error, request)
        return Answer(body.encode(), HTML, status)

    # -- files and the stream ----------------------------------------------------------------------

    async def _asset(self, request: Request) -> Answer:
        found = self.assets.at(request.words["path"])
        if found is None:
            return Answer(status=404)
        lasting = {"cache-control": "public, max-age=31536000, immutable"}
        return Answer(found.content, found.type, headers=lasting)

    def _download(self, name: str, request: Request) -> Answer:
        """A file, never shown in the page's own origin."""
        found = _named(f"pages.{name}")(self._visit(request))
        return Answer(found.content, found.type, headers=found.headers())

    async def _stream(self, request: Request) -> AnyAnswer:
        if request.method == "HEAD":
            return EventStream(no_events(), lambda: None)
        found = self.changes.stream(request.headers.get("last-event-id"))
        return found or Answer(b"too many pages are open\n", "text/plain; charset=utf-8", 503)


async def _body(request: Request) -> bytes:
    """The body of a form, if it is one, not too large, and arrives in time."""
    if request.headers.get("content-type", "").partition(";")[0].strip() != FORM:
        raise UsageError("this is not a form that a page has sent")
    found = bytearray()
    try:
        async with asyncio.timeout(FORM_SECONDS):
            async for part in request.body():
                found += part
                if len(found) > MOST_BYTES:
                    raise UsageError(f"the form is larger than {MOST_BYTES} bytes")
    except TimeoutError as error:
        raise UsageError("the form did not arrive in time") from error
    return bytes(found)


def _known_tags(request: Request) -> set[str]:
    """The pages that the browser has; a proxy that compresses them makes their tags weak."""
    sent = request.headers.get("if-none-match", "").split(",")
    return {each.strip().removeprefix("W/") for each in sent}


def _named(name: str) -> Any:
    """What a table names: `module:attribute` below this package, imported now."""
    module, _, attribute = name.partition(":")
    return cast(Any, getattr(import_module(f"uwf_web.{module}"), attribute))
