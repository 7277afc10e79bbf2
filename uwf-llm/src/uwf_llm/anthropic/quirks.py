"""Learn from error responses what a service of Anthropic's protocol does not support."""

import re
from dataclasses import dataclass, replace

from uwf_llm.chat import ChatRequest

MAX_TOKENS = 32_000
"""The limit of a reply, which the protocol requires, if the request has none; models with a lower
one name it in their error.
"""


@dataclass(frozen=True, kw_only=True)
class AnthropicQuirks:
    """The deviations of a service; initially those of Anthropic.

    Attributes:
        schema: it supports structured output (`output_config.format`).
        cache_marks: it supports `cache_control`.
        reasoning_back: it accepts the reasoning that it sent.
    """

    max_tokens: int = MAX_TOKENS
    schema: bool = True
    temperature: bool = True
    cache_marks: bool = True
    reasoning_back: bool = True


_LIMIT = re.compile(r"max_tokens\D{0,40}\d+ ?> ?(\d{1,9})")
_SCHEMA = re.compile(r"output_?config|output_?format|structured output|json_?schema|schema", re.I)
_REASONING = re.compile(r"signature|thinking.{0,40}block", re.IGNORECASE)


def adapted_quirks(
    quirks: AnthropicQuirks, request: ChatRequest, words: str
) -> AnthropicQuirks | None:
    """The quirks to repeat a request with, after a 400 with the text `words`; None: nothing is left
    to change.
    """
    limit = _LIMIT.search(words)
    if limit and 0 < int(limit[1]) < quirks.max_tokens and request.max_tokens is None:
        return replace(quirks, max_tokens=int(limit[1]))
    if quirks.cache_marks and "cache_control" in words:
        return replace(quirks, cache_marks=False)
    if request.temperature is not None and quirks.temperature and "temperature" in words:
        return replace(quirks, temperature=False)
    echoed = any(message.extra for message in request.messages)
    if echoed and quirks.reasoning_back and _REASONING.search(words):
        return replace(quirks, reasoning_back=False)
    if request.schema is not None and quirks.schema and _SCHEMA.search(words):
        return replace(quirks, schema=False)
    return None
