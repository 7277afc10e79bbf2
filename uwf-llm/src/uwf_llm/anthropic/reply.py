"""Read a reply of Anthropic's Messages, whole or from the events of a stream.

Source: https://docs.anthropic.com/en/api/messages-streaming
"""

import json
from typing import Any

from uwf_core.api.agent import Usage
from uwf_llm.anthropic.body import BLOCKS
from uwf_llm.chat import ChatReply
from uwf_llm.layout import call_part, is_plain, objects, raw_part, text_part
from uwf_llm.reply import (
    ReplyBuilder,
    first_count,
    mapping,
    text_of,
)

_STOP_REASONS = {
    "end_turn": "stop",
    "stop_sequence": "stop",
    "tool_use": "tool_calls",
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
}
_STANDARD = frozenset(("type", "id", "name", "input"))


class MessagesReader:
    """Reads a reply; blocks are kept in their order, because the service wants them back so."""

    def __init__(self, builder: ReplyBuilder) -> None:
        self.complete = False
        self.done = False
        self._builder = builder
        self._usage: dict[str, Any] = {}
        self._blocks: list[_Block] = []
        self._by_index: dict[Any, _Block] = {}

    def whole(self, document: Any) -> bool:
        """Read a message; False if it is not one."""
        message = mapping(document)
        if not isinstance(message.get("content"), list):
            return False
        self._head(message)
        for block in objects(message["content"]):
            self._begin(block).end(self._builder)
        self.complete = self._stop(message.get("stop_reason"))
        return True

    def event(self, document: Any) -> None:
        """Read an event; those of unknown types are ignored, as the protocol demands."""
        event = mapping(document)
        match event.get("type"):
            case "message":
                self.whole(event)
            case "message_start":
                self._head(mapping(event.get("message")))
            case "content_block_start":
                index = event.get("index")
                block = self._begin(mapping(event.get("content_block")))
                self._by_index[index if isinstance(index, int) else None] = block
            case "content_block_delta":
                self._delta(event)
            case "content_block_stop":
                if block_ := self._known(event):
                    block_.end(self._builder)
            case "message_delta":
                self._usage |= _known_counts(event.get("usage"))
                self._stop(mapping(event.get("delta")).get("stop_reason"))
            case "message_stop":
                self.complete = self.done = True

    def finish(self) -> ChatReply:
        """The reply."""
        for block in self._blocks:
            block.end(self._builder)
        self._builder.usage = read_usage(self._usage)
        layout = [part for block in self._blocks if (part := block.part()) is not None]
        self._builder.extra = {} if is_plain(layout) else {BLOCKS: layout}
        return self._builder.finish()

    def _head(self, message: dict[str, Any]) -> None:
        self._builder.model = text_of(message.get("model")) or self._builder.model
        self._usage |= _known_counts(message.get("usage"))

    def _begin(self, start: dict[str, Any]) -> "_Block":
        block = _Block(start, self._builder)
        self._blocks.append(block)
        return block

    def _known(self, event: dict[str, Any]) -> "_Block | None":
        index = event.get("index")
        return self._by_index.get(index if isinstance(index, int) else None)

    def _delta(self, event: dict[str, Any]) -> None:
        if block := self._known(event):
            block.grow(mapping(event.get("delta")), self._builder)

    def _stop(self, reason: Any) -> bool:
        """Keep why the model stopped; whether it did."""
        if not isinstance(reason, str) or not reason:
            return False
        self._builder.stop_reason = _STOP_REASONS.get(reason, reason)
        if reason == "refusal":
            self._builder.refuse()
        return True


class _Block:
    """A block of a reply, as it grows."""

    def __init__(self, start: dict[str, Any], builder: ReplyBuilder) -> None:
        self._start = start
        self._kind = text_of(start.get("type"))
        self._length = 0
        self._call: int | None = None
        self._pieces = False
        self._ended = False
        self._lost = False
        self._thinking: list[str] = []
        self._signature = [text_of(start.get("signature"))]
        if self._kind == "tool_use":
            self._call = builder.begin_call()
            name, number = text_of(start.get("name")), text_of(start.get("id"))
            builder.call(self._call, id=number or None, name=name)
        elif self._kind == "text":
            self._say(text_of(start.get("text")), builder)
        elif self._kind == "thinking":
            self._think(text_of(start.get("thinking")), builder)

    def grow(self, delta: dict[str, Any], builder: ReplyBuilder) -> None:
        """Add a delta; a block that is kept as it is must understand all of them."""
        match delta.get("type"), self._kind:
            case "text_delta", "text":
                self._say(text_of(delta.get("text")), builder)
            case "citations_delta", "text":
                return
            case "thinking_delta", "thinking":
                self._think(text_of(delta.get("thinking")), builder)
            case "signature_delta", "thinking":
                self._signature.append(text_of(delta.get("signature")))
            case "input_json_delta", "tool_use":
                piece = text_of(delta.get("partial_json"))
                self._pieces = self._pieces or bool(piece)
                builder.call(self._index, arguments=piece)
            case _:
                self._lost = True

    def end(self, builder: ReplyBuilder) -> None:
        """The block is whole: arguments that did not come in pieces are in its beginning."""
        if self._call is not None and not self._ended and not self._pieces:
            given = self._start.get("input")
            text = given if isinstance(given, str) else json.dumps(given, ensure_ascii=False)
            builder.call(self._call, arguments="{}" if given is None else text)
        self._ended = True

    def part(self) -> dict[str, Any] | None:
        """The block in the layout; None for one that cannot be sent back."""
        if self._kind == "text":
            return text_part(self._length, {})
        if self._kind == "tool_use":
            fields = {k: v for k, v in self._start.items() if k not in _STANDARD and v is not None}
            return call_part(fields)
        if self._lost or not self._kind:
            return None
        if self._kind != "thinking":
            return raw_part(self._start)
        signature = "".join(self._signature)
        whole = {"thinking": "".join(self._thinking), "signature": signature}
        return raw_part({**self._start, **whole}) if signature else None

    @property
    def _index(self) -> int:
        assert self._call is not None
        return self._call

    def _say(self, piece: str, builder: ReplyBuilder) -> None:
        if piece:
            self._length += len(piece)
            builder.text(piece)

    def _think(self, piece: str, builder: ReplyBuilder) -> None:
        if piece:
            self._thinking.append(piece)
            builder.reasoning(piece)


def _known_counts(usage: Any) -> dict[str, Any]:
    """The counts of an event; later ones replace earlier ones."""
    return {name: count for name, count in mapping(usage).items() if count is not None}


def read_usage(usage: dict[str, Any]) -> Usage:
    """The usage of one call; `input_tokens` are without the cached ones here as well."""
    return Usage(
        turns=1,
        input_tokens=first_count(usage.get("input_tokens")),
        output_tokens=first_count(usage.get("output_tokens")),
        cache_read_tokens=first_count(usage.get("cache_read_input_tokens")),
        cache_write_tokens=first_count(usage.get("cache_creation_input_tokens")),
    )
