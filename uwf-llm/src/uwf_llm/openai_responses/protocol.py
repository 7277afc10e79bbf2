"""OpenAI's Responses as a protocol of models.

Source: https://platform.openai.com/docs/api-reference/responses. Nothing is stored at the service:
the whole conversation is sent each time, and reasoning in encrypted form.
"""

from collections.abc import Iterator
from typing import Any

from uwf_core.api.agent import ToolCall
from uwf_llm.chat import ChatRequest, Message
from uwf_llm.encoding import given, sent_arguments
from uwf_llm.layout import sent_parts
from uwf_llm.openai import OpenaiProtocol
from uwf_llm.openai_responses.reply import ResponsesReader
from uwf_llm.quirks import PARALLEL_CALLS, TEMPERATURE, Quirk, reasoning_quirk, schema_quirk

_FORMAT = r"text\.format|json_?schema|json_?object|structured output"


class OpenaiResponses(OpenaiProtocol):
    """OpenAI's Responses, with `store` off."""

    quirks = (
        # The model reasons, so its encrypted reasoning can be requested.
        Quirk("encrypted", r"'?include\b|encrypted content is not supported"),
        reasoning_quirk(r"encrypted[_ ]content|reasoning' was provided|\brs_"),
        TEMPERATURE,
        PARALLEL_CALLS,
        schema_quirk(_FORMAT, "json_schema", "json_object"),
    )
    reads = ResponsesReader

    def path(self, *, stream: bool) -> str:
        """The path of both kinds of requests."""
        del stream
        return "/responses"

    def body(self, request: ChatRequest, *, stream: bool) -> dict[str, Any]:
        """The body of a request."""
        form, back = self.format(request), self.reasoning_service
        return given(
            model=self.model.name,
            store=False,
            include=["reasoning.encrypted_content"] if self.sent["encrypted"] else None,
            instructions=request.system or None,
            **self.tools(request, strict=False),  # its subset of JSON Schema is not ours
            input=[item for each in request.messages for item in _items(each, back)],
            text=form and {"format": form},
            max_output_tokens=request.max_tokens,
            temperature=self.accepted(request, "temperature"),
            stream=stream or None,
        )


def _items(message: Message, service: str | None) -> Iterator[dict[str, Any]]:
    content = _content(message) if message.images else message.text
    if message.role == "tool":
        call_id = message.tool_call_id or ""
        yield {"type": "function_call_output", "call_id": call_id, "output": content}
    elif message.role == "user":
        yield {"role": "user", "content": content}
    elif message.role == "assistant":
        yield from sent_parts(message, service, _said, _call)


def _said(text: str) -> list[dict[str, Any]]:
    return [{"role": "assistant", "content": text}]


def _call(call: ToolCall) -> dict[str, Any]:
    named = {"call_id": call.id, "name": call.name, "arguments": sent_arguments(call)}
    return {"type": "function_call", **named}


def _content(message: Message) -> list[dict[str, Any]]:
    text = [{"type": "input_text", "text": message.text}] if message.text else []
    shown = {"type": "input_image", "detail": "auto"}
    return [*text, *({**shown, "image_url": image.url()} for image in message.images)]
