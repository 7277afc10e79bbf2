"""The application: each page of the table, its `.json`, the actions, the assets, the stream."""

import asyncio
import hmac
from collections.abc import Awaitable, Callable
from functools import partial
from hashlib import sha256
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from starlette.applications import Starlette
from starlette.convertors import PathConvertor, register_url_convertor
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse, Response
from starlette.routing import Match, Route

from uwf_core.errors import UsageError, UwfError
from uwf_web import __version__
from uwf_web.actions import ACTIONS, Act
from uwf_web.assets import Assets
from uwf_web.clients import Clients, Result
from uwf_web.forms import MOST_BYTES, PREFIX, SentForm, parse_form
from uwf_web.guard import SAFE_METHODS, Guard
from uwf_web.page import Page, Site, Visit, named
from uwf_web.rendering import Rendering
from uwf_web.routes import DOWNLOADS, PAGES
from uwf_web.stream import Changes

if TYPE_CHECKING:
    from starlette.types import Receive, Scope, Send

    from uwf_core.client import Client
    from uwf_web.settings import WebSettings

FORM = "application/x-www-form-urlencoded"
FORM_SECONDS = 20.0
"""How long a form may take to arrive."""
STATUS_OF = {
    "unknown-id": 404, "missing-node": 404, "wrong-state": 409, "busy": 409, "usage": 400,
    "plugin": 400, "ambiguous-id": 400, "invalid-definition": 422, "invalid-payload": 422,
}  # fmt: skip
"""The HTTP status of an error by its code; others are ours."""
SENTENCES = {
    404: "This page does not exist.",
    500: "This is an error of uwf-web; its terminal shows the traceback.",
    503: "The server is stopping.",
}


Endpoint = Callable[[Request], Awaitable[Response]]


class AnyPath(PathConvertor):
    """The rest of a path, line breaks included: names of files may have them."""

    regex = "(?s:.*)"


