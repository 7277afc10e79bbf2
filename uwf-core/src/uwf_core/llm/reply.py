"""Build a reply from one document, or from the chunks of a stream.

A whole message is read as one delta: they have the same keys.
Source: https://platform.openai.com/docs/api-reference/chat; also `reasoning_content` (DeepSeek,
Kimi, GLM, vLLM) and `reasoning` (OpenRouter, ollama).
"""

import json
import re
from collections.abc import Callable
from typing import Any

from uwf_core.api.agent import ToolCall, Usage
from uwf_core.api.fields import LARGEST
from uwf_core.errors import EmptyReply, Refused, Truncated, Unavailable
from uwf_core.llm.chat import ChatReply, Delta
from uwf_core.llm.echo import ExtraBuilder, extra_of_call
from uwf_core.llm.failures import ErrorResponse, RequestFailed, failure_from
from uwf_core.llm.think import ThinkSplitter

OnDelta = Callable[[Delta], None]


class ReplyBuilder:
    """A growing reply. `place` names the service in errors; ids for calls without one are counted
    from `first_call`, so that they are unique in a conversation.
    """

    def __init__(self, place: str, on_delta: OnDelta | None, first_call: int) -> None:
        self.ended = False
        self._place = place
        self._on_delta = on_delta
        self._first_call = first_call
        self._text: list[str] = []
        self._reasoning: list[str] = []
        self._refusal: list[str] = []
        self._extra = ExtraBuilder()
        self._calls: list[_ToolCallBuilder] = []
        self._by_index: dict[int, _ToolCallBuilder] = {}
        self._splitter = ThinkSplitter()
        self._stop_reason: str | None = None
        self._usage = Usage(turns=1)
        self._model: str | None = None

    def take(self, document: Any) -> bool:
        """Add a chunk, or the whole reply; whether it holds a choice.

        Raises:
            RequestFailed: it holds an error.
        """
        if not isinstance(document, dict):
            return False
        if document.get("error"):
            raise _embedded_failure(document, self._place)
        if isinstance(document.get("usage"), dict):
            self._usage = read_usage(document["usage"])
        if isinstance(document.get("model"), str):
            self._model = document["model"]
        choices = document.get("choices")
        if not isinstance(choices, list) or not choices or not isinstance(choices[0], dict):
            return False
        self._choice(choices[0])
        return True

    def finish(self) -> ChatReply:
        """The reply.

        Raises:
            RequestFailed: it was refused, is empty, or broke off.
        """
        for kind, piece in self._splitter.finish():
            self._grow(kind, piece)
        refusal = "".join(self._refusal)
        if refusal or self._stop_reason == "content_filter":
            words = f": {refusal[:2000]}" if refusal else " (content_filter)"
            raise RequestFailed(Refused(f"{self._place}: the model refused{words}"))
        if self._stop_reason == "error":
            failure = Unavailable(f"{self._place}: the service reported an error while it answered")
            raise RequestFailed(failure, retryable=True)
        text = "".join(self._text)
        if not text.strip() and not self._calls:
            raise RequestFailed(self._nothing())
        return ChatReply(
            text=text,
            reasoning="".join(self._reasoning),
            tool_calls=self._tool_calls(),
            stop_reason=self._stop_reason,
            usage=self._usage,
            model=self._model,
            extra=self._extra.finish([call.extra for call in self._calls]),
        )

    def _choice(self, choice: dict[str, Any]) -> None:
        if isinstance(choice.get("error"), dict):
            raise _embedded_failure(choice, self._place)
        delta = choice.get("delta")
        if not isinstance(delta, dict):
            delta = choice.get("message")
        if isinstance(delta, dict):
            self._delta(delta)
        reason = choice.get("finish_reason")
        if isinstance(reason, str) and reason:
            self._stop_reason = reason
            self.ended = True

    def _delta(self, delta: dict[str, Any]) -> None:
        self._extra.take(delta)
        for name in ("reasoning_content", "reasoning"):
            if thought := _text_of(delta.get(name)):
                self._grow("reasoning", thought)
                break
        if said := _text_of(delta.get("content")):
            for kind, piece in self._splitter.feed(said):
                self._grow(kind, piece)
        if refused := _text_of(delta.get("refusal")):
            self._refusal.append(refused)
        calls = delta.get("tool_calls")
        for call in calls if isinstance(calls, list) else []:
            if isinstance(call, dict):
                self._call(call)

    def _grow(self, kind: Any, piece: str) -> None:
        (self._reasoning if kind == "reasoning" else self._text).append(piece)
        self._emit(Delta(kind=kind, text=piece))

    def _call(self, piece: dict[str, Any]) -> None:
        builder = self._builder_of(piece)
        function = piece.get("function")
        arguments = builder.take(piece.get("id"), function if isinstance(function, dict) else {})
        builder.extra |= extra_of_call(piece)
        index, name = self._calls.index(builder), builder.name or None
        self._emit(Delta(kind="tool_call", text=arguments, index=index, id=builder.id, name=name))

    def _builder_of(self, piece: dict[str, Any]) -> "_ToolCallBuilder":
        """The call that a piece belongs to: by its index; a new id begins a new call, since some
        services number all calls 0, or none.
        """
        index, number = piece.get("index"), piece.get("id")
        if isinstance(index, int):
            known = self._by_index.get(index)
        elif number:
            known = next((call for call in self._calls if call.id == number), None)
        else:
            known = self._calls[-1] if self._calls and not _begins(piece) else None
        if known is not None and not (number and known.id and number != known.id):
            return known
        builder = _ToolCallBuilder()
        self._calls.append(builder)
        if isinstance(index, int):
            self._by_index[index] = builder
        return builder

    def _tool_calls(self) -> tuple[ToolCall, ...]:
        """The calls in their order, each with a unique id."""
        taken: set[str] = set()
        calls = []
        for number, builder in enumerate(self._calls, start=self._first_call):
            name = builder.id or f"call_{number}"
            while name in taken:
                name += "_"
            taken.add(name)
            calls.append(ToolCall(id=name, name=builder.name, arguments="".join(builder.arguments)))
        return tuple(calls)

    def _nothing(self) -> EmptyReply | Truncated:
        if self._stop_reason == "length":
            return Truncated(
                f"{self._place}: the model used all its tokens before it answered",
                hint="raise max_tokens, or shorten the prompt",
            )
        thought = " except reasoning" if self._reasoning else ""
        return EmptyReply(
            f"{self._place}: the model returned nothing{thought} ({self._stop_reason})"
        )

    def _emit(self, delta: Delta) -> None:
        if self._on_delta is not None:
            self._on_delta(delta)


