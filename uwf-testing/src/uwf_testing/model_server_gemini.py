"""A scripted turn in the format of Gemini's generateContent, whole or as a stream of events.

Source: https://ai.google.dev/api/generate-content
"""

import json
from typing import Any
from urllib.parse import unquote, urlsplit

from uwf_testing.model_server_record import ModelReply, ModelRequest, events, json_reply, pieces
from uwf_testing.model_server_script import ModelError, ModelTurn, ModelUsage

_STATES = {
    400: "INVALID_ARGUMENT",
    401: "UNAUTHENTICATED",
    403: "PERMISSION_DENIED",
    404: "NOT_FOUND",
    429: "RESOURCE_EXHAUSTED",
    503: "UNAVAILABLE",
}
_REASONS = {"length": "MAX_TOKENS", "refusal": "SAFETY"}
_SIGNATURE = "c2NyaXB0"


def error_reply(error: ModelError) -> ModelReply:
    """The error in Google's form."""
    state = error.type or _STATES.get(error.status, "INTERNAL")
    body = {"error": {"code": error.status, "message": error.message, "status": state}}
    return json_reply(body, status=error.status, retry_after=error.retry_after)


def whole_reply(turn: ModelTurn, request: ModelRequest, usage: ModelUsage | None) -> ModelReply:
    """The answer as one document."""
    return json_reply(_document(turn, request, usage, _parts(turn)))


def stream_reply(turn: ModelTurn, request: ModelRequest, usage: ModelUsage | None) -> ModelReply:
    """The answer as server-sent events: each is a document with the next parts."""
    parts = [piece for part in _parts(turn) for piece in _pieces(part)]
    documents = [_document(turn, request, None, [part], ended=False) for part in parts]
    return events([*documents, _document(turn, request, usage, [])])


def _pieces(part: dict[str, Any]) -> list[dict[str, Any]]:
    """A text in several parts; the last one has the signature."""
    texts = pieces(part.get("text", ""))
    if not texts:
        return [part]
    plain = {name: value for name, value in part.items() if name != "thoughtSignature"}
    return [*({**plain, "text": text} for text in texts[:-1]), {**part, "text": texts[-1]}]


def _parts(turn: ModelTurn) -> list[dict[str, Any]]:
    parts: list[dict[str, Any]] = []
    if turn.reasoning:
        parts.append({"text": turn.reasoning, "thought": True})
    if text := turn.whole_text() + turn.refusal:
        parts.append({"text": text})
    for call in turn.tool_calls:
        named = {"name": call.name, "args": _arguments(call.text())}
        parts.append({"functionCall": named if call.id is None else {**named, "id": call.id}})
    if turn.reasoning and len(parts) > 1:
        parts[1]["thoughtSignature"] = _SIGNATURE
    return parts


def _arguments(text: str) -> Any:
    """The arguments, which this protocol can send as an object only."""
    try:
        return json.loads(text)
    except ValueError:
        return {}


def _document(
    turn: ModelTurn,
    request: ModelRequest,
    usage: ModelUsage | None,
    parts: list[dict[str, Any]],
    *,
    ended: bool = True,
) -> dict[str, Any]:
    candidate: dict[str, Any] = {"index": 0, "content": {"role": "model", "parts": parts}}
    if ended:
        reason = turn.stop_reason or ("refusal" if turn.refusal else "")
        candidate["finishReason"] = _REASONS.get(reason, reason or "STOP")
    name = urlsplit(request.path).path.rpartition("/")[2].partition(":")[0]
    document = {
        "candidates": [candidate],
        "modelVersion": unquote(name),
        "responseId": f"scripted-{request.turn}",
    }
    return document if usage is None else {**document, "usageMetadata": _usage(usage)}


def _usage(usage: ModelUsage) -> dict[str, Any]:
    given = usage.input_tokens + usage.cache_read_tokens + usage.cache_write_tokens
    return {
        "promptTokenCount": given,
        "cachedContentTokenCount": usage.cache_read_tokens,
        "candidatesTokenCount": usage.output_tokens,
        "totalTokenCount": given + usage.output_tokens,
    }
