"""Remember in which order and with which further fields a service sent the parts of a reply, so
that exactly these go back to it: reasoning with its signature or in encrypted form is between
texts and calls, and several services reject a conversation in which it is missing or moved.

A layout is a list that `Message.extra` keeps as JSON: `{"raw": block}` for what is opaque,
`{"text": length, …fields}` and `{"call": true, …fields}` for what the message has already. Pure.
"""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Any

from uwf_core.api.agent import ToolCall
from uwf_llm.chat import Message

_LAYOUT = "layout"
Block = dict[str, Any]


def text_part(length: int, fields: Mapping[str, Any]) -> Block:
    """A text of so many characters."""
    return {"text": length, "fields": dict(fields)} if fields else {"text": length}


def call_part(fields: Mapping[str, Any]) -> Block:
    """The next call."""
    return {"call": True, "fields": dict(fields)} if fields else {"call": True}


def raw_part(block: Mapping[str, Any]) -> Block:
    """A part that is sent back as it came."""
    return {"raw": dict(block)}


def extra_of(layout: Sequence[Block]) -> Mapping[str, Any]:
    """What a message keeps of a layout; nothing if it only has one text, then calls."""
    kinds = ["text" if "text" in part else "call" if "call" in part else "raw" for part in layout]
    ordered = sorted(kinds, key=("text", "call", "raw").index)
    single = kinds.count("text") <= 1 and "raw" not in kinds
    plain = single and kinds == ordered and not any("fields" in part for part in layout)
    return {} if plain else {_LAYOUT: list(layout)}


def sent_parts(
    message: Message,
    service: str | None,
    text: Callable[[str], list[Block]],
    call: Callable[[ToolCall], Block],
) -> Iterator[Block]:
    """The parts of an assistant's message in the order of its layout, if that is of this service;
    without a layout that fits the message: opaque blocks, the text, the calls.

    Args:
        message, service: the message, and to whom it goes. text, call: write a text and a call.
    """
    entries = objects(message.extra.get(_LAYOUT)) if message.service == service else []
    if not _fits(message, entries):
        length = len(message.text)
        entries = [each for each in entries if _is_raw(each)]
        entries += [text_part(length, {})] if length else []
        entries += [call_part({})] * len(message.tool_calls)
    start, calls = 0, iter(message.tool_calls)
    for entry in entries:
        fields = entry.get("fields")
        fields = fields if isinstance(fields, dict) else {}
        if _is_raw(entry):
            yield entry["raw"]
        elif "text" in entry:
            said = message.text[start : start + entry["text"]]
            yield from ({**fields, **each} for each in text(said))
            start += entry["text"]
        else:
            yield {**fields, **call(next(calls))}


def _fits(message: Message, entries: list[Block]) -> bool:
    """Whether the layout accounts for the whole text and for every call."""
    lengths = [each["text"] for each in entries if "text" in each]
    counted = all(type(length) is int and length >= 0 for length in lengths)
    calls = sum("call" in each for each in entries)
    known = all(_is_raw(each) or "text" in each or "call" in each for each in entries)
    whole = counted and sum(lengths) == len(message.text)
    return bool(entries) and known and whole and calls == len(message.tool_calls)


def objects(value: Any) -> list[Block]:
    """The JSON objects of a list; [] for anything else."""
    return [each for each in value if isinstance(each, dict)] if isinstance(value, list) else []


def further(fields: Mapping[str, Any], standard: Collection[str]) -> Block:
    """The fields that are not in the standard of a protocol, without those that are null."""
    return {
        name: value for name, value in fields.items() if name not in standard and value is not None
    }


def _is_raw(entry: Mapping[str, Any]) -> bool:
    return isinstance(entry.get("raw"), dict)
