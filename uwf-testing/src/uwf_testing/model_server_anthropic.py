"""A scripted turn in the format of Anthropic's messages, whole or as a stream of events.

Source: https://docs.anthropic.com/en/api/messages and …/messages-streaming.
"""

import json
from typing import Any

from uwf_testing.model_server_record import ModelReply, ModelRequest, events, json_reply, pieces
from uwf_testing.model_server_script import ModelError, ModelTurn, ModelUsage

_TYPES = {
    400: "invalid_request_error",
    401: "authentication_error",
    403: "permission_error",
    404: "not_found_error",
    413: "request_too_large",
    429: "rate_limit_error",
    529: "overloaded_error",
}


def error_reply(error: ModelError) -> ModelReply:
    """The error in Anthropic's form."""
    usual = "api_error" if error.status >= 500 else "invalid_request_error"
    kind = error.type or _TYPES.get(error.status, usual)
    body = {"type": "error", "error": {"type": kind, "message": error.message}}
    return json_reply(body, status=error.status, retry_after=error.retry_after)


def whole_reply(turn: ModelTurn, request: ModelRequest, usage: ModelUsage | None) -> ModelReply:
    """The answer as one document."""
    message = _message(request, usage)
    message["content"] = _blocks(turn, request)
    message["stop_reason"] = _stop_reason(turn)
    if usage is not None:
        message["usage"]["output_tokens"] = usage.output_tokens
    return json_reply(message)


def stream_reply(turn: ModelTurn, request: ModelRequest, usage: ModelUsage | None) -> ModelReply:
    """The answer as server-sent events."""
    told: list[dict[str, Any]] = [
        {"type": "message_start", "message": _message(request, usage)},
        {"type": "ping"},
    ]
    for index, block in enumerate(_blocks(turn, request)):
        told += _block_events(index, block)
    delta = {"stop_reason": _stop_reason(turn), "stop_sequence": None}
    spent = {"output_tokens": usage.output_tokens if usage else 0}
    told.append({"type": "message_delta", "delta": delta, "usage": spent})
    told.append({"type": "message_stop"})
    return events(told, named=True)


def count_reply(request: ModelRequest) -> ModelReply:
    """The answer of `/v1/messages/count_tokens`: a token for four bytes."""
    return json_reply({"input_tokens": len(request.raw) // 4})


def _message(request: ModelRequest, usage: ModelUsage | None) -> dict[str, Any]:
    """The message as it begins; its output tokens are only a start value."""
    used = usage or ModelUsage()
    return {
        "id": f"msg_{request.turn}",
        "type": "message",
        "role": "assistant",
        "model": request.body.get("model", "scripted-model"),
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
        "usage": {
            "input_tokens": used.input_tokens,
            "cache_creation_input_tokens": used.cache_write_tokens,
            "cache_read_input_tokens": used.cache_read_tokens,
            "output_tokens": 1,
        },
    }


def _blocks(turn: ModelTurn, request: ModelRequest) -> list[dict[str, Any]]:
    blocks: list[dict[str, Any]] = []
    if turn.reasoning:
        blocks.append({"type": "thinking", "thinking": turn.reasoning, "signature": "c2NyaXB0"})
    text = turn.whole_text() + turn.refusal
    if text:
        blocks.append({"type": "text", "text": text})
    for index, call in enumerate(turn.tool_calls):
        number = call.id if call.id is not None else f"toolu_{request.turn}_{index}"
        blocks.append(
            {"type": "tool_use", "id": number, "name": call.name, "input": _input(call.text())}
        )
    return blocks


def _input(arguments: str) -> Any:
    """Arguments as a mapping; invalid JSON stays a text."""
    try:
        return json.loads(arguments)
    except ValueError:
        return arguments


def _block_events(index: int, block: dict[str, Any]) -> list[dict[str, Any]]:
    start, deltas = _split(block)
    events = [{"type": "content_block_start", "index": index, "content_block": start}]
    events += [{"type": "content_block_delta", "index": index, "delta": delta} for delta in deltas]
    return [*events, {"type": "content_block_stop", "index": index}]


def _split(block: dict[str, Any]) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """A block as it begins, and the deltas that fill it."""
    if block["type"] == "text":
        deltas = [{"type": "text_delta", "text": piece} for piece in pieces(block["text"])]
        return {"type": "text", "text": ""}, deltas
    if block["type"] == "thinking":
        deltas = [
            {"type": "thinking_delta", "thinking": piece} for piece in pieces(block["thinking"])
        ]
        deltas.append({"type": "signature_delta", "signature": block["signature"]})
        return {"type": "thinking", "thinking": "", "signature": ""}, deltas
    arguments = block["input"]
    text = arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False)
    deltas = [{"type": "input_json_delta", "partial_json": piece} for piece in pieces(text)]
    return {**block, "input": {}}, deltas


def _stop_reason(turn: ModelTurn) -> str:
    if turn.stop_reason is not None:
        return turn.stop_reason
    if turn.refusal:
        return "refusal"
    return "tool_use" if turn.tool_calls else "end_turn"
