"""One connection: requests that wait for their answer, over the lines of a program or by HTTP.

What a server sends is hostile input: bounded in size and time, and never trusted.
"""

import json
import queue
import threading
import time
from collections.abc import Mapping
from typing import Any, NamedTuple, Protocol

from uwf_agent_builtin import __version__
from uwf_core.api import (
    FIRST_ID,
    AgentInterrupted,
    Cancel,
    ChildProgram,
    error_of,
    is_answer,
    is_call,
)

PROTOCOL = "2025-06-18"
VERSIONS = ("2024-11-05", "2025-03-26", PROTOCOL, "2025-11-25")
"""The versions in which the few methods used here are the same."""
_METHOD_NOT_FOUND = -32601
_WAIT_SECONDS = 0.1
_QUEUED = 10_000


class McpError(Exception):
    """A server failed; the text is the reason."""


class Deadline(NamedTuple):
    """When to stop waiting: after so many seconds, or when the call is cancelled."""

    seconds: float
    cancel: Cancel


class Connection(Protocol):
    """What a server is asked through."""

    def request(self, method: str, params: Mapping[str, Any], until: Deadline) -> dict[str, Any]:
        """The result of a request.

        Raises:
            McpError: there is none. AgentInterrupted: the call is cancelled.
        """
        ...

    def agree(self, version: str) -> None:
        """Use this version of the protocol from now on."""
        ...

    def notify(self, method: str) -> None:
        """Send a notification without parameters."""
        ...

    def close(self) -> None:
        """End the connection, and the server if it was started for it."""
        ...


class ProgramConnection:
    """A server that is a program: a message is a line of JSON. A thread reads its output."""

    def __init__(self, program: ChildProgram) -> None:
        self._program = program
        self._messages: queue.Queue[dict[str, Any] | None] = queue.Queue(_QUEUED)
        self._next_id = FIRST_ID
        self._odd_id: Any = None
        self._reader = threading.Thread(target=self._read, name="mcp-reader", daemon=True)
        self._reader.start()

    def request(self, method: str, params: Mapping[str, Any], until: Deadline) -> dict[str, Any]:
        """As `Connection.request`; requests of the server are answered meanwhile."""
        id_, self._next_id = self._next_id, self._next_id + 1
        self._send({"id": id_, "method": method, "params": params})
        end, self._odd_id = time.monotonic() + until.seconds, None
        while True:
            message = self._next(method, end, until)
            if is_call(message):
                self._serve(message)
            elif is_answer(message, id_):
                return result_of(message, method)
            else:
                self._odd_id = message.get("id")

    def agree(self, version: str) -> None:
        """Do nothing: the lines are the same in each version."""

    def notify(self, method: str) -> None:
        """Send a notification."""
        self._send({"method": method})

    def close(self) -> None:
        """End the program with everything that it started."""
        self._program.stop()

    def _next(self, method: str, end: float, until: Deadline) -> dict[str, Any]:
        while True:
            if until.cancel.is_set():
                raise AgentInterrupted(f"cancelled: {until.cancel.reason}")
            if time.monotonic() > end:
                raise no_answer(method, f" within {until.seconds:g} s", self._odd_id)
            try:
                message = self._messages.get(timeout=_WAIT_SECONDS)
            except queue.Empty:
                continue
            if message is None:
                self._messages.put(None)  # for the next request
                raise McpError(f"ended before it answered {method}{self._last_words()}")
            return message

    def _serve(self, message: dict[str, Any]) -> None:
        """Answer a request of the server: only a ping is served."""
        if message.get("id") is None:
            return  # a notification
        if message["method"] == "ping":
            self._send({"id": message["id"], "result": {}})
            return
        error = {"code": _METHOD_NOT_FOUND, "message": "Method not found"}
        self._send({"id": message["id"], "error": error})

    def _send(self, message: Mapping[str, Any]) -> None:
        self._program.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")

    def _read(self) -> None:
        for line in self._program.lines():
            try:
                message = json.loads(line)
            except (ValueError, RecursionError):
                continue  # a server that prints something else
            for each in messages_of(message):
                self._messages.put(each)
        self._messages.put(None)

    def _last_words(self) -> str:
        self._program.stop()
        said = self._program.wait().stderr.decode("utf-8", "replace").strip()
        return f": {said.splitlines()[-1][:300]}" if said else ""


def messages_of(value: Any) -> list[dict[str, Any]]:
    """The messages of a JSON value: one, or those of a batch (version 2025-03-26)."""
    return [each for each in (value if isinstance(value, list) else [value]) if type(each) is dict]


def no_answer(method: str, when: str = "", odd_id: Any = None) -> McpError:
    """The error of a request whose answer did not come; `odd_id`: the id of another one."""
    odd = "" if odd_id is None else f"; an answer with the id {odd_id!r:.80} came instead"
    return McpError(f"did not answer {method}{when}{odd}")


def result_of(message: Mapping[str, Any], method: str) -> dict[str, Any]:
    """The result of a response.

    Raises:
        McpError: it is an error, or not an object.
    """
    error = error_of(message)
    if error is not None:
        text = error.get("message") if isinstance(error, Mapping) else None
        raise McpError(f"answered {method} with an error: {text or error!r:.300}"[:600])
    result = message.get("result")
    if not isinstance(result, dict):
        raise McpError(f"answered {method} with {result!r:.100}, not an object")
    return result


def handshake(connection: Connection, until: Deadline) -> None:
    """Begin a session.

    Raises:
        McpError: the server does not, or speaks another version of the protocol.
    """
    params = {
        "protocolVersion": PROTOCOL,
        "capabilities": {},
        "clientInfo": {"name": "uwf-builtin", "version": __version__},
    }
    version = connection.request("initialize", params, until).get("protocolVersion") or PROTOCOL
    if version not in VERSIONS:
        ours = ", ".join(VERSIONS)
        raise McpError(f"speaks version {version!r:.80} of the protocol; uwf speaks {ours}")
    connection.agree(version)
    connection.notify("notifications/initialized")
