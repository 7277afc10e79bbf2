"""What a service may have rejected of a request with images. Pure."""

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace

from uwf_core.api import AgentFailure, BadRequest, ContextTooLong, Refused, Unavailable
from uwf_llm.chat import Message

_WORDS = re.compile(r"image|vision|multi-?modal|modalit|mmproj|picture", re.IGNORECASE)


def may_be_images(failure: AgentFailure) -> bool:
    """Whether a failure may mean that a service cannot take images, or not these: some servers
    fail (5xx) with words about them.
    """
    if isinstance(failure, BadRequest | ContextTooLong | Refused):
        return True
    return isinstance(failure, Unavailable) and _WORDS.search(failure.message) is not None


def suspects(messages: Sequence[Message]) -> Iterator[list[str]]:
    """The calls whose images may be the reason, most likely ones first: those that the service got
    for the first time, then all.
    """
    every = [each.tool_call_id for each in messages if each.images and each.tool_call_id]
    turns = [at for at, each in enumerate(messages) if each.role == "assistant"]
    last = messages[turns[-1] :] if turns else ()
    new = [each.tool_call_id for each in last if each.images and each.tool_call_id]
    if new and new != every:
        yield new
    if every:
        yield every


def without_images(messages: Sequence[Message], ids: Collection[str], text: str) -> list[Message]:
    """The conversation with `text` as the results of these calls."""
    return [
        replace(each, text=text, images=()) if each.images and each.tool_call_id in ids else each
        for each in messages
    ]
