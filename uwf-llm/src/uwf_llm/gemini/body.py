"""Write a request as the JSON of Gemini's generateContent.

Source: https://ai.google.dev/api/generate-content
"""

from collections.abc import Iterator, Sequence
from typing import Any

from uwf_core.api.agent import Model
from uwf_llm.chat import ChatRequest, ChatTool, Message
from uwf_llm.encoding import arguments_object, encoded, merged, sorted_tools
from uwf_llm.layout import parts_of

PARTS = "parts"
"""The key of the layout in `Message.extra`."""
_MODES = {"auto": "AUTO", "none": "NONE", "required": "ANY"}


def body(request: ChatRequest, model: Model, service: str, *, schema: bool) -> bytes:
    """The body of a request. Equal requests give equal bytes.

    Args:
        request: the request. model: with its `extra`. service: as in `Message.service`.
        schema: whether the service supports structured output.
    """
    ours: dict[str, Any] = {"contents": _contents(request.messages, service)}
    system = "\n\n".join(each.text for each in request.messages if each.role == "system")
    if system:
        ours["systemInstruction"] = {"parts": [{"text": system}]}
    if request.tools:
        declared = [_declaration(tool) for tool in sorted_tools(request.tools)]
        ours["tools"] = [{"functionDeclarations": declared}]
        if request.tool_choice is not None:
            ours["toolConfig"] = {"functionCallingConfig": _choice(request.tool_choice)}
    settings = _settings(request, schema=schema)
    if settings:
        ours["generationConfig"] = settings
    return encoded(merged(model.extra, ours))


def _settings(request: ChatRequest, *, schema: bool) -> dict[str, Any]:
    settings: dict[str, Any] = {}
    if request.max_tokens is not None:
        settings["maxOutputTokens"] = request.max_tokens
    if request.temperature is not None:
        settings["temperature"] = request.temperature
    if request.schema is not None and schema:
        settings["responseMimeType"] = "application/json"
        settings["responseJsonSchema"] = request.schema
    return settings


def _contents(messages: Sequence[Message], service: str) -> list[dict[str, Any]]:
    """The turns; what follows each other from the same side is one."""
    names = {call.id: call.name for each in messages for call in each.tool_calls}
    turns: list[dict[str, Any]] = []
    for message in messages:
        if message.role == "system":
            continue
        role = "model" if message.role == "assistant" else "user"
        made = _said(message, service) if role == "model" else _given(message, names)
        parts = list(made)
        if turns and turns[-1]["role"] == role:
            turns[-1]["parts"] += parts
        else:
            turns.append({"role": role, "parts": parts})
    return turns


def _given(message: Message, names: dict[str, str]) -> Iterator[dict[str, Any]]:
    if message.role == "tool":
        number = message.tool_call_id or ""
        response: dict[str, Any] = {"name": names.get(number, number), "id": number}
        yield {"functionResponse": {**response, "response": {"output": message.text}}}
    else:
        yield {"text": message.text}
    for image in message.images:
        yield {"inlineData": {"mimeType": image.media_type, "data": image.base64()}}


def _said(message: Message, service: str) -> Iterator[dict[str, Any]]:
    layout = message.extra.get(PARTS) if message.service == service else None
    spoken = False
    for kind, part, fields in parts_of(message, layout):
        spoken = True
        if kind == "raw":
            yield part
        elif kind == "text":
            yield {**fields, "text": part}
        else:
            call = {"id": part.id, "name": part.name, "args": arguments_object(part)}
            yield {**fields, "functionCall": call}
    if not spoken:
        yield {"text": ""}


def _declaration(tool: ChatTool) -> dict[str, Any]:
    named = {"name": tool.name, "description": tool.description}
    return {**named, "parametersJsonSchema": tool.parameters}


def _choice(choice: str) -> dict[str, Any]:
    if choice in _MODES:
        return {"mode": _MODES[choice]}
    return {"mode": "ANY", "allowedFunctionNames": [choice]}
