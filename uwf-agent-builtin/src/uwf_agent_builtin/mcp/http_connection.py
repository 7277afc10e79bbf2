"""A server at an address: each request is a POST, answered by JSON or by a stream of events."""

import json
import queue
import threading
import time
from collections.abc import Iterator, Mapping
from typing import Any

import httpx

from uwf_agent_builtin.mcp.connection import PROTOCOL, Deadline, McpError, result_of
from uwf_core.api import AgentInterrupted

_ANSWER_BYTES = 4 * 1024 * 1024
_SESSION = "mcp-session-id"
_WAIT_SECONDS = 0.05


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
        self._next_id = 0

    def request(self, method: str, params: Mapping[str, Any], until: Deadline) -> dict[str, Any]:
        """As `Connection.request`."""
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
            for found in self._post(message, method, seconds):
                if found.get("id") == message["id"] and found.get("method") is None:
                    answer.put(result_of(found, method))
                    return
            answer.put(McpError(f"did not answer {method}"))
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
                    raise McpError(f"answered {method} with HTTP {response.status_code}")
                self._keep_session(response)
                yield from _messages(response, method)
        except httpx.TimeoutException as fault:
            raise McpError(f"did not answer {method} within {seconds:g} s") from fault
        except (httpx.HTTPError, httpx.InvalidURL) as fault:
            what = f"{type(fault).__name__} {fault}".strip()
            raise McpError(f"failed at {method}: {what[:300]}") from fault

    def _keep_session(self, response: httpx.Response) -> None:
        session = response.headers.get(_SESSION)
        if session:
            self._headers[_SESSION] = session
        self._headers["mcp-protocol-version"] = PROTOCOL


def _messages(response: httpx.Response, method: str) -> Iterator[dict[str, Any]]:
    """The messages of an answer: one, or those of its events."""
    is_stream = response.headers.get("content-type", "").startswith("text/event-stream")
    data, size = b"", 0
    for piece in response.iter_bytes():
        size += len(piece)
        data += piece
        if size > _ANSWER_BYTES:
            raise McpError(f"answered {method} with more than {_ANSWER_BYTES} bytes")
        while is_stream and (cut := data.find(b"\n")) >= 0:
            line, data = data[:cut].strip(), data[cut + 1 :]
            if line.startswith(b"data:"):
                yield from _message(line[5:])
    if not is_stream:
        yield from _message(data)


def _message(data: bytes) -> Iterator[dict[str, Any]]:
    try:
        message = json.loads(data)
    except (ValueError, RecursionError):
        return
    if isinstance(message, dict):
        yield message
