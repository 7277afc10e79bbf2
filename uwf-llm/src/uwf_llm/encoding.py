"""JSON as every protocol sends it."""

import json
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from uwf_core.api.agent import ToolCall
from uwf_llm.arguments import ToolArgumentsError, parse_arguments
from uwf_llm.characters import has_whole, whole_characters
from uwf_llm.chat import ChatTool, Message


def encoded(value: Any) -> bytes:
    """JSON as bytes, of whole characters."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return whole_characters(text).encode("utf-8")


def merged(extra: Mapping[str, Any], ours: Mapping[str, Any]) -> dict[str, Any]:
    """The keys of `models.<n>.extra` below our own; a mapping that both have has the keys of both,
    and a list the items of both.
    """
    body = {**extra, **ours}
    for name in extra.keys() & ours.keys():
        theirs, own = extra[name], ours[name]
        if isinstance(theirs, Mapping) and isinstance(own, Mapping):
            body[name] = {**theirs, **own}
        elif isinstance(theirs, list) and isinstance(own, list):
            body[name] = [*own, *(each for each in theirs if each not in own)]
    return body


def given(**values: Any) -> dict[str, Any]:
    """The values that are there."""
    return {name: value for name, value in values.items() if value is not None}


def turns(
    messages: Iterable[Message],
    assistant: str,
    key: str,
    parts: Callable[[Message], Iterable[dict[str, Any]]],
) -> list[dict[str, Any]]:
    """The conversation without its system text, for services that want both sides in turn: what
    follows each other from the same side is one turn, with its parts at `key`.
    """
    found: list[dict[str, Any]] = []
    for message in messages:
        if message.role == "system":
            continue
        role = assistant if message.role == "assistant" else "user"
        if not found or found[-1]["role"] != role:
            found.append({"role": role, key: []})
        found[-1][key] += parts(message)
    return found


def arguments_object(call: ToolCall) -> dict[str, Any]:
    """The arguments of a call as an object; invalid ones are wrapped in one, because services
    would reject this conversation permanently.
    """
    try:
        return parse_arguments(call)
    except ToolArgumentsError:
        return {"malformed_arguments": call.arguments}


def sent_arguments(call: ToolCall) -> str:
    """The unchanged arguments as text; invalid ones as in `arguments_object`, and those with half
    a surrogate pair with whole characters, also within their own escapes.
    """
    try:
        arguments = parse_arguments(call)
    except ToolArgumentsError:
        return json.dumps(arguments_object(call), ensure_ascii=False)
    text = call.arguments.strip()
    if text in ("", "null"):
        return "{}"
    return call.arguments if has_whole(text) else json.dumps(arguments, ensure_ascii=False)


def listed_tools(tools: Iterable[ChatTool], key: str) -> list[dict[str, Any]]:
    """The tools by name, so that the order does not change a service's cache; the schema of the
    arguments is under `key`.
    """
    return [
        {"name": each.name, "description": each.description, key: each.parameters}
        for each in sorted(tools, key=lambda tool: tool.name)
    ]
