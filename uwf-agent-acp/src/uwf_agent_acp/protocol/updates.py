"""The updates of an agent while it works: `session/update`, read leniently into records. Pure.

Source: https://agentclientprotocol.com/protocol/schema#sessionupdate
"""

import json
from collections.abc import Mapping
from typing import Any, NamedTuple


class Chunk(NamedTuple):
    """A piece of a text. `kind` is `message`, `thought` or `user`; `meta` is what only this agent
    knows of it (`_meta`).
    """

    kind: str
    text: str
    meta: Mapping[str, Any] = {}


class ToolUse(NamedTuple):
    """A tool call, begun or changed; None is what this update does not say.

    `status` is the protocol's: pending, in_progress, completed, failed.
    """

    id: str
    begins: bool
    title: str | None = None
    kind: str | None = None
    status: str | None = None
    arguments: str | None = None
    result: str | None = None


class Other(NamedTuple):
    """Anything else, by its name: plans, commands, modes, what later versions bring."""

    name: str


Update = Chunk | ToolUse | Other

_CHUNKS = {
    "agent_message_chunk": "message",
    "agent_thought_chunk": "thought",
    "user_message_chunk": "user",
}


def read_update(update: Mapping[str, Any]) -> Update:
    """The record of an update; one that is not understood is `Other`."""
    name = str(update.get("sessionUpdate", ""))
    if name in _CHUNKS:
        meta = update.get("_meta")
        text = _text_of(update.get("content"))
        return Chunk(_CHUNKS[name], text, meta if isinstance(meta, dict) else {})
    if name in ("tool_call", "tool_call_update"):
        return _tool_use(update, begins=name == "tool_call")
    return Other(name)


def read_tool_use(call: Mapping[str, Any]) -> ToolUse:
    """The tool call that a permission is asked for."""
    return _tool_use(call, begins=False)


def _tool_use(update: Mapping[str, Any], *, begins: bool) -> ToolUse:
    content = update.get("content")
    shown = "\n".join(filter(None, map(_text_of, content if isinstance(content, list) else ())))
    raw_input, raw_output = update.get("rawInput"), update.get("rawOutput")
    return ToolUse(
        id=str(update.get("toolCallId", "")),
        begins=begins,
        title=_word(update, "title"),
        kind=_word(update, "kind"),
        status=_word(update, "status"),
        arguments=_as_text(raw_input) if raw_input else None,  # {} while it is being written
        result=(shown or None) if raw_output is None else _as_text(raw_output),
    )


def _text_of(block: Any) -> str:
    """The text of a content block, of a tool's content, or of a diff; "" of anything else."""
    if not isinstance(block, dict):
        return ""
    if block.get("type") == "diff":
        return f"{block.get('path', '')}\n{block.get('newText', '')}"
    inner = block.get("content")
    if isinstance(inner, dict):
        return _text_of(inner)
    text = block.get("text")
    return text if isinstance(text, str) else ""


def _word(update: Mapping[str, Any], key: str) -> str | None:
    value = update.get(key)
    return value if isinstance(value, str) else None


def _as_text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