register_url_convertor("rest", AnyPath())


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
        refused: dict[Any, Any] = {HTTPException: self._refused, Exception: self._refused}
        self._app = Starlette(routes=self._all_routes(), exception_handlers=refused)
        self._app.router.redirect_slashes = False  # it decodes the path; see `_refused`

    def end_streams(self) -> None:
        """End the streams, since the server begins to stop."""
        self.changes.close()

    def close(self) -> None:
        """Let the threads end, since the server has stopped."""
        self.clients.close()

    async def __call__(self, scope: "Scope", receive: "Receive", send: "Send") -> None:
        """Answer a request that the guard lets pass."""
        await self._app(scope, receive, send)

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
        return found + [
            Route(base + path, self._acting(path), methods=["POST"]) for path in ACTIONS
        ]

    # -- pages -------------------------------------------------------------------------------------

    def _endpoint(self, name: str, show: "Callable[[Page, Visit, Request], Response]") -> Endpoint:
        """What answers a page's URL; the page is imported then."""

        def answer(request: Request) -> Response:
            return show(named(f"uwf_web.pages.{name}"), self._visit(request), request)

        return self._reading(answer)

    def _reading(self, read: "Callable[[Request], Response]") -> Endpoint:
        """What answers with what a thread of the pool reads, or with the page of its error."""

        def answer(request: Request) -> Response:
            try:
                return read(request)
            except UwfError as error:
                return self._error(error, request)

        async def answer_in_pool(request: Request) -> Response:
            return await _stoppable(self.clients.run(partial(answer, request)))

        return answer_in_pool

    def _visit(self, request: Request) -> Visit:
        return Visit(self.clients.get(), request.path_params, dict(request.query_params))

    def _document(self, page: Page, visit: Visit, _request: Request) -> Response:
        return JSONResponse(page.read(visit), headers={"cache-control": "no-store"})

    def _page(self, page: Page, visit: Visit, request: Request) -> Response:
        """A page, unless the browser has it: of a reference that is known without reading."""
        reference = page.etag(visit) if page.etag is not None else None
        site = self.site(request, page.commands_of(visit))
        known, body = _known_tags(request), ""
        if reference is not None:
            kind = "r" if site.read_only else "w"
            tag = f'"{reference}-{__version__}-{kind}{site.csrf[:8]}"'
        if reference is None or tag not in known:
            body = self.rendering.page(page.template, page.read(visit), site)
        if reference is None:
            tag = f'"{sha256(body.encode()).hexdigest()[:24]}"'
        if tag in known:
            return Response(status_code=304, headers={"etag": tag})
        return HTMLResponse(body, headers={"etag": tag})

    def site(self, request: Request, commands: tuple[str, ...] = ()) -> Site:
        """What a template gets beside its document."""
        query = request.url.query
        return Site(
            base=self.settings.base,
            here=request.scope["path"] + (f"?{query}" if query else ""),
            query=dict(request.query_params),
            csrf=request.scope["csrf"],
            read_only=self.settings.read_only,
            version=__version__,
            assets=self.assets,
            commands=commands,
            warning=request.scope["warning"],
        )

    # -- errors ------------------------------------------------------------------------------------

    def _error(self, error: UwfError, request: Request) -> Response:
        return self._failed(STATUS_OF.get(error.code, 500), error.document()["error"], request)

    def _refused(self, request: Request, error: Exception) -> Response:
        """The answer to a URL that does not exist, or not with this method, and to our errors."""
        found = error if isinstance(error, HTTPException) else HTTPException(500)
        path = request.scope["path"]
        scope = {**request.scope, "path": path[:-1] if path.endswith("/") else path + "/"}
        known = (each.matches(scope)[0] is Match.FULL for each in self._app.routes)
        if found.status_code == 404 and any(known):
            query = request.url.query
            return RedirectResponse(quote(scope["path"]) + (f"?{query}" if query else ""))
        sentence = SENTENCES.get(found.status_code, "That is not possible here.")
        answer = self._failed(found.status_code, {"message": sentence, "hint": None}, request)
        if found.status_code == 405:
            answer.headers["allow"] = "POST" if request.method in SAFE_METHODS else "GET, HEAD"
        return answer

    def _failed(self, status: int, error: Any, request: Request) -> Response:
        document = {"error": error}
        if request.scope["path"].endswith(".json"):
            return JSONResponse(document, status)
        page = {**document, "status": status}
        return HTMLResponse(self.rendering.page("error.html", page, self.site(request)), status)

    # -- actions -----------------------------------------------------------------------------------

    def _acting(self, route: str) -> Endpoint:
        """What checks a form, acts in a thread of the pool, and leads to the page that follows."""

        async def answer(request: Request) -> Response:
            if self.settings.read_only:
                return self._forbidden("This server only shows.", request)
            form = SentForm({}, {})
            try:
                form = parse_form(await _stoppable(_body(request)))
            except UwfError as error:
                failed = partial(self._refused_form, error, request, form, route)
                return await _stoppable(self.clients.run(failed))
            given, expected = form.words.get("csrf", ""), request.scope["csrf"]
            if not hmac.compare_digest(given.encode(), expected.encode()):
                sentence = "The form was not made for this login; load its page again."
                return self._forbidden(sentence, request)
            act = partial(self._act, route, request, form)
            return await _stoppable(self.clients.run(act))

        return answer

    def _act(self, route: str, request: Request, form: SentForm) -> Response:
        sent = request.path_params, form.words, form.fields
        try:
            to = ACTIONS[route](Act(self.clients.get(), *sent))
        except UwfError as error:
            return self._refused_form(error, request, form, route)
        if isinstance(to, str):
            return RedirectResponse(self.settings.base + to, 303)
        page = self.rendering.page(to.template, to.document, self.site(request))
        return HTMLResponse(page, to.status)

    def _forbidden(self, sentence: str, request: Request) -> Response:
        return self._failed(403, {"message": sentence, "hint": None}, request)

    def _refused_form(
        self, error: UwfError, request: Request, form: SentForm, route: str
    ) -> Response:
        """The page of a form that was refused, with what was sent; else the page of the error."""
        status = STATUS_OF.get(error.code, 500)
        own = next((each for each in (route, route.rpartition("/")[0]) if each in PAGES), None)
        if own is None or not form.words or status == 500:
            return self._error(error, request)
        action = "start" if own == route else route.rpartition("/")[2]
        path = request.scope["path"]
        here = path if own == route else path.rpartition("/")[0]
        page: Page = named(f"uwf_web.pages.{PAGES[own]}")
        visit = Visit(self.clients.get(), request.path_params, {})
        fields = {f"{PREFIX}{name}": texts for name, texts in form.fields.items()}
        site = self.site(request, page.commands_of(visit))._replace(
            here=here, query={}, problem=error.document()["error"], action=action,
            form={**{name: (text,) for name, text in form.words.items()}, **fields},
        )  # fmt: skip
        try:
            return HTMLResponse(self.rendering.page(page.template, page.read(visit), site), status)
        except UwfError:  # of a thread that does not exist
            return self._error(error, request)

    # -- files and the stream ----------------------------------------------------------------------

    async def _asset(self, request: Request) -> Response:
        found = self.assets.at(request.path_params["path"])
        if found is None:
            return Response(status_code=404)
        lasting = {"cache-control": "public, max-age=31536000, immutable"}
        return Response(found.content, headers=lasting, media_type=found.type)

    def _download(self, name: str, request: Request) -> Response:
        """A file, never shown in the page's own origin."""
        found = named(f"uwf_web.pages.{name}")(self._visit(request))
        return Response(found.content, headers=found.headers(), media_type=found.type)

    async def _stream(self, request: Request) -> Response:
        if request.method == "HEAD":
            return Response(media_type="text/event-stream")
        found = self.changes.stream(request.headers.get("last-event-id"))
        return found or Response("too many pages are open\n", 503, media_type="text/plain")


async def _stoppable(work: "Awaitable[Result]") -> "Result":
    """Wait for work. uvicorn cancels it when it stops, and would print that."""
    try:
        return await work
    except asyncio.CancelledError as error:
        raise HTTPException(503) from error


async def _body(request: Request) -> bytes:
    """The body of a form, if it is one, not too large, and arrives in time."""
    if request.headers.get("content-type", "").partition(";")[0].strip() != FORM:
        raise UsageError("this is not a form that a page has sent")
    found = bytearray()
    try:
        async with asyncio.timeout(FORM_SECONDS):
            async for part in request.stream():
                found += part
                if len(found) > MOST_BYTES:
                    raise UsageError(f"the form is larger than {MOST_BYTES} bytes")
    except ClientDisconnect as error:
        raise UsageError("the form has not arrived to its end") from error
    except TimeoutError as error:
        raise UsageError("the form did not arrive in time") from error
    return bytes(found)


def _known_tags(request: Request) -> set[str]:
    """The pages that the browser has; a proxy that compresses them makes their tags weak."""
    sent = request.headers.get("if-none-match", "").split(",")
    return {each.strip().removeprefix("W/") for each in sent}
