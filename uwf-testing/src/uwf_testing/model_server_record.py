"""The requests and replies of the scripted model server."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

Dialect = Literal["openai", "anthropic", "responses", "gemini"]


@dataclass(frozen=True, kw_only=True)
class ModelRequest:
    """A received request.

    Attributes:
        path: with its query, as sent.
        headers: by their lower-case names.
        raw: the body's bytes; `body` its JSON, None if it is not JSON.
        dialect: its format; None if the request does not ask the model for an answer.
        turn: the index of the turn that answered it, in the order they were given; None for a
            side request and everything else that takes no turn.
    """

    method: str
    path: str
    headers: Mapping[str, str]
    raw: bytes = field(repr=False)
    body: Any
    dialect: Dialect | None = None
    turn: int | None = None

    @property
    def messages(self) -> list[Any]:
        """The messages, items of the input or contents; [] without any."""
        return self._list("messages") or self._list("input") or self._list("contents")

    @property
    def tool_names(self) -> list[str]:
        """The names of the tools that the model is offered, in their order."""
        return [name for tool in self._list("tools") for name in _tool_names(tool)]

    @property
    def streams(self) -> bool:
        """Whether it asks for a streamed answer."""
        by_path = ":streamGenerateContent" in self.path
        return by_path or (isinstance(self.body, dict) and self.body.get("stream") is True)

    @property
    def key(self) -> str | None:
        """The key, by whichever header it was sent."""
        bearer = self.headers.get("authorization", "")
        named = self.headers.get("x-api-key") or self.headers.get("x-goog-api-key")
        return named or bearer.removeprefix("Bearer ").strip() or None

    def document(self) -> dict[str, Any]:
        """The request as JSON for a log, without the key."""
        hidden = {"authorization", "x-api-key", "x-goog-api-key"}
        return {
            "method": self.method,
            "path": self.path,
            "headers": {name: text for name, text in self.headers.items() if name not in hidden},
            "body": self.body,
            "turn": self.turn,
        }

    def _list(self, name: str) -> list[Any]:
        found = self.body.get(name) if isinstance(self.body, dict) else None
        return found if isinstance(found, list) else []


@dataclass(frozen=True, kw_only=True)
class ModelReply:
    """An answer: one part is a body with its length, several are the events of a stream."""

    parts: tuple[bytes, ...]
    status: int = 200
    content_type: str = "application/json"
    headers: Mapping[str, str] = field(default_factory=dict)
    streamed: bool = False


def json_reply(body: Any, *, status: int = 200, retry_after: str | None = None) -> ModelReply:
    """A reply of one JSON document."""
    headers = {} if retry_after is None else {"Retry-After": retry_after}
    data = json.dumps(body, ensure_ascii=False).encode("utf-8", "surrogatepass")
    return ModelReply(parts=(data,), status=status, headers=headers)


def pieces(text: str) -> list[str]:
    """A text as a stream delivers it: 24 characters or a fiftieth at a time."""
    size = max(24, len(text) // 50)
    return [text[start : start + size] for start in range(0, len(text), size)]


def parsed(raw: bytes) -> Any:
    """The JSON of a body; None if it is not JSON."""
    try:
        return json.loads(raw)
    except ValueError:
        return None


def events(documents: Iterable[Mapping[str, Any]], *, named: bool = False) -> ModelReply:
    """A stream of documents as server-sent events; `named` by their `type`."""
    parts = []
    for document in documents:
        name = f"event: {document['type']}\n" if named else ""
        parts.append(f"{name}data: {json.dumps(document)}\n\n".encode())
    return ModelReply(parts=tuple(parts), content_type="text/event-stream", streamed=True)


def _tool_names(tool: Any) -> list[str]:
    if not isinstance(tool, dict):
        return [""]
    declared = tool.get("functionDeclarations")
    if isinstance(declared, list):
        return [name for each in declared for name in _tool_names(each)]
    function = tool.get("function")
    named = function if isinstance(function, dict) else tool
    return [str(named.get("name", ""))]
