"""A scripted turn in the format of OpenAI's chat completions, whole or as a stream of chunks.

Source: https://platform.openai.com/docs/api-reference/chat; `reasoning_content` as DeepSeek,
Kimi, GLM and vLLM send it.
"""

import json
from typing import Any

from uwf_testing.model_server_record import ModelReply, ModelRequest, json_reply, pieces
from uwf_testing.model_server_script import ModelError, ModelTurn, ModelUsage

_TYPES = {
    401: ("invalid_request_error", "invalid_api_key"),
    404: ("invalid_request_error", "model_not_found"),
    429: ("requests", "rate_limit_exceeded"),
}
_CREATED = 1_700_000_000


def error_reply(error: ModelError) -> ModelReply:
    """The error in OpenAI's form."""
    usual = ("server_error", None) if error.status >= 500 else ("invalid_request_error", None)
    type_, code = _TYPES.get(error.status, usual)
    body = {
        "message": error.message,
        "type": error.type or type_,
        "param": None,
        "code": error.code or code,
    }
    return json_reply({"error": body}, status=error.status, retry_after=error.retry_after)


def whole_reply(turn: ModelTurn, request: ModelRequest, usage: ModelUsage | None) -> ModelReply:
    """The answer as one document."""
    message: dict[str, Any] = {"role": "assistant", "content": turn.whole_text() or None}
    message |= turn.extra
    if turn.reasoning:
        message["reasoning_content"] = turn.reasoning
    if turn.refusal:
        message["refusal"] = turn.refusal
    calls = _tool_calls(turn, request)
    if calls:
        message["tool_calls"] = calls
    choice = {"index": 0, "message": message, "finish_reason": _finish_reason(turn)}
    body = {**_head(request, "chat.completion"), "choices": [choice]}
    if usage is not None:
        body["usage"] = _usage(usage)
    return json_reply(body)


def stream_reply(turn: ModelTurn, request: ModelRequest, usage: ModelUsage | None) -> ModelReply:
    """The answer as server-sent events; usage comes last, where the request asks for it."""
    head = _head(request, "chat.completion.chunk")
    deltas: list[dict[str, Any]] = [{"role": "assistant", "content": ""}]
    deltas += [{"reasoning_content": piece} for piece in pieces(turn.reasoning)]
    deltas += [turn.extra] if turn.extra else []
    deltas += [{"content": piece} for piece in pieces(turn.whole_text())]
    deltas += [{"refusal": piece} for piece in pieces(turn.refusal)]
    for index, call in enumerate(_tool_calls(turn, request)):
        deltas += _call_deltas(index, call)
    chunks = [{**head, "choices": [_choice(delta, None)]} for delta in deltas]
    chunks.append({**head, "choices": [_choice({}, _finish_reason(turn))]})
    if usage is not None and _wants_usage(request):
        chunks.append({**head, "choices": [], "usage": _usage(usage)})
    parts = [b"data: " + json.dumps(chunk).encode() + b"\n\n" for chunk in chunks]
    return ModelReply(
        parts=(*parts, b"data: [DONE]\n\n"), content_type="text/event-stream", streamed=True
    )


def _head(request: ModelRequest, kind: str) -> dict[str, Any]:
    body = request.body if isinstance(request.body, dict) else {}
    return {
        "id": f"chatcmpl-{request.turn}",
        "object": kind,
        "created": _CREATED,
        "model": body.get("model", "scripted-model"),
    }


def _choice(delta: dict[str, Any], finish_reason: str | None) -> dict[str, Any]:
    return {"index": 0, "delta": delta, "finish_reason": finish_reason}


def _tool_calls(turn: ModelTurn, request: ModelRequest) -> list[dict[str, Any]]:
    return [
        {
            "id": call.id if call.id is not None else f"call_{request.turn}_{index}",
            "type": "function",
            "function": {"name": call.name, "arguments": call.text()},
            **call.extra,
        }
        for index, call in enumerate(turn.tool_calls)
    ]


def _call_deltas(index: int, call: dict[str, Any]) -> list[dict[str, Any]]:
    """A call as it is streamed: name and id first, then the arguments piece by piece."""
    function = call["function"]
    first = {**call, "index": index, "function": {**function, "arguments": ""}}
    rest = [
        {"index": index, "function": {"arguments": piece}}
        for piece in pieces(function["arguments"])
    ]
    return [{"tool_calls": [delta]} for delta in (first, *rest)]


def _finish_reason(turn: ModelTurn) -> str:
    if turn.stop_reason is not None:
        return turn.stop_reason
    return "tool_calls" if turn.tool_calls else "stop"


def _wants_usage(request: ModelRequest) -> bool:
    options = request.body.get("stream_options")
    return isinstance(options, dict) and options.get("include_usage") is True


def _usage(usage: ModelUsage) -> dict[str, Any]:
    cached = usage.cache_read_tokens
    prompt = usage.input_tokens + cached + usage.cache_write_tokens
    return {
        "prompt_tokens": prompt,
        "completion_tokens": usage.output_tokens,
        "total_tokens": prompt + usage.output_tokens,
        "prompt_tokens_details": {"cached_tokens": cached},
    }
