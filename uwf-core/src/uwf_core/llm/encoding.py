"""JSON as every protocol sends it."""

import json
from collections.abc import Mapping
from typing import Any

from uwf_core.api.agent import ToolCall
from uwf_core.llm.arguments import ToolArgumentsError, parse_arguments


def encoded(value: Any) -> bytes:
    """JSON as bytes. Lone surrogates cannot be sent as UTF-8; as escapes they can."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    try:
        return text.encode("utf-8")
    except UnicodeEncodeError:
        return json.dumps(value, separators=(",", ":"), allow_nan=False).encode()


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


def arguments_object(call: ToolCall) -> dict[str, Any]:
    """The arguments of a call as an object; invalid ones are wrapped in one, because services
    would reject this conversation permanently.
    """
    try:
        return parse_arguments(call)
    except ToolArgumentsError:
        return {"malformed_arguments": call.arguments}


def sent_arguments(call: ToolCall) -> str:
    """The unchanged arguments as text; invalid ones as in `arguments_object`."""
    try:
        parse_arguments(call)
    except ToolArgumentsError:
        return json.dumps(arguments_object(call), ensure_ascii=False)
    text = call.arguments.strip()
    return "{}" if text in ("", "null") else call.arguments


def sorted_tools(tools: Any) -> list[Any]:
    """The tools by name: their order changes no byte."""
    return sorted(tools, key=lambda tool: str(tool.name))
