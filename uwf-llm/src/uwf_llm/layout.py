"""Remember in which order and with which further fields a service sent the parts of a reply, so
that exactly these go back to it: reasoning with its signature or in encrypted form is between
texts and calls, and several services reject a conversation in which it is missing or moved.

A layout is a list that `Message.extra` keeps as JSON: `{"raw": block}` for what is opaque,
`{"text": length, …fields}` and `{"call": true, …fields}` for what the message has already. Pure.
"""

from collections.abc import Iterator, Mapping
from typing import Any, Literal

from uwf_core.api.agent import ToolCall
from uwf_llm.chat import Message

Part = tuple[Literal["text", "call", "raw"], Any, Mapping[str, Any]]


def text_part(length: int, fields: Mapping[str, Any]) -> dict[str, Any]:
    """A text of so many characters."""
    return {"text": length, "fields": dict(fields)} if fields else {"text": length}


def call_part(fields: Mapping[str, Any]) -> dict[str, Any]:
    """The next call."""
    return {"call": True, "fields": dict(fields)} if fields else {"call": True}


def raw_part(block: Mapping[str, Any]) -> dict[str, Any]:
    """A part that is sent back as it came."""
    return {"raw": dict(block)}


def is_plain(layout: list[dict[str, Any]]) -> bool:
    """Whether the layout adds nothing to the message: one text, then calls."""
    kinds = ["text" if "text" in part else "call" if "call" in part else "raw" for part in layout]
    ordered = sorted(kinds, key=("text", "call", "raw").index)
    single = kinds.count("text") <= 1 and "raw" not in kinds
    return single and kinds == ordered and not any("fields" in part for part in layout)


def parts_of(message: Message, layout: Any) -> Iterator[Part]:
    """The parts of an assistant's message in the order of its layout; without a layout that fits
    the message: opaque blocks, the text, the calls.

    Yields:
        ("text", text, fields), ("call", `ToolCall`, fields) or ("raw", block, {}).
    """
    entries = objects(layout)
    if not _fits(message, entries):
        yield from (("raw", each["raw"], {}) for each in entries if _is_raw(each))
        if message.text:
            yield "text", message.text, {}
        yield from (("call", call, {}) for call in message.tool_calls)
        return
    start, calls = 0, iter(message.tool_calls)
    for entry in entries:
        fields = entry.get("fields")
        fields = fields if isinstance(fields, dict) else {}
        if _is_raw(entry):
            yield "raw", entry["raw"], {}
        elif "text" in entry:
            yield "text", message.text[start : start + entry["text"]], fields
            start += entry["text"]
        else:
            call: ToolCall = next(calls)
            yield "call", call, fields


def _fits(message: Message, entries: list[dict[str, Any]]) -> bool:
    """Whether the layout accounts for the whole text and for every call."""
    lengths = [each["text"] for each in entries if "text" in each]
    counted = all(type(length) is int and length >= 0 for length in lengths)
    calls = sum("call" in each for each in entries)
    known = all(_is_raw(each) or "text" in each or "call" in each for each in entries)
    whole = counted and sum(lengths) == len(message.text)
    return bool(entries) and known and whole and calls == len(message.tool_calls)


def objects(value: Any) -> list[dict[str, Any]]:
    """The JSON objects of a list; [] for anything else."""
    return [each for each in value if isinstance(each, dict)] if isinstance(value, list) else []


def _is_raw(entry: Mapping[str, Any]) -> bool:
    return isinstance(entry.get("raw"), dict)
