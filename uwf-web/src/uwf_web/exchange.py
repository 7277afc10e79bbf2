"""A request and what answers it, directly on ASGI: a framework would take a tenth of the start."""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, MutableMapping
from functools import cached_property
from typing import Any, NamedTuple, TypeAlias
from urllib.parse import parse_qsl, quote

from uwf_core.errors import UsageError

Scope: TypeAlias = MutableMapping[str, Any]
Message: TypeAlias = MutableMapping[str, Any]
Receive: TypeAlias = Callable[[], Awaitable[Message]]
Send: TypeAlias = Callable[[Message], Awaitable[None]]

HTML = "text/html; charset=utf-8"
JSON = "application/json"
_OF_URLS = ":/%#?=@[]!$&'()*+,;"
"""What a URL may hold and is not escaped in a header."""


class Request:
    """A request.

    Args:
        scope: what ASGI says of it, and the guard: `session`, `csrf`, `warning`.
        receive: the parts of its body.
    """

    def __init__(self, scope: Scope, receive: Receive) -> None:
        self.scope = scope
        self.method: str = scope["method"]
        self.path: str = scope["path"]
        self.route = ""
        self.words: Mapping[str, str] = {}
        """The path of the route, with names, and what this request has in their places."""
        self._receive = receive

    @cached_property
    def headers(self) -> dict[str, str]:
        """The headers by their names in lower case."""
        return headers_of(self.scope)

    @property
    def query_string(self) -> str:
        """The query as it was sent."""
        return str(self.scope["query_string"].decode("latin-1"))

    @cached_property
    def query(self) -> dict[str, str]:
        """The last value of each name of the query."""
        return dict(parse_qsl(self.query_string, keep_blank_values=True))

    async def body(self) -> AsyncIterator[bytes]:
        """The parts of the body as they arrive.

        Raises:
            UsageError: the browser has gone before its end.
        """
        is_complete = False
        while not is_complete:
            message = await self._receive()
            if message["type"] == "http.disconnect":
                raise UsageError("the form has not arrived to its end")
            yield message.get("body", b"")
            is_complete = not message.get("more_body", False)


class Answer(NamedTuple):
    """An answer: its body at once, the media type if it has a body, and its other headers."""

    body: bytes = b""
    type: str | None = None
    status: int = 200
    headers: Mapping[str, str] = {}

    async def send(self, _receive: Receive, send: Send) -> None:
        """Send it."""
        headers = {**self.headers}
        if self.type is not None:
            headers["content-type"] = self.type
        if self.status != 304:
            headers["content-length"] = str(len(self.body))
        await send(_start(self.status, headers))
        await send({"type": "http.response.body", "body": self.body})


class EventStream(NamedTuple):
    """Server-sent events, until they end or the browser has gone; `leave` is called then."""

    events: AsyncIterator[bytes]
    leave: Callable[[], None]

    async def send(self, receive: Receive, send: Send) -> None:
        """Send the events."""
        tasks = [asyncio.ensure_future(each) for each in (self._send(send), _until_gone(receive))]
        try:
            await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            if tasks[0].done():
                tasks[0].result()
        finally:
            for each in tasks:
                each.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            self.leave()

    async def _send(self, send: Send) -> None:
        headers = {"cache-control": "no-store", "x-accel-buffering": "no"}
        await send(_start(200, {**headers, "content-type": "text/event-stream; charset=utf-8"}))
        async for event in self.events:
            await send({"type": "http.response.body", "body": event, "more_body": True})
        await send({"type": "http.response.body", "body": b""})


AnyAnswer: TypeAlias = Answer | EventStream


def json_answer(document: Any, status: int = 200, headers: Mapping[str, str] = {}) -> Answer:
    """A document."""
    text = json.dumps(document, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return Answer(text.encode(), JSON, status, headers)


def redirect(url: str, status: int = 303) -> Answer:
    """Lead to another URL of this server."""
    return Answer(status=status, headers={"location": quote(url, safe=_OF_URLS)})


async def no_events() -> AsyncIterator[bytes]:
    """What a stream sends to somebody who only asks for its headers."""
    nothing: tuple[bytes, ...] = ()
    for each in nothing:
        yield each


def headers_of(scope: Scope) -> dict[str, str]:
    """The headers by name; one that occurs twice has no value that could match."""
    found: dict[str, str] = {}
    for name, value in scope["headers"]:
        key = name.decode("latin-1")
        text = value.decode("latin-1")
        found[key] = f"{found[key]}, {text}" if key in found else text
    return found


def _start(status: int, headers: Mapping[str, str]) -> Message:
    lines = [(name.encode("latin-1"), value.encode("latin-1")) for name, value in headers.items()]
    return {"type": "http.response.start", "status": status, "headers": lines}


async def _until_gone(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
