"""What a service does not take, learnt from its refusals: which of the things that are merely
good to have are left out, or said in another way, from then on.
"""

import re
from dataclasses import dataclass, replace
from typing import Literal

from uwf_core.llm.chat import ChatRequest, ResponseFormat


@dataclass(frozen=True, kw_only=True)
class Manners:
    """How a service wants to be asked; at first as OpenAI does.

    Attributes:
        stream_options: it takes `stream_options`, and so tells the usage of a stream.
        response_format: the best form of structured output it takes.
        max_tokens: the name of that limit.
        reasoning_back: it wants what the assistant thought back (DeepSeek and Kimi, with tools).
    """

    stream_options: bool = True
    response_format: ResponseFormat | None = "json_schema"
    max_tokens: Literal["max_tokens", "max_completion_tokens"] = "max_tokens"
    temperature: bool = True
    parallel_tool_calls: bool = True
    reasoning_back: bool = False


_FORMAT = re.compile(r"response_?format|json_?schema|json_?object|structured output", re.IGNORECASE)
_WANTS_REASONING = re.compile(
    r"(missing|must|required|need)[^.]{0,80}reasoning_content|reasoning_content[^.]{0,80}"
    r"(missing|must be|required|need)",
    re.IGNORECASE,
)


def better_manners(
    manners: Manners, request: ChatRequest, words: str, *, stream: bool
) -> Manners | None:
    """How to ask the same once more, after a 400 that said `words`; None: there is no other way.

    Every step leaves one thing out for good, so that there are few of them.
    """
    if request.schema is not None and manners.response_format and _FORMAT.search(words):
        weaker: ResponseFormat | None = (
            "json_object" if manners.response_format == "json_schema" else None
        )
        return replace(manners, response_format=weaker)
    if stream and manners.stream_options and "stream_options" in words:
        return replace(manners, stream_options=False)
    if (
        request.max_tokens is not None
        and manners.max_tokens == "max_tokens"
        and "max_completion_tokens" in words
    ):
        return replace(manners, max_tokens="max_completion_tokens")
    if request.temperature is not None and manners.temperature and "temperature" in words:
        return replace(manners, temperature=False)
    return _fewer(manners, request, words)


def _fewer(manners: Manners, request: ChatRequest, words: str) -> Manners | None:
    asks = request.parallel_tool_calls is not None and manners.parallel_tool_calls
    if asks and "parallel_tool_calls" in words:
        return replace(manners, parallel_tool_calls=False)
    thought = any(message.reasoning for message in request.messages)
    if thought and not manners.reasoning_back and _WANTS_REASONING.search(words):
        return replace(manners, reasoning_back=True)
    return None
