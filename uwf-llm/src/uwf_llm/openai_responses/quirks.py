"""Learn from error responses what a service of OpenAI's Responses does not support."""

import re
from dataclasses import dataclass, replace

from uwf_llm.chat import ChatRequest, ResponseFormat


@dataclass(frozen=True, kw_only=True)
class ResponsesQuirks:
    """The deviations of a service and its model; initially those of OpenAI.

    Attributes:
        response_format: the best form of structured output that it supports.
        encrypted: the model reasons, so its encrypted reasoning can be requested.
        reasoning_back: it accepts the reasoning that it sent.
    """

    response_format: ResponseFormat | None = "json_schema"
    encrypted: bool = True
    reasoning_back: bool = True
    temperature: bool = True
    parallel_tool_calls: bool = True


_FORMAT = re.compile(r"text\.format|json_?schema|json_?object|structured output", re.IGNORECASE)
_INCLUDE = re.compile(r"'?include\b|encrypted content is not supported", re.IGNORECASE)
_REASONING = re.compile(r"encrypted[_ ]content|reasoning' was provided|\brs_", re.IGNORECASE)


def adapted_quirks(
    quirks: ResponsesQuirks, request: ChatRequest, words: str
) -> ResponsesQuirks | None:
    """The quirks to repeat a request with, after a 400 with the text `words`; None: nothing is left
    to change.
    """
    if quirks.encrypted and _INCLUDE.search(words):
        return replace(quirks, encrypted=False)
    echoed = any(message.extra for message in request.messages)
    if echoed and quirks.reasoning_back and _REASONING.search(words):
        return replace(quirks, reasoning_back=False)
    if request.temperature is not None and quirks.temperature and "temperature" in words:
        return replace(quirks, temperature=False)
    asks = request.parallel_tool_calls is not None and quirks.parallel_tool_calls
    if asks and "parallel_tool_calls" in words:
        return replace(quirks, parallel_tool_calls=False)
    if request.schema is not None and quirks.response_format and _FORMAT.search(words):
        strong = quirks.response_format == "json_schema"
        return replace(quirks, response_format="json_object" if strong else None)
    return None
