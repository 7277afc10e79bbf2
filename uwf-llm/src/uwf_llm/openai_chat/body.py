"""Write a request as the JSON of OpenAI's chat completions, as far as this service supports it.

Source: https://platform.openai.com/docs/api-reference/chat/create
"""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from uwf_core.api.agent import Model, ToolCall
from uwf_llm.chat import ChatRequest, ChatTool, Image, Message, ResponseFormat
from uwf_llm.encoding import encoded, sent_arguments, sorted_tools
from uwf_llm.openai_chat.adapt import Quirks
from uwf_llm.openai_chat.echo import echo

_OF_RESULTS = "[images of the results above]"


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
        messages, name = self._messages(request.messages, quirks), encoded(self._model.name)
        rest = encoded({**self._model.extra, **_rest(request, quirks, stream=stream)})[1:]
        comma = b"" if rest == b"}" else b","
        return b'{"model":%b,"messages":[%b]%b%b' % (name, messages, comma, rest)

    def _messages(self, messages: tuple[Message, ...], quirks: Quirks) -> bytes:
        last, count = self._last, len(self._last.messages)
        form = (quirks.reasoning_back, quirks.unwanted)
        grown = last.form == form and messages[:count] == last.messages
        # Images of results stand after the last result, so a result that is added moves them.
        grown = grown and not any(each.role == "tool" for each in messages[count : count + 1])
        begun, new = ((last.text,), messages[count:]) if grown and count else ((), messages)
        added = (encoded(said) for said in _said(new, quirks, self._service))
        text = b",".join((*begun, *added))
        self._last = _Sent(messages, form, text)
        return text


class _Sent(NamedTuple):
    """The messages of a request and their encoding; `form` are the quirks that it depends on."""

    messages: tuple[Message, ...]
    form: tuple[Any, ...]
    text: bytes


def _rest(request: ChatRequest, quirks: Quirks, *, stream: bool) -> dict[str, Any]:
    """Everything except the model and the messages."""
    body: dict[str, Any] = {}
    if request.tools:
        body["tools"] = [_tool(tool) for tool in sorted_tools(request.tools)]
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


def _said(messages: Sequence[Message], quirks: Quirks, service: str) -> Iterator[dict[str, Any]]:
    """The messages; a result of a tool cannot hold images, so they follow the results."""
    images: list[Image] = []
    for message in messages:
        if images and message.role != "tool":
            yield _with_images(_OF_RESULTS, images)
            images = []
        yield _message(message, quirks, service)
        images += message.images if message.role == "tool" else ()
    if images:
        yield _with_images(_OF_RESULTS, images)


def _with_images(text: str, images: Sequence[Image]) -> dict[str, Any]:
    said = [{"type": "text", "text": text}] if text else []
    shown = [{"type": "image_url", "image_url": {"url": image.url()}} for image in images]
    return {"role": "user", "content": [*said, *shown]}


def _message(message: Message, quirks: Quirks, service: str) -> dict[str, Any]:
    if message.role == "tool":
        return {"role": "tool", "tool_call_id": message.tool_call_id, "content": message.text}
    if message.role == "user" and message.images:
        return _with_images(message.text, message.images)
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
    function = {"name": call.name, "arguments": sent_arguments(call)}
    return {"id": call.id, "type": "function", "function": function}


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