class _ToolCallBuilder:
    """A growing call."""

    def __init__(self) -> None:
        self.id: str | None = None
        self.name = ""
        self.arguments: list[str] = []
        self.extra: dict[str, Any] = {}

    def take(self, number: Any, function: dict[str, Any]) -> str:
        """Add a piece; return the piece of the arguments in it."""
        if isinstance(number, str) and number:
            self.id = number
        name = function.get("name")
        # Some services repeat the whole name with every piece.
        if isinstance(name, str) and name != self.name:
            self.name += name
        arguments = function.get("arguments")
        if arguments is None:
            return ""
        text = arguments if isinstance(arguments, str) else json.dumps(arguments)
        self.arguments.append(text)
        return text


def _begins(piece: dict[str, Any]) -> bool:
    function = piece.get("function")
    return isinstance(function, dict) and bool(function.get("name"))


def _text_of(content: Any) -> str:
    """A text, or the texts of a list of parts; "" for anything else."""
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        texts = [part.get("text") for part in content if isinstance(part, dict)]
        return "".join(text for text in texts if isinstance(text, str))
    return ""


def _embedded_failure(document: dict[str, Any], place: str) -> RequestFailed:
    """The failure of an error that came with status 200; its `code` may be the real status."""
    error = document["error"]
    code = str(error.get("code")) if isinstance(error, dict) else ""
    status = int(code) if re.fullmatch("[45][0-9][0-9]", code) else None
    body = json.dumps(document, ensure_ascii=False).encode("utf-8", "replace")
    # Without a code it is usually an overload, and a retry may succeed.
    return failure_from(ErrorResponse(status or 500, {}, body, place, "", 0))


def read_usage(usage: Any) -> Usage:
    """The usage of one call; `input_tokens` without the cached ones.

    Cached tokens are `prompt_tokens_details.cached_tokens` (OpenAI and most others),
    `prompt_cache_hit_tokens` (DeepSeek) or `cached_tokens` (Kimi); without any of them
    nothing is known of a cache, and the whole prompt counts as input.
    """
    if not isinstance(usage, dict):
        return Usage(turns=1)
    details = usage.get("prompt_tokens_details")
    details = details if isinstance(details, dict) else {}
    read = _first_count(
        details.get("cached_tokens"),
        usage.get("prompt_cache_hit_tokens"),
        usage.get("cached_tokens"),
    )
    written = _first_count(details.get("cache_write_tokens"), details.get("cache_creation_tokens"))
    prompt = _first_count(usage.get("prompt_tokens"), usage.get("input_tokens"))
    return Usage(
        turns=1,
        input_tokens=None if prompt is None else max(0, prompt - (read or 0) - (written or 0)),
        output_tokens=_first_count(usage.get("completion_tokens"), usage.get("output_tokens")),
        cache_read_tokens=read,
        cache_write_tokens=written,
    )


def _first_count(*numbers: Any) -> int | None:
    """The first number that is a count."""
    for number in numbers:
        if isinstance(number, int) and not isinstance(number, bool) and 0 <= number <= LARGEST:
            return number
    return None
