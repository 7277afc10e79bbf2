"""Write a request as the JSON of OpenAI's Responses.

Source: https://platform.openai.com/docs/api-reference/responses. Nothing is stored at the service:
the whole conversation is sent each time, and reasoning in encrypted form.
"""

from collections.abc import Iterator
from typing import Any

from uwf_core.api.agent import Model
from uwf_llm.chat import ChatRequest, ChatTool, Message
from uwf_llm.encoding import encoded, merged, sent_arguments, sorted_tools
from uwf_llm.layout import parts_of
from uwf_llm.openai_responses.quirks import ResponsesQuirks

ITEMS = "items"
"""The key of the layout in `Message.extra`."""


def body(
    request: ChatRequest, model: Model, service: str, quirks: ResponsesQuirks, stream: bool
) -> bytes:
    """The body of a request. Equal requests give equal bytes."""
    ours: dict[str, Any] = {"model": model.name, "store": False}
    if quirks.encrypted:
        ours["include"] = ["reasoning.encrypted_content"]
    system = "\n\n".join(each.text for each in request.messages if each.role == "system")
    if system:
        ours["instructions"] = system
    if request.tools:
        ours["tools"] = [_tool(tool) for tool in sorted_tools(request.tools)]
        ours |= _tool_settings(request, quirks)
    back = service if quirks.reasoning_back else None
    ours["input"] = [item for each in request.messages for item in _items(each, back)]
    if request.schema is not None and quirks.response_format is not None:
        ours["text"] = {"format": _format(request, quirks.response_format)}
    if request.max_tokens is not None:
        ours["max_output_tokens"] = request.max_tokens
    if request.temperature is not None and quirks.temperature:
        ours["temperature"] = request.temperature
    if stream:
        ours["stream"] = True
    return encoded(merged(model.extra, ours))


def _items(message: Message, service: str | None) -> Iterator[dict[str, Any]]:
    if message.role == "tool":
        output = _content(message) if message.images else message.text
        call_id = message.tool_call_id or ""
        yield {"type": "function_call_output", "call_id": call_id, "output": output}
    elif message.role == "user":
        content = _content(message) if message.images else message.text
        yield {"role": "user", "content": content}
    elif message.role == "assistant":
        yield from _said(message, service)


def _said(message: Message, service: str | None) -> Iterator[dict[str, Any]]:
    layout = message.extra.get(ITEMS) if message.service == service else None
    for kind, part, fields in parts_of(message, layout):
        if kind == "raw":
            yield part
        elif kind == "text":
            yield {**fields, "role": "assistant", "content": part}
        else:
            named = {"call_id": part.id, "name": part.name, "arguments": sent_arguments(part)}
            yield {**fields, "type": "function_call", **named}


def _content(message: Message) -> list[dict[str, Any]]:
    text = [{"type": "input_text", "text": message.text}] if message.text else []
    images = [{"type": "input_image", "image_url": image.url()} for image in message.images]
    return [*text, *({**image, "detail": "auto"} for image in images)]


def _tool(tool: ChatTool) -> dict[str, Any]:
    return {
        "type": "function",
        "name": tool.name,
        "description": tool.description,
        "parameters": tool.parameters,
        "strict": False,  # its subset of JSON Schema is not ours
    }


def _tool_settings(request: ChatRequest, quirks: ResponsesQuirks) -> dict[str, Any]:
    settings: dict[str, Any] = {}
    choice = request.tool_choice
    if choice in ("auto", "none", "required"):
        settings["tool_choice"] = choice
    elif choice is not None:
        settings["tool_choice"] = {"type": "function", "name": choice}
    if request.parallel_tool_calls is not None and quirks.parallel_tool_calls:
        settings["parallel_tool_calls"] = request.parallel_tool_calls
    return settings


def _format(request: ChatRequest, form: str) -> dict[str, Any]:
    if form == "json_object":
        return {"type": "json_object"}
    strict = request.schema_strict
    return {"type": "json_schema", "name": "output", "schema": request.schema, "strict": strict}
