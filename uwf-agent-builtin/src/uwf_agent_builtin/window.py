"""Keeping a conversation within the model's window. Pure.

Old output of tools is left out, oldest first. The task, the format, what was said and done, and the
last turns stay.
"""

from collections.abc import Sequence

from uwf_agent_builtin.sessions.transcript import LEFT_OUT
from uwf_core.llm.chat import ChatTool, Message

CHARACTERS_PER_TOKEN = 3.5
"""Until the service has told how many tokens a prompt was."""
KEPT_TURNS = 2
_MESSAGE_TOKENS = 6
_FULL = 0.85
_AFTER = 0.6
"""Once it trims, it trims well below the limit: each trimming costs the provider's cache."""


class Gauge:
    """Estimates tokens; learns from what the service counts."""

    def __init__(self, characters_per_token: float = CHARACTERS_PER_TOKEN) -> None:
        self._ratio = characters_per_token

    def tokens(self, messages: Sequence[Message], tools: Sequence[ChatTool] = ()) -> int:
        """How many tokens a prompt probably is."""
        return round(_characters(messages, tools) / self._ratio) + _MESSAGE_TOKENS * len(messages)

    def learn(
        self, messages: Sequence[Message], tools: Sequence[ChatTool], tokens: int | None
    ) -> None:
        """Take what the service counted for this prompt; what cannot be is passed over."""
        counted = (tokens or 0) - _MESSAGE_TOKENS * len(messages)
        if counted > 200:
            self._ratio = min(6.0, max(0.7, _characters(messages, tools) / counted))


def to_leave_out(
    messages: Sequence[Message], tools: Sequence[ChatTool], gauge: Gauge, limit_tokens: int
) -> list[str]:
    """The ids of the calls whose results are to be left out, oldest first; [] if all fits."""
    total = gauge.tokens(messages, tools)
    if total <= limit_tokens * _FULL:
        return []
    chosen = []
    for message in _old_results(messages):
        if total <= limit_tokens * _AFTER:
            break
        short = Message(role="tool", text=LEFT_OUT)
        saved = gauge.tokens([message]) - gauge.tokens([short])
        if saved > 0 and message.tool_call_id is not None:
            chosen.append(message.tool_call_id)
            total -= saved
    return chosen


def _old_results(messages: Sequence[Message]) -> list[Message]:
    """The results before the last turns, oldest first."""
    turns = [at for at, each in enumerate(messages) if each.role == "assistant"]
    end = turns[-KEPT_TURNS] if len(turns) >= KEPT_TURNS else 0
    return [each for each in messages[:end] if each.role == "tool" and each.text != LEFT_OUT]


def _characters(messages: Sequence[Message], tools: Sequence[ChatTool]) -> int:
    size = 0
    for each in messages:
        size += len(each.text)
        size += sum(len(call.name) + len(call.arguments) for call in each.tool_calls)
    return size + sum(len(each.description) + len(str(each.parameters)) for each in tools)
