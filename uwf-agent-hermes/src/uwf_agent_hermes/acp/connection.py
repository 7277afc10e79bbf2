"""A connection: requests that wait for their answer while the agent's own messages are served."""

import threading
from collections.abc import Callable, Iterator
from typing import Any, Protocol

from uwf_agent_hermes.acp.errors import (
    INTERNAL_ERROR,
    METHOD_NOT_FOUND,
    BadAnswer,
    ConnectionClosed,
    RpcError,
)
from uwf_agent_hermes.acp.wire import Id, Noise, Notification, Request, Response, parse, render


class Channel(Protocol):
    """What carries the lines: a `uwf_core.api.ChildProgram` that was started with stdin=None."""

    def write(self, data: bytes) -> None:
        """Queue bytes for the agent; called by any thread."""

    def lines(self) -> Iterator[bytes]:
        """The agent's lines as they come, until it closes its output."""


Service = Callable[[dict[str, Any]], Any]
"""Answers a request of the agent: given its params, the result; raises `RpcError`."""


class Connection:
    """JSON-RPC over a channel, by one thread: it reads only while a request is under way.

    Args:
        channel: carries the lines.
        services: what the agent may ask, by method; anything else is answered with -32601.
        on_notification: told method and params of each of the agent's notifications.
    """

    def __init__(
        self,
        channel: Channel,
        services: dict[str, Service],
        on_notification: Callable[[str, dict[str, Any]], None],
    ) -> None:
        self._channel = channel
        self._lines = channel.lines()
        self._services = services
        self._on_notification = on_notification
        self._next_id = 0
        self._noise = ""
        self._writing = threading.Lock()

    def request(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        """The result of a request, {} where it is null; until it comes, the agent is served.

        Raises:
            RpcError: the agent answers with an error.
            BadAnswer: the result is not an object.
            ConnectionClosed: the agent ends before it answers.
        """
        id_, self._next_id = self._next_id, self._next_id + 1
        self._write(Request(id_, method, params))
        response = self._answer_to(id_, method)
        if response.error is not None:
            raise _rpc_error(response.error)
        if response.result is None:
            return {}
        if not isinstance(response.result, dict):
            raise BadAnswer(f"{method} was answered with {response.result!r:.200}, no object")
        return response.result

    def notify(self, method: str, params: dict[str, Any]) -> None:
        """Tell the agent something. May be called by another thread than the one that requests."""
        self._write(Notification(method, params))

    def _answer_to(self, id_: Id, method: str) -> Response:
        for line in self._lines:
            message = parse(line)
            match message:
                case Response():
                    # One with another id is late: nobody waits for it any more.
                    if message.id == id_ and not isinstance(message.id, str):
                        return message
                case Request():
                    self._write(self._served(message))
                case Notification():
                    self._on_notification(message.method, _mapping(message.params))
                case Noise():
                    self._noise = message.text or self._noise
        raise ConnectionClosed(method, self._noise)

    def _served(self, request: Request) -> Response:
        service = self._services.get(request.method)
        if service is None:
            return _refusal(request, RpcError(METHOD_NOT_FOUND, "Method not found"))
        try:
            return Response(request.id, service(_mapping(request.params)))
        except RpcError as error:
            return _refusal(request, error)
        except Exception as error:
            # The agent must not wait for ever for what our own fault keeps from it.
            self._write(_refusal(request, RpcError(INTERNAL_ERROR, "Internal error")))
            raise error

    def _write(self, message: Request | Notification | Response) -> None:
        with self._writing:
            self._channel.write(render(message))


def _refusal(request: Request, error: RpcError) -> Response:
    return Response(request.id, None, {"code": error.code, "message": error.message})


def _rpc_error(error: Any) -> RpcError:
    fields = _mapping(error)
    code, message = fields.get("code"), fields.get("message")
    if not isinstance(code, int) or not isinstance(message, str):
        return RpcError(INTERNAL_ERROR, f"an error of no known form: {error!r:.200}")
    return RpcError(code, message, fields.get("data"))


def _mapping(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}
