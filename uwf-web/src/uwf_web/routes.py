"""The URLs: of each page its path and the `Page` that it shows, imported on its first request.

A page module holds a `Page`; its name here is `module:attribute` below `uwf_web.pages`.
"""

import re
from collections.abc import Awaitable, Callable, Iterable, Mapping
from functools import cached_property
from typing import Final, NamedTuple, TypeAlias

from uwf_web.exchange import AnyAnswer, Request

Endpoint: TypeAlias = Callable[[Request], Awaitable[AnyAnswer]]

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


class Found(NamedTuple):
    """The route of a request, and the parts of the path that it names."""

    route: "Route"
    words: Mapping[str, str]


class Route:
    """A URL with what answers it: `{name}` is a part of the path, `{name:path}` the rest of it.

    It is compiled for the first request whose path begins like it: to compile all takes a fiftieth
    of the start.
    """

    def __init__(self, path: str, endpoint: Endpoint, method: str = "GET") -> None:
        self.path = path
        self.endpoint = endpoint
        self.methods = ("GET", "HEAD") if method == "GET" else (method,)
        self._begin, has_words, _ = path.partition("{")
        self._is_fixed = not has_words

    @cached_property
    def _pattern(self) -> "re.Pattern[str]":
        found = ""
        for at, part in enumerate(re.split(r"\{(\w+(?::path)?)\}", self.path)):
            name, _, kind = part.partition(":")
            found += f"(?P<{name}>{'.*' if kind else '[^/]+'})" if at % 2 else re.escape(part)
        return re.compile(found, re.DOTALL)

    def words_of(self, path: str) -> Mapping[str, str] | None:
        """The parts of a path that this route names; None: it is another route's."""
        if self._is_fixed:
            return {} if path == self.path else None
        found = self._pattern.fullmatch(path) if path.startswith(self._begin) else None
        return None if found is None else found.groupdict()


def find_route(routes: Iterable[Route], path: str, method: str) -> Found | int:
    """The first route of a path that has this method; else the status 404 or 405."""
    status = 404
    for route in routes:
        words = route.words_of(path)
        if words is not None and method in route.methods:
            return Found(route, words)
        status = status if words is None else 405
    return status
