"""A session of an agent, in nobody's format: what the user said, and what the agent did."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

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
