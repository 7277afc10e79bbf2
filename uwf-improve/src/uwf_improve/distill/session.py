"""A session of an agent, in nobody's format: what the user said, and what the agent did."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from uwf_core.errors import UsageError


@dataclass(frozen=True, kw_only=True)
class ToolUse:
    """One use of a tool; `result` is None where it is not recorded."""

    name: str
    arguments: str = ""
    result: str | None = None
    is_error: bool = False


@dataclass(frozen=True, kw_only=True)
class SessionTurn:
    """What one side said in one go; only the agent uses tools."""

    speaker: Literal["user", "agent"]
    text: str = ""
    tools: Sequence[ToolUse] = ()


@dataclass(frozen=True, kw_only=True)
class RecordedSession:
    """A session, oldest turn first. `format`: such as `Claude Code`."""

    format: str
    turns: Sequence[SessionTurn]


class SessionError(UsageError):
    """A file is not a session that can be read."""


def plain_text(content: Any) -> str:
    """The text of a message: a string, or the text blocks of a list."""
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        blocks = [each if isinstance(each, str) else _text_of(each) for each in content]
        return "\n\n".join(each for each in blocks if each)
    return ""


def _text_of(block: Any) -> str:
    is_text = isinstance(block, Mapping) and block.get("type") in ("text", "output_text")
    return str(block.get("text") or "") if is_text else ""


def with_results(
    turns: Sequence[SessionTurn], calls: Sequence[Sequence[str]], results: Mapping[str, ToolUse]
) -> list[SessionTurn]:
    """The turns with the results of their calls.

    Args:
        calls: of each turn the ids of its tool uses. results: by id; of each only the result
            counts.
    """
    found = []
    for turn, ids in zip(turns, calls, strict=True):
        tools = [
            ToolUse(
                name=use.name,
                arguments=use.arguments,
                result=results[name].result if name in results else None,
                is_error=name in results and results[name].is_error,
            )
            for use, name in zip(turn.tools, ids, strict=True)
        ]
        found.append(SessionTurn(speaker=turn.speaker, text=turn.text, tools=tools))
    return found
