"""A server at an address: each request is a POST, answered by JSON or by a stream of events."""

import json
import queue
import re
import threading
import time
from collections.abc import Iterator, Mapping
from typing import Any

import httpx

from uwf_agent_builtin.mcp.connection import (
    Deadline,
    McpError,
    handshake,
    messages_of,
    no_answer,
    result_of,
)
from uwf_core.api import FIRST_ID, AgentInterrupted, is_answer, is_call
from uwf_llm.sse import SseParser

_ANSWER_BYTES = 4 * 1024 * 1024
_SESSION, _VERSION = "mcp-session-id", "mcp-protocol-version"
_NO_SESSION = re.compile(rb"session", re.IGNORECASE)
_WAIT_SECONDS = 0.05
_SAID_BYTES = 300


class _SessionEnded(McpError):
    """The server does not know the session of a request, which it has not processed."""


class HttpConnection:
    """A server by HTTP.

    Args:
        url: its address. token: sent as a bearer token, if there is one.
    """

    def __init__(self, url: str, token: str | None) -> None:
        self._url = url
        self._client = httpx.Client(follow_redirects=False, trust_env=False)
        self._headers = {
            "accept": "application/json, text/event-stream",
            "content-type": "application/json",
        }
        if token:
            self._headers["authorization"] = f"Bearer {token}"
        self._next_id = FIRST_ID

    def request(self, method: str, params: Mapping[str, Any], until: Deadline) -> dict[str, Any]:
        """As `Connection.request`. If the server has ended the session, such as by a restart, the
        request is repeated once, in a new one.
        """
        try:
            return self._request(method, params, until)
        except _SessionEnded:
            for name in (_SESSION, _VERSION):
                self._headers.pop(name, None)
            handshake(self, until)
            return self._request(method, params, until)

    def _request(self, method: str, params: Mapping[str, Any], until: Deadline) -> dict[str, Any]:
        id_, self._next_id = self._next_id, self._next_id + 1
        message = {"id": id_, "method": method, "params": params}
        # A thread waits for the server, so that this one can stop waiting.
        answer: queue.Queue[dict[str, Any] | McpError] = queue.Queue()
        arguments = (message, method, until.seconds, answer)
        threading.Thread(target=self._fetch, args=arguments, daemon=True).start()
        end = time.monotonic() + until.seconds
        while True:
            try:
                found = answer.get(timeout=_WAIT_SECONDS)
                break
            except queue.Empty:
                self._check(end, method, until)
        if isinstance(found, McpError):
            raise found
        return found

    def agree(self, version: str) -> None:
        """Name the version in each request."""
        self._headers[_VERSION] = version

    def notify(self, method: str) -> None:
        """Send a notification; its answer has no content."""
        body = {"jsonrpc": "2.0", "method": method}
        try:
            self._client.post(self._url, json=body, headers=self._headers, timeout=10)
        except httpx.HTTPError as fault:
            raise McpError(f"cannot be reached: {fault}") from fault

    def close(self) -> None:
        """Close the connections."""
        self._client.close()

    def _check(self, end: float, method: str, until: Deadline) -> None:
        if until.cancel.is_set():
            self._client.close()
            raise AgentInterrupted(f"cancelled: {until.cancel.reason}")
        if time.monotonic() > end:
            self._client.close()
            raise McpError(f"did not answer {method} within {until.seconds:g} s")

    def _fetch(
        self,
        message: Mapping[str, Any],
        method: str,
        seconds: float,
        answer: "queue.Queue[dict[str, Any] | McpError]",
    ) -> None:
        try:
            odd_id = None
            for found in self._post(message, method, seconds):
                if is_answer(found, message["id"]):
                    answer.put(result_of(found, method))
                    return
                odd_id = odd_id if is_call(found) else found.get("id")
            answer.put(no_answer(method, odd_id=odd_id))
        except McpError as fault:
            answer.put(fault)
        except Exception as fault:  # the connection was closed meanwhile
            answer.put(McpError(f"failed at {method}: {fault}"))

    def _post(
        self, message: Mapping[str, Any], method: str, seconds: float
    ) -> Iterator[dict[str, Any]]:
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        try:
            with self._client.stream(
                "POST", self._url, content=body, headers=self._headers, timeout=seconds
            ) as response:
                if response.status_code != httpx.codes.OK:
                    raise self._rejection(response, method)
                session = response.headers.get(_SESSION)
                if session:
                    self._headers[_SESSION] = session
                yield from _messages(response, method)
        except httpx.TimeoutException as fault:
            raise McpError(f"did not answer {method} within {seconds:g} s") from fault
        except (httpx.HTTPError, httpx.InvalidURL) as fault:
            what = f"{type(fault).__name__} {fault}".strip()
            raise McpError(f"failed at {method}: {what[:300]}") from fault

    def _rejection(self, response: httpx.Response, method: str) -> McpError:
        status, said = response.status_code, b""
        for piece in response.iter_bytes():
            said += piece
            if len(said) > _SAID_BYTES:
                break
        # The protocol has 404 for this; servers made after an example of its SDK answer 400.
        is_unknown = status == 404 or (status == 400 and _NO_SESSION.search(said))
        words = " ".join(said.decode("utf-8", "replace").split())[:_SAID_BYTES]
        error = f"answered {method} with HTTP {status}" + (f": {words}" if words else "")
        return (_SessionEnded if is_unknown and _SESSION in self._headers else McpError)(error)


def _messages(response: httpx.Response, method: str) -> Iterator[dict[str, Any]]:
    """The messages of an answer: one, or those of its events. Its first bytes decide which."""
    events, is_json, data, size = SseParser(), None, b"", 0
    for piece in response.iter_bytes():
        size += len(piece)
        if size > _ANSWER_BYTES:
            raise McpError(f"answered {method} with more than {_ANSWER_BYTES} bytes")
        data += piece
        if is_json is None and data.strip():
            is_json = data.lstrip(b"\xef\xbb\xbf \t\r\n")[:1] in (b"{", b"[")
        if is_json is False:
            for event in events.feed(data):
                yield from _message(event.data)
            data = b""
    for event in events.finish():
        yield from _message(event.data)
    yield from _message(data)


def _message(data: bytes | str) -> list[dict[str, Any]]:
    try:
        return messages_of(json.loads(data))
    except (ValueError, RecursionError):
        return []
