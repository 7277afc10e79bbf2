"""A scripted turn in the format of OpenAI's Responses, whole or as a stream of events.

Source: https://platform.openai.com/docs/api-reference/responses and …/responses-streaming.
"""

from collections.abc import Iterator
from typing import Any

from uwf_testing.model_server_openai import error_reply
from uwf_testing.model_server_record import ModelReply, ModelRequest, events, json_reply, pieces
from uwf_testing.model_server_script import ModelTurn, ModelUsage

__all__ = ["error_reply", "stream_reply", "whole_reply"]

_CREATED = 1_700_000_000
_ENCRYPTED = "c2NyaXB0"


def whole_reply(turn: ModelTurn, request: ModelRequest, usage: ModelUsage | None) -> ModelReply:
    """The answer as one document."""
    return json_reply(_response(turn, request, usage, _items(turn, request)))


def stream_reply(turn: ModelTurn, request: ModelRequest, usage: ModelUsage | None) -> ModelReply:
    """The answer as server-sent events, numbered."""
    numbered = (
        {**event, "sequence_number": number}
        for number, event in enumerate(_events(turn, request, usage))
    )
    return events(numbered, named=True)


def _events(
    turn: ModelTurn, request: ModelRequest, usage: ModelUsage | None
) -> Iterator[dict[str, Any]]:
    begun = {**_response(turn, request, None, []), "status": "in_progress"}
    begun["incomplete_details"] = None
    yield {"type": "response.created", "response": begun}
    yield {"type": "response.in_progress", "response": begun}
    items = _items(turn, request)
    for index, item in enumerate(items):
        yield from _item_events(index, item)
    response = _response(turn, request, usage, items)
    yield {"type": f"response.{response['status']}", "response": response}


def _item_events(index: int, item: dict[str, Any]) -> Iterator[dict[str, Any]]:
    place = {"output_index": index, "item_id": item["id"]}
    empty: dict[str, dict[str, Any]] = {
        "message": {"content": []},
        "function_call": {"arguments": ""},
    }
    growing = {**item, **empty.get(item["type"], {"summary": []}), "status": "in_progress"}
    yield {"type": "response.output_item.added", "output_index": index, "item": growing}
    if item["type"] == "function_call":
        kind = "response.function_call_arguments"
        for piece in pieces(item["arguments"]):
            yield {**place, "type": f"{kind}.delta", "delta": piece}
        done = {"name": item["name"], "arguments": item["arguments"]}
        yield {**place, "type": f"{kind}.done", **done}
    elif item["type"] == "reasoning":
        for number, part in enumerate(item["summary"]):
            kind = "response.reasoning_summary_text"
            for piece in pieces(part["text"]):
                yield {**place, "type": f"{kind}.delta", "summary_index": number, "delta": piece}
    else:
        for number, part in enumerate(item["content"]):
            yield from _content_events({**place, "content_index": number}, part)
    yield {"type": "response.output_item.done", "output_index": index, "item": item}


def _content_events(place: dict[str, Any], part: dict[str, Any]) -> Iterator[dict[str, Any]]:
    key = "text" if "text" in part else "refusal"
    more: dict[str, Any] = {"logprobs": []} if key == "text" else {}
    kind = "response.output_text" if key == "text" else "response.refusal"
    yield {**place, "type": "response.content_part.added", "part": {**part, key: ""}}
    for piece in pieces(part[key]):
        yield {**place, "type": f"{kind}.delta", "delta": piece, **more}
    yield {**place, "type": f"{kind}.done", key: part[key], **more}
    yield {**place, "type": "response.content_part.done", "part": part}


def _items(turn: ModelTurn, request: ModelRequest) -> list[dict[str, Any]]:
    items: list[dict[str, Any]] = []
    if turn.reasoning:
        summary = [{"type": "summary_text", "text": turn.reasoning}]
        reasoning = {"id": f"rs_{request.turn}", "type": "reasoning", "summary": summary}
        items.append({**reasoning, "encrypted_content": _ENCRYPTED})
    content: list[dict[str, Any]] = []
    if text := turn.whole_text():
        content.append({"type": "output_text", "text": text, "annotations": [], "logprobs": []})
    if turn.refusal:
        content.append({"type": "refusal", "refusal": turn.refusal})
    if content:
        message = {"id": f"msg_{request.turn}", "type": "message", "role": "assistant"}
        items.append({**message, "status": "completed", "content": content})
    for index, call in enumerate(turn.tool_calls):
        called = {"id": f"fc_{request.turn}_{index}", "type": "function_call", "name": call.name}
        number = call.id if call.id is not None else f"call_{request.turn}_{index}"
        done = {"call_id": number, "arguments": call.text(), "status": "completed"}
        items.append({**called, **done, **call.extra})
    return items


def _response(
    turn: ModelTurn, request: ModelRequest, usage: ModelUsage | None, output: list[dict[str, Any]]
) -> dict[str, Any]:
    reason = {"length": "max_output_tokens"}.get(turn.stop_reason or "", turn.stop_reason)
    body = request.body
    return {
        "id": f"resp_{request.turn}",
        "object": "response",
        "created_at": _CREATED,
        "status": "incomplete" if reason else "completed",
        "error": None,
        "incomplete_details": {"reason": reason} if reason else None,
        "instructions": body.get("instructions"),
        "metadata": {},
        "model": body.get("model", "scripted-model"),
        "output": output,
        "parallel_tool_calls": True,
        "temperature": 1.0,
        "tool_choice": body.get("tool_choice", "auto"),
        "tools": body.get("tools", []),
        "top_p": 1.0,
        "usage": None if usage is None else _usage(usage),
    }


def _usage(usage: ModelUsage) -> dict[str, Any]:
    cached = usage.cache_read_tokens
    given = usage.input_tokens + cached + usage.cache_write_tokens
    return {
        "input_tokens": given,
        "input_tokens_details": {"cached_tokens": cached, "cache_write_tokens": 0},
        "output_tokens": usage.output_tokens,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": given + usage.output_tokens,
    }
