"""Write a request as the JSON of Anthropic's Messages.

Source: https://docs.anthropic.com/en/api/messages. A mark for the cache is on the system text,
which follows the tools, and on the last two messages of the user: the next request finds
there what this one stored.
"""

from collections.abc import Iterator, Sequence
from typing import Any

from uwf_core.api.agent import Model
from uwf_llm.anthropic.quirks import AnthropicQuirks
from uwf_llm.chat import ChatRequest, ChatTool, Message
from uwf_llm.encoding import arguments_object, encoded, merged, sorted_tools
from uwf_llm.layout import parts_of

BLOCKS = "blocks"
"""The key of the layout in `Message.extra`."""
_MARK = {"type": "ephemeral"}
_MARKED_MESSAGES = 2
_NOTHING = "(nothing)"


def body(
    request: ChatRequest, model: Model, service: str, quirks: AnthropicQuirks, stream: bool
) -> bytes:
    """The body of a request. Equal requests give equal bytes."""
    system = "\n\n".join(each.text for each in request.messages if each.role == "system")
    ours: dict[str, Any] = {"model": model.name}
    ours["max_tokens"] = request.max_tokens or model.extra.get("max_tokens") or quirks.max_tokens
    if system.strip():
        ours["system"] = [{"type": "text", "text": system}]
    if request.tools:
        ours["tools"] = [_tool(tool) for tool in sorted_tools(request.tools)]
        ours |= _tool_choice(request)
    ours["messages"] = _messages(request.messages, service if quirks.reasoning_back else None)
    if quirks.cache_marks:
        _mark(ours)
    if request.schema is not None and quirks.schema:
        ours["output_config"] = {"format": {"type": "json_schema", "schema": request.schema}}
    if request.temperature is not None and quirks.temperature:
        ours["temperature"] = request.temperature
    if stream:
        ours["stream"] = True
    return encoded(merged(model.extra, ours))


def _messages(messages: Sequence[Message], service: str | None) -> list[dict[str, Any]]:
    """The turns; what follows each other from the same side is one message."""
    turns: list[dict[str, Any]] = []
    for message in messages:
        if message.role == "system":
            continue
        role = "assistant" if message.role == "assistant" else "user"
        blocks = list(_said(message, service) if role == "assistant" else _given(message))
        if turns and turns[-1]["role"] == role:
            turns[-1]["content"] += blocks
        else:
            turns.append({"role": role, "content": blocks})
    for turn in turns:
        # A blank text is rejected, and so is a message without content.
        turn["content"] = turn["content"] or [{"type": "text", "text": _NOTHING}]
    return turns


def _given(message: Message) -> Iterator[dict[str, Any]]:
    images = [_image(image) for image in message.images]
    if message.role == "tool":
        content: Any = message.text
        if images:
            content = [*_text(message.text), *images]
        yield {"type": "tool_result", "tool_use_id": message.tool_call_id, "content": content}
        return
    yield from _text(message.text)
    yield from images


def _said(message: Message, service: str | None) -> Iterator[dict[str, Any]]:
    layout = message.extra.get(BLOCKS) if message.service == service else None
    for kind, part, fields in parts_of(message, layout):
        if kind == "raw":
            yield part
        elif kind == "text":
            yield from _text(part)
        else:
            own = {"type": "tool_use", "id": part.id, "name": part.name}
            yield {**fields, **own, "input": arguments_object(part)}


def _text(text: str) -> list[dict[str, Any]]:
    return [{"type": "text", "text": text}] if text.strip() else []


def _image(image: Any) -> dict[str, Any]:
    source = {"type": "base64", "media_type": image.media_type, "data": image.base64()}
    return {"type": "image", "source": source}


def _tool(tool: ChatTool) -> dict[str, Any]:
    named = {"name": tool.name, "description": tool.description}
    return {**named, "input_schema": tool.parameters}


def _tool_choice(request: ChatRequest) -> dict[str, Any]:
    named = request.tool_choice
    if named is None and request.parallel_tool_calls is None:
        return {}
    kinds = {"auto": "auto", "none": "none", "required": "any", None: "auto"}
    choice: dict[str, Any] = {"type": kinds.get(named, "tool")}
    if choice["type"] == "tool":
        choice["name"] = named
    if request.parallel_tool_calls is not None and choice["type"] != "none":
        choice["disable_parallel_tool_use"] = not request.parallel_tool_calls
    return {"tool_choice": choice}


def _mark(ours: dict[str, Any]) -> None:
    """Put the marks for the cache."""
    if "system" in ours:
        ours["system"][-1]["cache_control"] = _MARK
    elif "tools" in ours:
        ours["tools"][-1]["cache_control"] = _MARK
    of_user = [turn for turn in ours["messages"] if turn["role"] == "user"]
    for turn in of_user[-_MARKED_MESSAGES:]:
        turn["content"][-1] = {**turn["content"][-1], "cache_control": _MARK}
