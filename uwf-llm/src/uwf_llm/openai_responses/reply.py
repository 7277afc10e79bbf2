"""Read a reply of OpenAI's Responses, whole or from the events of a stream.

Source: https://platform.openai.com/docs/api-reference/responses-streaming. Text and arguments are
shown as they arrive; what counts is each item when it is done.
"""

from typing import Any, NoReturn

from uwf_core.api.agent import Usage
from uwf_llm.chat import ChatReply
from uwf_llm.layout import call_part, is_plain, objects, raw_part, text_part
from uwf_llm.openai_responses.body import ITEMS
from uwf_llm.reply import (
    ReplyBuilder,
    first_count,
    mapping,
    text_of,
)

_CALL = frozenset(("type", "id", "call_id", "name", "arguments", "status"))
_REASONS = {"max_output_tokens": "length", "max_tokens": "length"}


class ResponsesReader:
    """Reads a reply; items are kept in their order, because the service wants them back so."""

    def __init__(self, builder: ReplyBuilder) -> None:
        self.complete = False
        self.done = False
        self._builder = builder
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
        kind = text_of(event.get("type"))
        if not kind and event.get("object") == "response":
            self.whole(event)
        elif kind in ("response.failed", "response.cancelled"):
            self._fail(mapping(event.get("response")))
        elif kind in ("response.completed", "response.incomplete"):
            self._end(mapping(event.get("response")))
            self.complete = self.done = True
        elif kind == "response.output_item.added":
            self._item(event.get("output_index")).begin(mapping(event.get("item")))
        elif kind == "response.output_item.done":
            self._item(event.get("output_index")).end(mapping(event.get("item")))
        elif kind.endswith(".delta"):
            self._delta(kind, event)

    def finish(self) -> ChatReply:
        """The reply."""
        layout = [part for item in self._items if (part := item.part()) is not None]
        self._builder.extra = {} if is_plain(layout) else {ITEMS: layout}
        return self._builder.finish()

    def _item(self, index: Any) -> "_Item":
        known = self._by_index.get(index) if isinstance(index, int) else None
        if known is None:
            known = _Item(self._builder)
            self._items.append(known)
            if isinstance(index, int):
                self._by_index[index] = known
        return known

    def _delta(self, kind: str, event: dict[str, Any]) -> None:
        piece = text_of(event.get("delta"))
        if not piece:
            return
        match kind.removeprefix("response.").removesuffix(".delta"):
            case "output_text":
                self._item(event.get("output_index")).say(piece)
            case "function_call_arguments":
                self._item(event.get("output_index")).argue(piece)
            case "reasoning_summary_text" | "reasoning_text":
                self._item(event.get("output_index")).think(piece)

    def _end(self, response: dict[str, Any]) -> None:
        """The response as it ended: usage, model, reason."""
        builder = self._builder
        if response.get("status") in ("failed", "cancelled") or response.get("error"):
            self._fail(response)
        none = not self._items  # some services send them here only
        for index, item in enumerate(objects(response.get("output"))):
            if none:
                self._item(None).end(item)
            elif (known := self._by_index.get(index)) is not None and known.is_like(item):
                known.end(item)
        builder.model = text_of(response.get("model")) or builder.model
        builder.usage = read_usage(response.get("usage"))
        reason = text_of(mapping(response.get("incomplete_details")).get("reason"))
        if reason == "content_filter":
            builder.refuse()
        usual = "tool_calls" if builder.calls else "stop"
        if response.get("status") == "incomplete":
            usual = "length"  # some servers give no details
        builder.stop_reason = _REASONS.get(reason, reason) or usual

    def _fail(self, response: dict[str, Any]) -> NoReturn:
        said = f"the response is {text_of(response.get('status')) or 'failed'}"
        raise self._builder.error({"error": response.get("error") or {"message": said}})


class _Item:
    """An item of the output, as it grows."""

    def __init__(self, builder: ReplyBuilder) -> None:
        self._builder = builder
        self._whole: dict[str, Any] = {}
        self._said = ""
        self._call: int | None = None
        self._argued = ""
        self._thought = False
        self._ended = False

    def begin(self, item: dict[str, Any]) -> None:
        """The item as it begins: a call has its name by now."""
        self._whole = item
        if item.get("type") == "function_call":
            self._name(item)

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
                self._name(item)
                self.argue(self._missing(self._argued, text_of(item.get("arguments"))))
            case "reasoning" if not self._thought:
                summary = (text_of(each.get("text")) for each in objects(item.get("summary")))
                self.think("\n\n".join(summary))

    def say(self, piece: str) -> None:
        """A piece of text."""
        self._said += piece
        self._builder.text(piece)

    def argue(self, piece: str) -> None:
        """A piece of arguments."""
        if self._call is None:
            self._name(self._whole)
        assert self._call is not None
        self._argued += piece
        self._builder.call(self._call, arguments=piece)

    def think(self, piece: str) -> None:
        """A piece of reasoning."""
        if piece:
            self._thought = True
            self._builder.reasoning(piece)

    def part(self) -> dict[str, Any] | None:
        """The item in the layout; None for one that cannot be sent back."""
        kind = self._whole.get("type")
        if self._call is not None:
            return call_part(_further(self._whole, _CALL))
        if kind == "message" or self._said:
            other = frozenset(self._whole) - {"phase"}
            return text_part(len(self._said), _further(self._whole, other))
        if kind == "reasoning":
            # Without storage the service knows reasoning by its encrypted form alone.
            encrypted = self._whole.get("encrypted_content")
            return raw_part(_further(self._whole, frozenset(("status",)))) if encrypted else None
        return raw_part(_further(self._whole, frozenset())) if self._ended and kind else None

    def _name(self, item: dict[str, Any]) -> None:
        name = text_of(item.get("name"))
        if self._call is None:
            self._call = self._builder.begin_call()
        elif self._builder.name_of(self._call):
            name = ""
        number = text_of(item.get("call_id")) or text_of(item.get("id")) or None
        self._builder.call(self._call, id=number, name=name)

    def _message(self, content: list[dict[str, Any]]) -> None:
        texts = (text_of(part.get("text")) for part in content if part.get("type") == "output_text")
        if missing := self._missing(self._said, "".join(texts)):
            self.say(missing)
        for part in content:
            if part.get("type") == "refusal":
                self._builder.refuse(text_of(part.get("refusal")))

    def _missing(self, arrived: str, whole: str) -> str:
        """What of the whole did not arrive in pieces; with a gap before it nothing is complete."""
        if whole.startswith(arrived):
            return whole[len(arrived) :]
        if len(whole) > len(arrived):
            self._builder.broke("pieces of the reply did not arrive")
        return ""


def _further(item: dict[str, Any], without: frozenset[str]) -> dict[str, Any]:
    return {k: v for k, v in item.items() if k not in without and v is not None}


def read_usage(usage: Any) -> Usage:
    """The usage of one call; `output_tokens` are with the reasoning, which is paid as output."""
    counts = mapping(usage)
    read = first_count(mapping(counts.get("input_tokens_details")).get("cached_tokens"))
    given = first_count(counts.get("input_tokens"))
    return Usage(
        turns=1,
        input_tokens=None if given is None else max(0, given - (read or 0)),
        output_tokens=first_count(counts.get("output_tokens")),
        cache_read_tokens=read,
    )
