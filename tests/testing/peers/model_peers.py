"""A client of the scripted server that shares no code with it: http.client alone."""

import json
from http.client import HTTPConnection
from typing import Any, NamedTuple

NONE = {"type": "object", "properties": {}}
TOOL = {"type": "function", "function": {"name": "read_file", "parameters": NONE}}


class Said(NamedTuple):
    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    @property
    def events(self) -> list[Any]:
        """The data of each event; `[DONE]` as it is."""
        lines = [line[6:] for line in self.body.decode().splitlines() if line.startswith("data: ")]
        return [line if line == "[DONE]" else json.loads(line) for line in lines]


def ask(model, path, body=None, *, method=None, headers=None, seconds=30.0) -> Said:
    """Send one request and read the whole answer."""
    connection = HTTPConnection("127.0.0.1", model.port, timeout=seconds)
    try:
        data = body if isinstance(body, bytes | None) else json.dumps(body).encode()
        connection.request(method or ("GET" if body is None else "POST"), path, data, headers or {})
        with connection.getresponse() as response:
            names = {name.lower(): text for name, text in response.getheaders()}
            return Said(response.status, names, response.read())
    finally:
        connection.close()


def openai(model, *, tools=True, **keys) -> Said:
    body = {"model": "m", "messages": [{"role": "user", "content": "hi"}], **keys}
    return ask(model, "/v1/chat/completions", body | ({"tools": [TOOL]} if tools else {}))


def anthropic(model, *, tools=True, **keys) -> Said:
    body = {"model": "m", "max_tokens": 9, "messages": [{"role": "user", "content": "hi"}], **keys}
    tool = {"name": "read_file", "input_schema": {"type": "object"}}
    return ask(model, "/v1/messages?beta=true", body | ({"tools": [tool]} if tools else {}))
