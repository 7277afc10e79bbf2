"""The URLs: of each page its path and the `Page` that it shows, imported on its first request.

A page module holds a `Page`; its name here is `module:attribute` below `uwf_web.pages`.
"""

from collections.abc import Awaitable, Callable, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Final

from starlette.routing import BaseRoute, Match, Route

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response
    from starlette.types import Receive, Scope, Send

PAGES: Final[Mapping[str, str]] = {
    "/": "threads:INBOX",
    "/threads": "threads:THREADS",
    "/threads/{thread}": "thread:THREAD",
    "/threads/{thread}/steps/{step}": "step:STEP",
    "/threads/{thread}/steps/{step}/diff": "step:DIFF",
    "/nodes/{ref}": "step:NODE",
    "/threads/{thread}/compare": "explaining:COMPARE",
    "/threads/{thread}/diff/{other}": "explaining:DIFF",
    "/threads/{thread}/usage": "explaining:USAGE",
    "/threads/{thread}/why": "explaining:WHY",
    "/workflows": "workflows:WORKFLOWS",
    "/workflows/{word}": "workflows:WORKFLOW",
    "/workflows/{a}/diff/{b}": "workflows:WORKFLOW_DIFF",
    "/editor": "editor:EDITOR",
    "/agents": "installed:AGENTS",
    "/agents/{agent}": "installed:AGENT",
    "/evaluations": "evaluations:EVALUATIONS",
    "/evaluations/{run}": "evaluations:EVALUATION",
    "/usage": "explaining:USAGE",
    "/start": "start:WORKFLOWS",
    "/start/{workflow}": "start:START",
}
DOWNLOADS: Final[Mapping[str, str]] = {
    "/threads/{thread}/export": "downloads:export",
    "/threads/{thread}/steps/{step}/files/{path:path}": "downloads:delivered",
}
"""Functions that take a `Visit` and return a `Download`."""


class LateRoute(BaseRoute):
    """A `Route` that is compiled for the first request whose path begins like its own: to compile
    all takes a fiftieth of the start.
    """

    def __init__(
        self, path: str, endpoint: "Callable[[Request], Awaitable[Response]]", method: str = "GET"
    ) -> None:
        self.path = path
        self._endpoint = endpoint
        self._method = method
        self._begin = path.partition("{")[0]

    @cached_property
    def _route(self) -> Route:
        return Route(self.path, self._endpoint, methods=[self._method])

    def matches(self, scope: "Scope") -> "tuple[Match, Scope]":
        """As of `Route`."""
        if scope["type"] != "http" or not scope["path"].startswith(self._begin):
            return Match.NONE, {}
        return self._route.matches(scope)

    async def handle(self, scope: "Scope", receive: "Receive", send: "Send") -> None:
        """As of `Route`."""
        await self._route.handle(scope, receive, send)
