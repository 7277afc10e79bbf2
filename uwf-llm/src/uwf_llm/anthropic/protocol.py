"""Anthropic's Messages as a protocol of models.

Source: https://docs.anthropic.com/en/api/messages. A mark for the cache is on the system text,
which follows the tools, and on the last two messages of the user: the next request finds
there what this one stored.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from uwf_core.api.agent import ToolCall
from uwf_core.api.models import Model
from uwf_llm.anthropic.reply import MessagesReader
from uwf_llm.chat import ChatRequest, Image, Message
from uwf_llm.encoding import arguments_object, given, listed_tools, turns
from uwf_llm.layout import sent_parts
from uwf_llm.quirks import TEMPERATURE, LearningProtocol, Quirk, reasoning_quirk, schema_quirk

_VERSION = "2023-06-01"
_MARK = {"type": "ephemeral"}
_MARKED_MESSAGES = 2
_NOTHING = "(nothing)"
_CHOICES = {"auto": "auto", "none": "none", "required": "any", None: "auto"}
_LIMIT = re.compile(r"max_tokens\D{0,40}\d+ ?> ?(\d{1,9})")


class AnthropicMessages(LearningProtocol):
    """Anthropic's Messages. The base address may end with `/v1` or, as for Anthropic's own clients,
    before it.

    Attributes:
        max_tokens: the limit of a reply, which the protocol requires, if the request has none;
            models with a lower one name it in their error.
    """

    plain_keys = True
    quirks = (
        Quirk("cache_marks", "cache_control"),
        TEMPERATURE,
        reasoning_quirk("signature|thinking.{0,40}block"),
        schema_quirk("output_?config|output_?format|structured output|schema", "json_schema"),
    )
    reads = MessagesReader

    def __init__(self, model: Model, service: str) -> None:
        super().__init__(model, service)
        self.max_tokens = 32_000
        base = model.base_url.partition("?")[0].rstrip("/").removesuffix("/messages")
        self._below = "" if re.search(r"/v\d[^/]*\Z", base) else "/v1"
        self.models_path = f"{self._below}/models"

    def headers(self, key: str | None) -> Mapping[str, str]:
        """The version of the protocol, and the key."""
        version = {"anthropic-version": _VERSION}
        return version if key is None else {**version, "x-api-key": key}

    def path(self, *, stream: bool) -> str:
        """The path of both kinds of requests."""
        del stream
        return f"{self._below}/messages"

    def adapt(self, request: ChatRequest, words: str, *, stream: bool) -> bool:
        """Whether something was left to drop, or the limit to lower."""
        limit = _LIMIT.search(words)
        if limit and 0 < int(limit[1]) < self.max_tokens and request.max_tokens is None:
            self.max_tokens = int(limit[1])
            return True
        return super().adapt(request, words, stream=stream)

    def body(self, request: ChatRequest, *, stream: bool) -> dict[str, Any]:
        """The body of a request."""
        system, schema = request.system, {"type": "json_schema", "schema": request.schema}
        ours = given(
            model=self.model.name,
            max_tokens=request.max_tokens or self.model.extra.get("max_tokens") or self.max_tokens,
            system=_text(system) or None,
            tools=listed_tools(request.tools, "input_schema") or None,
            tool_choice=_tool_choice(request) if request.tools else None,
            messages=turns(request.messages, "assistant", "content", self._blocks),
            output_config={"format": schema} if self.schema_form(request) else None,
            temperature=self.accepted(request, "temperature"),
            stream=stream or None,
        )
        for turn in ours["messages"]:
            # A blank text is rejected, and so is a message without content.
            turn["content"] = turn["content"] or [{"type": "text", "text": _NOTHING}]
        if self.sent["cache_marks"]:
            _mark(ours)
        return ours

    def _blocks(self, message: Message) -> Iterator[dict[str, Any]]:
        content = [*_text(message.text), *map(_image, message.images)]
        if message.role == "assistant":
            yield from sent_parts(message, self.reasoning_service, _text, _call)
        elif message.role == "tool":
            said = content if message.images else message.text
            yield {"type": "tool_result", "tool_use_id": message.tool_call_id, "content": said}
        else:
            yield from content


def _text(text: str) -> list[dict[str, Any]]:
    return [{"type": "text", "text": text}] if text.strip() else []


def _call(call: ToolCall) -> dict[str, Any]:
    own = {"type": "tool_use", "id": call.id, "name": call.name}
    return {**own, "input": arguments_object(call)}


def _image(image: Image) -> dict[str, Any]:
    source = {"type": "base64", "media_type": image.media_type, "data": image.base64()}
    return {"type": "image", "source": source}


def _tool_choice(request: ChatRequest) -> dict[str, Any] | None:
    named, parallel = request.tool_choice, request.parallel_tool_calls
    kind = _CHOICES.get(named, "tool")
    if named is None and parallel is None:
        return None
    alone = parallel is not None and kind != "none"
    return given(
        type=kind,
        name=named if kind == "tool" else None,
        disable_parallel_tool_use=not parallel if alone else None,
    )


def _mark(ours: dict[str, Any]) -> None:
    """Put the marks for the cache."""
    of_user = [turn["content"] for turn in ours["messages"] if turn["role"] == "user"]
    before = next((ours[name] for name in ("system", "tools") if name in ours), None)
    for blocks in (*of_user[-_MARKED_MESSAGES:], *([before] if before else [])):
        blocks[-1] = {**blocks[-1], "cache_control": _MARK}
