"""Keep a conversation within the model's window. Pure.

Old output of tools is left out, oldest first. If that is not enough, a summary of the model
replaces what was said and done. The task, the format and the last turns stay.
"""

import json
from collections.abc import Sequence
from typing import NamedTuple

from uwf_agent_builtin import prompts
from uwf_agent_builtin.images import image_tokens, is_over
from uwf_llm.chat import ChatTool, Image, Message

CHARACTERS_PER_TOKEN = 3.5
"""Used until the service has reported the tokens of a prompt."""
KEPT_TURNS = 2
LEFT_OUT = "[left out to stay within the model's window; call the tool again if you need it]"
_MESSAGE_TOKENS = 6
_FULL = 0.85
_AFTER = 0.6
"""Once it trims, it trims well below the limit: each trimming costs the provider's cache."""


_WORTH_A_SUMMARY = 0.2
"""The part of the window that a summary must free at least: it costs a request."""


class Size(NamedTuple):
    """How large a prompt is, or a part of it: characters of text, messages, tokens of images."""

    characters: int = 0
    messages: int = 0
    image_tokens: int = 0

    def plus(self, other: "Size") -> "Size":
        """The sum."""
        return Size(*(mine + yours for mine, yours in zip(self, other, strict=True)))

    def minus(self, other: "Size") -> "Size":
        """The difference."""
        return Size(*(mine - yours for mine, yours in zip(self, other, strict=True)))


def size_of(message: Message) -> Size:
    """The size of one message."""
    calls = sum(len(call.name) + len(call.arguments) for call in message.tool_calls)
    extra = len(json.dumps(message.extra, ensure_ascii=False)) if message.extra else 0
    return Size(len(message.text) + calls + extra, 1, image_tokens(message))


def size_of_tools(tools: Sequence[ChatTool]) -> Size:
    """The size of all tools."""
    return Size(sum(len(each.description) + len(str(each.parameters)) for each in tools))


class Gauge:
    """Estimates tokens; learns from what the service counts."""

    def __init__(self, characters_per_token: float = CHARACTERS_PER_TOKEN) -> None:
        self._ratio = characters_per_token

    def tokens(self, size: Size) -> int:
        """The estimated number of tokens."""
        return round(size.characters / self._ratio) + self._fixed(size)

    def learn(self, prompt: Size, tokens: int | None) -> None:
        """Learn from the service's count for this prompt; ignore an impossible one."""
        counted = (tokens or 0) - self._fixed(prompt)
        if counted > 200:
            self._ratio = min(6.0, max(0.7, prompt.characters / counted))

    @staticmethod
    def _fixed(size: Size) -> int:
        return _MESSAGE_TOKENS * size.messages + size.image_tokens


def to_leave_out(
    messages: Sequence[Message], prompt: Size, gauge: Gauge, limit_tokens: int
) -> list[str]:
    """The ids of the calls whose results are to be left out, oldest first; [] if all fits.

    Args:
        prompt: the size of all messages and tools together.
    """
    total = gauge.tokens(prompt)
    if total <= limit_tokens * _FULL:
        return []
    chosen = []
    short = gauge.tokens(size_of(Message(role="tool", text=LEFT_OUT)))
    for message in _old_results(messages):
        if total <= limit_tokens * _AFTER:
            break
        saved = gauge.tokens(size_of(message)) - short
        if saved > 0 and message.tool_call_id is not None:
            chosen.append(message.tool_call_id)
            total -= saved
    return chosen


def images_to_leave_out(messages: Sequence[Message]) -> list[str]:
    """The ids of the calls whose images are to be left out, because a request cannot have as many,
    oldest first.
    """
    images = images_of(messages)
    chosen = []
    for message in _old_results(messages):
        if not is_over(images):
            break
        if message.images and message.tool_call_id is not None:
            chosen.append(message.tool_call_id)
            images = images[len(message.images) :]
    return chosen


def has_room(messages: Sequence[Message], image: Image) -> bool:
    """Whether a request can have one more image beside those of the last turns, which stay."""
    return not is_over([*images_of(messages[_before_last_turns(messages) :]), image])


def images_of(messages: Sequence[Message]) -> list[Image]:
    """All images, in their order."""
    return [image for each in messages for image in each.images]


def to_summarize(messages: Sequence[Message], prompt: Size, gauge: Gauge, limit_tokens: int) -> int:
    """The number of messages, from the first, whose work a summary is to replace; 0 if all fits, or
    if a summary would free too little.

    Args:
        prompt: the size of all messages and tools together.
    """
    if gauge.tokens(prompt) <= limit_tokens * _FULL:
        return 0
    end = _before_last_turns(messages)
    kept = _kept(messages[:end])
    freed = sum(gauge.tokens(size_of(each)) for each in messages[:end] if each not in kept)
    return end if freed >= limit_tokens * _WORTH_A_SUMMARY else 0


def summarized(messages: Sequence[Message], end: int, summary: str) -> list[Message]:
    """The conversation in which a summary replaces the work of the first `end` messages: the first
    and the last thing that was asked stay.
    """
    first, *last = _kept(messages[:end])
    replaced = Message(role="user", text=f"{prompts.SUMMARY}\n\n{summary}")
    return [first, *last[:1], replaced, *last[1:], *messages[end:]]


def _kept(messages: Sequence[Message]) -> list[Message]:
    """The system message, and the first and the last prompt."""
    users = (each for each in messages if each.role == "user")
    asked = [each for each in users if not prompts.is_own(each.text)]
    system = [each for each in messages if each.role == "system"]
    return [*system[:1], *asked[:1], *(asked[-1:] if len(asked) > 1 else ())]


def _before_last_turns(messages: Sequence[Message]) -> int:
    turns = [at for at, each in enumerate(messages) if each.role == "assistant"]
    return turns[-KEPT_TURNS] if len(turns) >= KEPT_TURNS else 0


def _old_results(messages: Sequence[Message]) -> list[Message]:
    """The results before the last turns, oldest first."""
    end = _before_last_turns(messages)
    return [each for each in messages[:end] if each.role == "tool" and each.text != LEFT_OUT]
