"""Read a reply of OpenAI's Responses, whole or from the events of a stream.

Source: https://platform.openai.com/docs/api-reference/responses-streaming. Text and arguments are
shown as they arrive; what counts is each item when it is done.
"""

from typing import Any, NoReturn

from uwf_llm.chat import ChatReply
from uwf_llm.layout import call_part, further, objects, raw_part, text_part
from uwf_llm.parts import GrowingPart
from uwf_llm.reply import Counts, Reader, ReplyBuilder, mapping, text_of, usage_of

_COUNTS = Counts("input_tokens", "output_tokens", "input_tokens_details.cached_tokens")
_CALL = frozenset(("type", "id", "call_id", "name", "arguments", "status"))
_REASONS = {"max_output_tokens": "length", "max_tokens": "length"}


class ResponsesReader(Reader):
    """Reads a reply; items are kept in their order, because the service wants them back so."""

    def __init__(self, builder: ReplyBuilder) -> None:
        super().__init__(builder)
        self._items: list[_Item] = []
        self._by_index: dict[int, _Item] = {}

    def whole(self, document: Any) -> bool:
        """Read a response; False if it is not one."""
        response = mapping(document)
        if not isinstance(response.get("output"), list):
            return False
        self._end(response)
        self.complete = response.get("status") in ("completed", "incomplete")
        return True

    def event(self, document: Any) -> None:
        """Read an event; those of other types are ignored."""
        event = mapping(document)
        kind, response = text_of(event.get("type")), mapping(event.get("response"))
        if not kind and event.get("object") == "response":
            self.whole(event)
        elif kind in ("response.failed", "response.cancelled"):
            self._fail(response)
        elif kind in ("response.completed", "response.incomplete"):
            self._end(response)
            self.complete = self.done = True
        elif kind == "response.output_item.added":
            self._item(event.get("output_index")).begin(mapping(event.get("item")))
        elif kind == "response.output_item.done":
            self._item(event.get("output_index")).end(mapping(event.get("item")))
        elif kind.endswith(".delta") and (piece := text_of(event.get("delta"))):
            match kind.removeprefix("response.").removesuffix(".delta"):
                case "output_text":
                    self._item(event.get("output_index")).say(piece)
                case "function_call_arguments":
                    self._item(event.get("output_index")).argue(piece)
                case "reasoning_summary_text" | "reasoning_text":
                    self._item(event.get("output_index")).think(piece)

    def finish(self) -> ChatReply:
        """The reply."""
        parts = (item.part() for item in self._items)
        self.builder.layout = [part for part in parts if part is not None]
        return super().finish()

    def _item(self, index: Any) -> "_Item":
        known = self._by_index.get(index) if isinstance(index, int) else None
        if known is None:
            known = _Item(self.builder)
            self._items.append(known)
            if isinstance(index, int):
                self._by_index[index] = known
        return known

    def _end(self, response: dict[str, Any]) -> None:
        """The response as it ended: usage, model, reason."""
        builder = self.builder
        if response.get("status") in ("failed", "cancelled") or response.get("error"):
            self._fail(response)
        none = not self._items  # some services send them here only
        for index, item in enumerate(objects(response.get("output"))):
            if none:
                self._item(None).end(item)
            elif (known := self._by_index.get(index)) is not None and known.is_like(item):
                known.end(item)
        builder.model = text_of(response.get("model")) or builder.model
        builder.usage = usage_of(response.get("usage"), _COUNTS)
        reason = text_of(mapping(response.get("incomplete_details")).get("reason"))
        if reason == "content_filter":
            builder.refuse()
        usual = "tool_calls" if builder.calls else "stop"
        if response.get("status") == "incomplete":
            usual = "length"  # some servers give no details
        builder.stop_reason = _REASONS.get(reason, reason) or usual

    def _fail(self, response: dict[str, Any]) -> NoReturn:
        said = f"the response is {text_of(response.get('status')) or 'failed'}"
        raise self.builder.error({"error": response.get("error") or {"message": said}})


class _Item(GrowingPart):
    """An item of the output."""

    def __init__(self, builder: ReplyBuilder) -> None:
        super().__init__(builder)
        self._whole: dict[str, Any] = {}
        self._ended = False

    def begin(self, item: dict[str, Any]) -> None:
        """The item as it begins: a call has its name by now."""
        self._whole = item
        if item.get("type") == "function_call":
            self._name()

    def is_like(self, item: dict[str, Any]) -> bool:
        """Whether `item` can be the end of this one."""
        return bool(self._whole) and self._whole.get("type") == item.get("type")

    def end(self, item: dict[str, Any]) -> None:
        """The item as it is done; what has not arrived in pieces is taken from it."""
        if self._ended:
            return
        self._ended, self._whole = True, item
        match item.get("type"):
            case "message":
                self._message(objects(item.get("content")))
            case "function_call":
                self._name()
                self.argue(self._missing(self.argued, text_of(item.get("arguments"))))
            case "reasoning" if not self.thought:
                summary = (text_of(each.get("text")) for each in objects(item.get("summary")))
                self.think("\n\n".join(summary))

    def argue(self, piece: str) -> None:
        """A piece of arguments."""
        if self.call is None:
            self._name()
        super().argue(piece)

    def part(self) -> dict[str, Any] | None:
        """The item in the layout; None for one that cannot be sent back."""
        kind = self._whole.get("type")
        if self.call is not None:
            return call_part(further(self._whole, _CALL))
        if kind == "message" or self.said:
            other = frozenset(self._whole) - {"phase"}
            return text_part(len(self.said), further(self._whole, other))
        # Without storage the service knows reasoning by its encrypted form alone.
        unknown = kind == "reasoning" and not self._whole.get("encrypted_content")
        if unknown or not kind or not (self._ended or kind == "reasoning"):
            return None
        return raw_part(further(self._whole, {"status"} if kind == "reasoning" else ()))

    def _name(self) -> None:
        number = text_of(self._whole.get("call_id")) or text_of(self._whole.get("id"))
        self.name(text_of(self._whole.get("name")), number)

    def _message(self, content: list[dict[str, Any]]) -> None:
        texts = (text_of(part.get("text")) for part in content if part.get("type") == "output_text")
        self.say(self._missing(self.said, "".join(texts)))
        for part in content:
            if part.get("type") == "refusal":
                self.builder.refuse(text_of(part.get("refusal")))

    def _missing(self, arrived: str, whole: str) -> str:
        """What of the whole did not arrive in pieces; with a gap before it nothing is complete."""
        if whole.startswith(arrived):
            return whole[len(arrived) :]
        if len(whole) > len(arrived):
            self.builder.broke("pieces of the reply did not arrive")
        return ""
