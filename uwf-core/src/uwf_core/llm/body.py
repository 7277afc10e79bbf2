"""A request as the JSON of OpenAI's chat completions, as far as this service takes it.

Source: https://platform.openai.com/docs/api-reference/chat/create
"""

import json
from typing import Any

from uwf_core.api.agent import ToolCall
from uwf_core.llm.adapt import Manners
from uwf_core.llm.arguments import ToolArgumentsError, parse_arguments
from uwf_core.llm.chat import ChatRequest, ChatTool, Message, ResponseFormat


class BodyWriter:
    """Writes the bodies of one client's requests.

    A conversation grows by its last messages alone: what was sent with the request before is
    not encoded again, so that a turn costs what is new in it. Any number of threads may use it.
    """

    def __init__(self) -> None:
        self._known: _Known = {}

    def body(self, model: str, request: ChatRequest, manners: Manners, *, stream: bool) -> bytes:
        """The body of a request; equal requests are equal bytes, and a longer conversation begins
        with the bytes of the shorter.
        """
        known, used = self._known, _Known()
        for message in request.messages:
            entry = known.get(id(message))
            # The entry holds its message, so the id of one that is there is nobody else's.
            if entry is None or entry[:2] != (message, manners.reasoning_back):
                entry = (message, manners.reasoning_back, _encoded(_message(message, manners)))
            used[id(message)] = entry
        self._known = used
        messages = b",".join(used[id(message)][2] for message in request.messages)
        rest = _encoded(_rest(request, manners, stream=stream))[1:]
        comma = b"" if rest == b"}" else b","
        return b'{"model":%b,"messages":[%b]%b%b' % (_encoded(model), messages, comma, rest)


_Known = dict[int, tuple[Message, bool, bytes]]
"""Messages as they were sent, by their identity: with or without what was thought."""


def _encoded(value: Any) -> bytes:
    # Lone surrogates cannot be sent as UTF-8; as escapes they can.
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    try:
        return text.encode("utf-8")
    except UnicodeEncodeError:
        return json.dumps(value, separators=(",", ":"), allow_nan=False).encode()


def _rest(request: ChatRequest, manners: Manners, *, stream: bool) -> dict[str, Any]:
    """Everything but the model and the messages."""
    body: dict[str, Any] = {}
    if request.tools:
        ordered = sorted(request.tools, key=lambda tool: tool.name)
        body["tools"] = [_tool(tool) for tool in ordered]
        body |= _tool_settings(request, manners)
    if stream:
        body["stream"] = True
        if manners.stream_options:
            body["stream_options"] = {"include_usage": True}
    form = response_format(request, manners)
    if form is not None:
        body["response_format"] = _response_format(form, request)
    if request.max_tokens is not None:
        body[manners.max_tokens] = request.max_tokens
    if request.temperature is not None and manners.temperature:
        body["temperature"] = request.temperature
    return {**body, **request.extra}


def response_format(request: ChatRequest, manners: Manners) -> ResponseFormat | None:
    """How the schema of a request is asked for at this service."""
    return manners.response_format if request.schema is not None else None


def _message(message: Message, manners: Manners) -> dict[str, Any]:
    if message.role == "tool":
        return {"role": "tool", "tool_call_id": message.tool_call_id, "content": message.text}
    said: dict[str, Any] = {"role": message.role, "content": message.text}
    if message.role != "assistant":
        return said
    if message.reasoning and manners.reasoning_back:
        said["reasoning_content"] = message.reasoning
    if message.tool_calls:
        said["content"] = message.text or None
        said["tool_calls"] = [_call(call) for call in message.tool_calls]
    return said


def _call(call: ToolCall) -> dict[str, Any]:
    function = {"name": call.name, "arguments": _arguments(call)}
    return {"id": call.id, "type": "function", "function": function}


def _arguments(call: ToolCall) -> str:
    """The arguments as they came; what is no JSON object is wrapped in one, since several services
    parse what they are given and would refuse this conversation for ever.
    """
    try:
        parse_arguments(call)
    except ToolArgumentsError:
        return json.dumps({"malformed_arguments": call.arguments}, ensure_ascii=False)
    text = call.arguments.strip()
    return "{}" if text in ("", "null") else call.arguments


def _tool(tool: ChatTool) -> dict[str, Any]:
    function = {
        "name": tool.name,
        "description": tool.description,
        "parameters": tool.parameters,
    }
    return {"type": "function", "function": function}


def _tool_settings(request: ChatRequest, manners: Manners) -> dict[str, Any]:
    settings: dict[str, Any] = {}
    choice = request.tool_choice
    if choice in ("auto", "none", "required"):
        settings["tool_choice"] = choice
    elif choice is not None:
        settings["tool_choice"] = {"type": "function", "function": {"name": choice}}
    if request.parallel_tool_calls is not None and manners.parallel_tool_calls:
        settings["parallel_tool_calls"] = request.parallel_tool_calls
    return settings


def _response_format(form: ResponseFormat, request: ChatRequest) -> dict[str, Any]:
    if form == "json_object":
        return {"type": "json_object"}
    schema = {"name": "output", "schema": request.schema, "strict": request.schema_strict}
    return {"type": "json_schema", "json_schema": schema}
