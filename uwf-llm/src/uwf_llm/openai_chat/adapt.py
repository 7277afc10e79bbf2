"""Learn from error responses which optional parameters a service does not support, and leave them
out, or send them in another form, from then on.
"""

import re
from dataclasses import dataclass, replace
from typing import Literal

from uwf_llm.chat import ChatRequest, ResponseFormat
from uwf_llm.openai_chat.echo import names_of_extra


@dataclass(frozen=True, kw_only=True)
class Quirks:
    """The deviations of a service; initially those of OpenAI.

    Attributes:
        stream_options: it supports `stream_options`, and so reports the usage of a stream.
        response_format: the best form of structured output that it supports.
        max_tokens: the name of that limit.
        reasoning_back: it requires the reasoning also of messages that it did not send itself
            (DeepSeek and Kimi, with tools).
        unwanted: fields that it sends and does not accept back.
    """

    stream_options: bool = True
    response_format: ResponseFormat | None = "json_schema"
    max_tokens: Literal["max_tokens", "max_completion_tokens"] = "max_tokens"
    temperature: bool = True
    parallel_tool_calls: bool = True
    reasoning_back: bool = False
    unwanted: frozenset[str] = frozenset()


_FORMAT = re.compile(r"response_?format|json_?schema|json_?object|structured output", re.IGNORECASE)
_WANTS_REASONING = re.compile(
    r"(missing|must|required|need)[^.]{0,80}reasoning_content|reasoning_content[^.]{0,80}"
    r"(missing|must be|required|need)",
    re.IGNORECASE,
)


def adapted_quirks(
    quirks: Quirks, request: ChatRequest, words: str, *, stream: bool
) -> Quirks | None:
    """The quirks to repeat a request with, after a 400 with the text `words`; None: nothing is left
    to change.

    Each step drops one parameter permanently, so there are few of them.
    """
    if request.schema is not None and quirks.response_format and _FORMAT.search(words):
        weaker: ResponseFormat | None = (
            "json_object" if quirks.response_format == "json_schema" else None
        )
        return replace(quirks, response_format=weaker)
    if stream and quirks.stream_options and "stream_options" in words:
        return replace(quirks, stream_options=False)
    if (
        request.max_tokens is not None
        and quirks.max_tokens == "max_tokens"
        and "max_completion_tokens" in words
    ):
        return replace(quirks, max_tokens="max_completion_tokens")
    if request.temperature is not None and quirks.temperature and "temperature" in words:
        return replace(quirks, temperature=False)
    return _fewer(quirks, request, words)


def _fewer(quirks: Quirks, request: ChatRequest, words: str) -> Quirks | None:
    asks = request.parallel_tool_calls is not None and quirks.parallel_tool_calls
    if asks and "parallel_tool_calls" in words:
        return replace(quirks, parallel_tool_calls=False)
    thought = any(message.reasoning for message in request.messages)
    if thought and not quirks.reasoning_back and _WANTS_REASONING.search(words):
        return replace(quirks, reasoning_back=True)
    sent = {name for message in request.messages for name in names_of_extra(message)}
    named = {name for name in sent - quirks.unwanted if re.search(rf"\b{re.escape(name)}\b", words)}
    return replace(quirks, unwanted=quirks.unwanted | named) if named else None
