"""Write a request as the JSON of OpenAI's chat completions, as far as this service supports it.

Source: https://platform.openai.com/docs/api-reference/chat/create
"""

import json
from typing import Any

from uwf_core.api.agent import Model, ToolCall
from uwf_core.llm.adapt import Quirks
from uwf_core.llm.arguments import ToolArgumentsError, parse_arguments
from uwf_core.llm.chat import ChatRequest, ChatTool, Message, ResponseFormat
from uwf_core.llm.echo import echo
from uwf_core.named_tuple import NamedTuple


class BodyWriter:
    """Writes the bodies of one client's requests.

    A conversation grows at its end: messages that the previous request began with are not encoded
    again, so the cost of a turn depends only on its new messages. Thread-safe.

    Args:
        model: its `extra` is in each body, below what the request asks for.
        service: names the service with its model, as in `Message.service`.
    """

    def __init__(self, model: Model, service: str) -> None:
        self._model = model
        self._service = service
        self._last = _Sent((), (), b"")

    def body(self, request: ChatRequest, quirks: Quirks, *, stream: bool) -> bytes:
        """The body of a request. Equal requests give equal bytes, and a longer conversation begins
        with the bytes of the shorter one.
        """
        messages, name = self._messages(request.messages, quirks), _encoded(self._model.name)
        rest = _encoded({**self._model.extra, **_rest(request, quirks, stream=stream)})[1:]
        comma = b"" if rest == b"}" else b","
        return b'{"model":%b,"messages":[%b]%b%b' % (name, messages, comma, rest)

    def _messages(self, messages: tuple[Message, ...], quirks: Quirks) -> bytes:
        last, count = self._last, len(self._last.messages)
        form = (quirks.reasoning_back, quirks.unwanted)
        grown = last.form == form and messages[:count] == last.messages
        begun, new = ((last.text,), messages[count:]) if grown and count else ((), messages)
        encoded = (_encoded(_message(each, quirks, self._service)) for each in new)
        text = b",".join((*begun, *encoded))
        self._last = _Sent(messages, form, text)
        return text


class _Sent(NamedTuple):
    """The messages of a request and their encoding; `form` are the quirks that it depends on."""

    messages: tuple[Message, ...]
    form: tuple[Any, ...]
    text: bytes


def _encoded(value: Any) -> bytes:
    # Lone surrogates cannot be sent as UTF-8; as escapes they can.
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    try:
        return text.encode("utf-8")
    except UnicodeEncodeError:
        return json.dumps(value, separators=(",", ":"), allow_nan=False).encode()


def _rest(request: ChatRequest, quirks: Quirks, *, stream: bool) -> dict[str, Any]:
    """Everything except the model and the messages."""
    body: dict[str, Any] = {}
    if request.tools:
        ordered = sorted(request.tools, key=lambda tool: tool.name)
        body["tools"] = [_tool(tool) for tool in ordered]
        body |= _tool_settings(request, quirks)
    if stream:
        body["stream"] = True
        if quirks.stream_options:
            body["stream_options"] = {"include_usage": True}
    form = response_format(request, quirks)
    if form is not None:
        body["response_format"] = _response_format(form, request)
    if request.max_tokens is not None:
        body[quirks.max_tokens] = request.max_tokens
    if request.temperature is not None and quirks.temperature:
        body["temperature"] = request.temperature
    return body


def response_format(request: ChatRequest, quirks: Quirks) -> ResponseFormat | None:
    """The form in which this service gets the schema of a request; None: it gets none."""
    return quirks.response_format if request.schema is not None else None


def _message(message: Message, quirks: Quirks, service: str) -> dict[str, Any]:
    if message.role == "tool":
        return {"role": "tool", "tool_call_id": message.tool_call_id, "content": message.text}
    said: dict[str, Any] = {"role": message.role, "content": message.text}
    if message.role != "assistant":
        return said
    if message.tool_calls:
        said["content"] = message.text or None
        said["tool_calls"] = [_call(call) for call in message.tool_calls]
    if message.extra and message.service == service:
        echo(said, message, quirks.unwanted)
    if message.reasoning and quirks.reasoning_back:
        said.setdefault("reasoning_content", message.reasoning)
    return said


def _call(call: ToolCall) -> dict[str, Any]:
    function = {"name": call.name, "arguments": _arguments(call)}
    return {"id": call.id, "type": "function", "function": function}


def _arguments(call: ToolCall) -> str:
    """The unchanged arguments; invalid ones are wrapped in a JSON object, because several services
    parse them and would reject this conversation permanently.
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


def _tool_settings(request: ChatRequest, quirks: Quirks) -> dict[str, Any]:
    settings: dict[str, Any] = {}
    choice = request.tool_choice
    if choice in ("auto", "none", "required"):
        settings["tool_choice"] = choice
    elif choice is not None:
        settings["tool_choice"] = {"type": "function", "function": {"name": choice}}
    if request.parallel_tool_calls is not None and quirks.parallel_tool_calls:
        settings["parallel_tool_calls"] = request.parallel_tool_calls
    return settings


def _response_format(form: ResponseFormat, request: ChatRequest) -> dict[str, Any]:
    if form == "json_object":
        return {"type": "json_object"}
    schema = {"name": "output", "schema": request.schema, "strict": request.schema_strict}
    return {"type": "json_schema", "json_schema": schema}
