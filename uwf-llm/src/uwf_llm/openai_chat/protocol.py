"""OpenAI's chat completions as a protocol of models, as far as a service supports them.

Source: https://platform.openai.com/docs/api-reference/chat/create
"""

import re
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from uwf_core.api.models import Model
from uwf_llm.chat import ChatRequest, Image, Message
from uwf_llm.encoding import encoded, given, merged, sent_arguments
from uwf_llm.openai import OpenaiProtocol
from uwf_llm.openai_chat.echo import echo, names_of_extra
from uwf_llm.openai_chat.reply import ChatReader
from uwf_llm.protocol import WireRequest
from uwf_llm.quirks import PARALLEL_CALLS, TEMPERATURE, Quirk, schema_quirk

_FORMAT = r"response_?format|json_?schema|json_?object|structured output"
_WANTS_REASONING = (
    r"(missing|must|required|need)[^.]{0,80}reasoning_content|reasoning_content[^.]{0,80}"
    r"(missing|must be|required|need)"
)
_OF_RESULTS = "[images of the results above]"


class OpenaiChat(OpenaiProtocol):
    """Chat completions, with what a service turns out not to support left out.

    A conversation grows at its end: messages that the previous request began with are not encoded
    again, so the cost of a turn depends only on its new messages.

    Attributes:
        unwanted: fields that the service sends and does not accept back.
    """

    quirks = (
        schema_quirk(_FORMAT, "json_schema", "json_object"),
        # Without it the usage of a stream is unknown.
        Quirk("stream_options", "stream_options", lambda _, stream: stream),
        Quirk(
            "max_tokens",
            "max_completion_tokens",
            lambda request, _: request.max_tokens is not None,
            ("max_tokens", "max_completion_tokens"),
        ),
        TEMPERATURE,
        PARALLEL_CALLS,
        # DeepSeek and Kimi, with tools, require it also of messages that they did not send.
        Quirk(
            "all_reasoning",
            _WANTS_REASONING,
            lambda request, _: any(each.reasoning for each in request.messages),
            (False, True),
        ),
    )
    reads = ChatReader

    def __init__(self, model: Model, service: str) -> None:
        super().__init__(model, service)
        self.unwanted: frozenset[str] = frozenset()
        self._last = _Sent((), (), b"")

    def path(self, *, stream: bool) -> str:
        """The path of both kinds of requests."""
        del stream
        return "/chat/completions"

    def request(self, request: ChatRequest, *, stream: bool) -> WireRequest:
        """The request; a longer conversation begins with the bytes of the shorter one."""
        messages, name = self._messages(request.messages), encoded(self.model.name)
        rest = encoded(merged(self.model.extra, self.body(request, stream=stream)))[1:]
        comma = b"" if rest == b"}" else b","
        body = b'{"model":%b,"messages":[%b]%b%b' % (name, messages, comma, rest)
        return WireRequest(self.path(stream=stream), body)

    def body(self, request: ChatRequest, *, stream: bool) -> dict[str, Any]:
        """Everything except the model and the messages."""
        limit = {} if request.max_tokens is None else {self.sent["max_tokens"]: request.max_tokens}
        usage = stream and self.sent["stream_options"]
        return given(
            **self.tools(request),
            stream=stream or None,
            stream_options={"include_usage": True} if usage else None,
            response_format=self.format(request),
            **limit,
            temperature=self.accepted(request, "temperature"),
        )

    @staticmethod
    def tagged(kind: str, fields: dict[str, Any]) -> dict[str, Any]:
        """An object of a type, with its fields below the name of the type."""
        return {"type": kind, kind: fields}

    def adapt(self, request: ChatRequest, words: str, *, stream: bool) -> bool:
        """Whether something was left to drop: a parameter, else a field of the service's own."""
        if super().adapt(request, words, stream=stream):
            return True
        sent = {name for message in request.messages for name in names_of_extra(message)}
        fields = sent - self.unwanted
        named = {name for name in fields if re.search(rf"\b{re.escape(name)}\b", words)}
        self.unwanted |= named
        return bool(named)

    def _messages(self, messages: tuple[Message, ...]) -> bytes:
        last, count = self._last, len(self._last.messages)
        form = (self.sent["all_reasoning"], self.unwanted)
        grown = last.form == form and messages[:count] == last.messages
        # Images of results stand after the last result, so a result that is added moves them.
        grown = grown and not any(each.role == "tool" for each in messages[count : count + 1])
        begun, new = ((last.text,), messages[count:]) if grown and count else ((), messages)
        text = b",".join((*begun, *map(encoded, self._said(new))))
        self._last = _Sent(messages, form, text)
        return text

    def _said(self, messages: Sequence[Message]) -> Iterator[dict[str, Any]]:
        """The messages; a result of a tool cannot hold images, so they follow the results."""
        images: list[Image] = []
        for message in messages:
            if images and message.role != "tool":
                yield _with_images(_OF_RESULTS, images)
                images = []
            yield self._message(message)
            images += message.images if message.role == "tool" else ()
        if images:
            yield _with_images(_OF_RESULTS, images)

    def _message(self, message: Message) -> dict[str, Any]:
        if message.role == "tool":
            return {"role": "tool", "tool_call_id": message.tool_call_id, "content": message.text}
        if message.role == "user" and message.images:
            return _with_images(message.text, message.images)
        said: dict[str, Any] = {"role": message.role, "content": message.text}
        if message.role != "assistant":
            return said
        if message.tool_calls:
            said["content"] = message.text or None
            functions = (
                (call.id, {"name": call.name, "arguments": sent_arguments(call)})
                for call in message.tool_calls
            )
            said["tool_calls"] = [{"id": i, **self.tagged("function", f)} for i, f in functions]
        if message.extra and message.service == self.service:
            echo(said, message, self.unwanted)
        if message.reasoning and self.sent["all_reasoning"]:
            said.setdefault("reasoning_content", message.reasoning)
        return said


class _Sent(NamedTuple):
    """The messages of a request and their encoding; `form` are the quirks that it depends on."""

    messages: tuple[Message, ...]
    form: tuple[Any, ...]
    text: bytes


def _with_images(text: str, images: Sequence[Image]) -> dict[str, Any]:
    said = [{"type": "text", "text": text}] if text else []
    shown = [{"type": "image_url", "image_url": {"url": image.url()}} for image in images]
    return {"role": "user", "content": [*said, *shown]}
