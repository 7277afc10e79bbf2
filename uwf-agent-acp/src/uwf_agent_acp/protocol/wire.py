"""Messages as lines: JSON-RPC 2.0, one object per line of UTF-8. Pure.

Source: https://agentclientprotocol.com/protocol/transports#stdio
"""

import json
from typing import Any, NamedTuple

from uwf_core.api.json_rpc import error_of

NOISE_CHARACTERS = 500

Id = int | float | str | None


class Request(NamedTuple):
    """Wants an answer with the same id."""

    id: Id
    method: str
    params: Any


class Notification(NamedTuple):
    """Wants none."""

    method: str
    params: Any


class Response(NamedTuple):
    """An answer: `error` is None where `result` counts."""

    id: Id
    result: Any
    error: Any = None


class Noise(NamedTuple):
    """A line that is not a message; its beginning, for an error to show."""

    text: str


Message = Request | Notification | Response | Noise


def parse(line: bytes) -> Message:
    """The message of a line. Never raises: what is none is `Noise`."""
    try:
        value = json.loads(line.decode("utf-8", "replace"))
    except (ValueError, RecursionError):
        return _noise(line)
    if not isinstance(value, dict):
        return _noise(line)
    method, id_ = value.get("method"), value.get("id")
    if isinstance(id_, bool) or not isinstance(id_, Id) or (isinstance(id_, float) and id_ % 1):
        return _noise(line)
    if isinstance(method, str):
        params = value.get("params")
        return Notification(method, params) if id_ is None else Request(id_, method, params)
    if method is None and "id" in value and ("result" in value or "error" in value):
        return Response(id_, value.get("result"), error_of(value))
    return _noise(line)


def render(message: Request | Notification | Response) -> bytes:
    """A message as its line, with the line's end."""
    fields: dict[str, Any] = {"jsonrpc": "2.0"}
    match message:
        case Request(id_, method, params):
            fields |= {"id": id_, "method": method, "params": params}
        case Notification(method, params):
            fields |= {"method": method, "params": params}
        case Response(id_, result, None):
            fields |= {"id": id_, "result": result}
        case Response(id_, _, error):
            fields |= {"id": id_, "error": error}
    # ASCII: so no character of a text can be taken for the end of the line.
    return json.dumps(fields).encode("ascii") + b"\n"


def _noise(line: bytes) -> Noise:
    return Noise(line[: 4 * NOISE_CHARACTERS].decode("utf-8", "replace")[:NOISE_CHARACTERS])
