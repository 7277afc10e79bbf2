"""Read a reply from one document, or from the chunks of a stream.

A whole message is read as one delta: they have the same keys.
Source: https://platform.openai.com/docs/api-reference/chat; also `reasoning_content` (DeepSeek,
Kimi, GLM, vLLM) and `reasoning` (OpenRouter, ollama).
"""

import json
from typing import Any

from uwf_llm.chat import ChatReply
from uwf_llm.layout import objects
from uwf_llm.openai_chat.echo import ExtraBuilder, extra_of_call
from uwf_llm.openai_chat.think import ThinkSplitter
from uwf_llm.reply import Counts, Reader, ReplyBuilder, mapping, text_of, usage_of

COUNTS = Counts(
    given="prompt_tokens input_tokens",
    said="completion_tokens output_tokens",
    read="prompt_tokens_details.cached_tokens prompt_cache_hit_tokens cached_tokens",
    written="prompt_tokens_details.cache_write_tokens prompt_tokens_details.cache_creation_tokens",
)
"""Cached tokens as OpenAI and most others, DeepSeek, and Kimi count them."""


class ChatReader(Reader):
    """Reads a reply. Ids for calls are matched by index, since services number them differently."""

    def __init__(self, builder: ReplyBuilder) -> None:
        super().__init__(builder)
        self._extra = ExtraBuilder()
        self._of_calls: list[dict[str, Any]] = []
        self._by_index: dict[int, int] = {}
        self._splitter = ThinkSplitter()

    def whole(self, document: Any) -> bool:
        """Read a reply; False if it has no choice."""
        return self._take(document)

    def event(self, document: Any) -> None:
        """Read a chunk."""
        self._take(document)

    def finish(self) -> ChatReply:
        """The reply."""
        for kind, piece in self._splitter.finish():
            self._grow(kind, piece)
        if self.builder.stop_reason == "content_filter":
            self.builder.refuse()
        self.builder.extra = self._extra.finish(self._of_calls)
        return super().finish()

    def _take(self, document: Any) -> bool:
        """Add a chunk, or the whole reply; whether it holds a choice."""
        if not isinstance(document, dict):
            return False
        if isinstance(document.get("usage"), dict):
            self.builder.usage = usage_of(document["usage"], COUNTS)
        self.builder.model = text_of(document.get("model")) or self.builder.model
        choices = document.get("choices")
        if not isinstance(choices, list) or not choices or not isinstance(choices[0], dict):
            return False
        self._choice(choices[0])
        return True

    def _choice(self, choice: dict[str, Any]) -> None:
        delta = choice.get("delta")
        if not isinstance(delta, dict):
            delta = choice.get("message")
        if isinstance(delta, dict):
            self._delta(delta)
        reason = choice.get("finish_reason")
        if isinstance(reason, str) and reason:
            self.builder.stop_reason = reason
            self.complete = True

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
            self.builder.refuse(refused)
        for call in objects(delta.get("tool_calls")):
            self._call(call)

    def _grow(self, kind: str, piece: str) -> None:
        if kind == "reasoning":
            self.builder.reasoning(piece)
        else:
            self.builder.text(piece)

    def _call(self, piece: dict[str, Any]) -> None:
        index, function = self._index_of(piece), mapping(piece.get("function"))
        name, arguments = text_of(function.get("name")), function.get("arguments")
        if name == self.builder.name_of(index):
            name = ""  # some services repeat the whole name with every piece
        if arguments is None:
            arguments = ""
        elif not isinstance(arguments, str):
            arguments = json.dumps(arguments)
        number = text_of(piece.get("id")) or None
        self.builder.call(index, id=number, name=name, arguments=arguments)
        self._of_calls[index] |= extra_of_call(piece)

    def _index_of(self, piece: dict[str, Any]) -> int:
        """The call that a piece belongs to: by its index; a new id begins a new call, since some
        services number all calls 0, or none.
        """
        index, number, count = piece.get("index"), piece.get("id"), self.builder.calls
        if isinstance(index, int):
            known = self._by_index.get(index)
        elif number:
            known = next((at for at in range(count) if self.builder.id_of(at) == number), None)
        else:
            known = count - 1 if count and not _begins(piece) else None
        if known is not None:
            before = self.builder.id_of(known)
            if not (number and before and number != before):
                return known
        begun = self.builder.begin_call()
        self._of_calls.append({})
        if isinstance(index, int):
            self._by_index[index] = begun
        return begun


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
