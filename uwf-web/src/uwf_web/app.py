"""The application: each page of the table, its `.json`, the actions, the assets."""

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Any, cast

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.routing import Route

from uwf_core.errors import UwfError
from uwf_web import __version__
from uwf_web.clients import Clients
from uwf_web.guard import Guard
from uwf_web.page import Page, Site, Visit
from uwf_web.rendering import Rendering
from uwf_web.routes import PAGES

if TYPE_CHECKING:
    from starlette.types import ASGIApp

    from uwf_core.client import Client
    from uwf_web.settings import WebSettings

HTML = "text/html; charset=utf-8"


def make_app(settings: "WebSettings", open_client: "Callable[[], Client]") -> "ASGIApp":
    """The whole site behind its guard.

    Args:
        settings: of the server; `port` is the one that it listens on.
        open_client: opens a client; called once for each thread that handles requests.
    """
    server = Server(settings, Clients(open_client), Rendering())
    return Guard(Starlette(routes=server.routes()), settings)


class Server:
    """What the endpoints share: the settings, the clients and the templates."""

    def __init__(self, settings: "WebSettings", clients: Clients, rendering: Rendering) -> None:
        self.settings = settings
        self.clients = clients
        self.rendering = rendering

    def routes(self) -> list[Route]:
        """All URLs."""
        base = self.settings.base
        found = [Route(base + "/", self._first)]
        for path, name in PAGES.items():
            found += [
                Route(f"{base}{path}.json", self._endpoint(name, self._document)),
                Route(f"{base}{path}", self._endpoint(name, self._page)),
            ]
        return found

    def _endpoint(
        self, name: str, show: "Callable[[Page, Visit, Request], Response]"
    ) -> "Callable[[Request], Response]":
        """What answers a page's URL, in a thread of the pool; the page is imported then."""

        def answer(request: Request) -> Response:
            path = {key: str(value) for key, value in request.path_params.items()}
            visit = Visit(self.clients.get(), path, dict(request.query_params))
            try:
                return show(page_of(name), visit, request)
            except UwfError as error:
                return self._error(error, request)

        return answer

    def _first(self, _request: Request) -> Response:
        return RedirectResponse(f"{self.settings.base}/threads", 303)

    def _document(self, page: Page, visit: Visit, _request: Request) -> Response:
        return JSONResponse(page.read(visit))

    def _page(self, page: Page, visit: Visit, request: Request) -> Response:
        site = self.site(request, page.commands, visit.path)
        return Response(self.rendering.page(page.template, page.read(visit), site), media_type=HTML)

    def _error(self, error: UwfError, request: Request) -> Response:
        document = {"error": {"message": error.message, "hint": error.hint}}
        return JSONResponse(document, status_code=404)

    def site(self, request: Request, commands: tuple[str, ...], path: Mapping[str, str]) -> Site:
        """What a template gets beside its document."""
        query = request.url.query
        return Site(
            base=self.settings.base,
            here=request.url.path + (f"?{query}" if query else ""),
            csrf=request.scope["csrf"],
            read_only=self.settings.read_only,
            version=__version__,
            commands=tuple(each.format(**path) for each in commands),
            warning=request.scope["warning"],
        )


def page_of(name: str) -> Page:
    """The page of a name in the table: `module:attribute` below `uwf_web.pages`."""
    module, _, attribute = name.partition(":")
    found: Any = getattr(import_module(f"uwf_web.pages.{module}"), attribute)
    return cast(Page, found)
