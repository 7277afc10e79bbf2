"""Read a reply of Anthropic's Messages, whole or from the events of a stream.

Source: https://docs.anthropic.com/en/api/messages-streaming
"""

import json
from typing import Any

from uwf_llm.chat import ChatReply
from uwf_llm.layout import call_part, further, objects, raw_part, text_part
from uwf_llm.parts import GrowingPart
from uwf_llm.reply import Counts, Reader, ReplyBuilder, mapping, text_of, usage_of

_COUNTS = Counts(
    "input_tokens",
    "output_tokens",
    "cache_read_input_tokens",
    "cache_creation_input_tokens",
    apart=True,
)
_STOP_REASONS = {
    "end_turn": "stop",
    "stop_sequence": "stop",
    "tool_use": "tool_calls",
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
}
_STANDARD = frozenset(("type", "id", "name", "input"))


class MessagesReader(Reader):
    """Reads a reply; blocks are kept in their order, because the service wants them back so."""

    def __init__(self, builder: ReplyBuilder) -> None:
        super().__init__(builder)
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
            self._begin(block).end()
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
                if block_ := self._known(event):
                    block_.grow(mapping(event.get("delta")))
            case "content_block_stop":
                if block_ := self._known(event):
                    block_.end()
            case "message_delta":
                self._usage |= further(mapping(event.get("usage")), ())
                self._stop(mapping(event.get("delta")).get("stop_reason"))
            case "message_stop":
                self.complete = self.done = True

    def finish(self) -> ChatReply:
        """The reply."""
        for block in self._blocks:
            block.end()
        self.builder.usage = usage_of(self._usage, _COUNTS)
        parts = (block.part() for block in self._blocks)
        self.builder.layout = [part for part in parts if part is not None]
        return super().finish()

    def _head(self, message: dict[str, Any]) -> None:
        self.builder.model = text_of(message.get("model")) or self.builder.model
        self._usage |= further(mapping(message.get("usage")), ())

    def _begin(self, start: dict[str, Any]) -> "_Block":
        block = _Block(start, self.builder)
        self._blocks.append(block)
        return block

    def _known(self, event: dict[str, Any]) -> "_Block | None":
        index = event.get("index")
        return self._by_index.get(index if isinstance(index, int) else None)

    def _stop(self, reason: Any) -> bool:
        """Keep why the model stopped; whether it did."""
        if not isinstance(reason, str) or not reason:
            return False
        self.builder.stop_reason = _STOP_REASONS.get(reason, reason)
        if reason == "refusal":
            self.builder.refuse()
        return True


class _Block(GrowingPart):
    """A block of a reply."""

    def __init__(self, start: dict[str, Any], builder: ReplyBuilder) -> None:
        super().__init__(builder)
        self._start = start
        self._kind = text_of(start.get("type"))
        self._ended = self._lost = False
        self._signature = text_of(start.get("signature"))
        match self._kind:
            case "tool_use":
                self.name(text_of(start.get("name")), text_of(start.get("id")))
            case "text":
                self.say(text_of(start.get("text")))
            case "thinking":
                self.think(text_of(start.get("thinking")))

    def grow(self, delta: dict[str, Any]) -> None:
        """Add a delta; a block that is kept as it is must understand all of them."""
        match delta.get("type"), self._kind:
            case "text_delta", "text":
                self.say(text_of(delta.get("text")))
            case "citations_delta", "text":
                return
            case "thinking_delta", "thinking":
                self.think(text_of(delta.get("thinking")))
            case "signature_delta", "thinking":
                self._signature += text_of(delta.get("signature"))
            case "input_json_delta", "tool_use":
                self.argue(text_of(delta.get("partial_json")))
            case _:
                self._lost = True

    def end(self) -> None:
        """The block is whole: arguments that did not come in pieces are in its beginning."""
        if self.call is not None and not self._ended and not self.argued:
            given = self._start.get("input")
            text = given if isinstance(given, str) else json.dumps(given, ensure_ascii=False)
            self.argue("{}" if given is None else text)
        self._ended = True

    def part(self) -> dict[str, Any] | None:
        """The block in the layout; None for one that cannot be sent back."""
        if self._kind == "text":
            return text_part(len(self.said), {})
        if self._kind == "tool_use":
            return call_part(further(self._start, _STANDARD))
        if self._lost or not self._kind:
            return None
        if self._kind != "thinking":
            return raw_part(self._start)
        whole = {"thinking": self.thought, "signature": self._signature}
        return raw_part({**self._start, **whole}) if self._signature else None
