"""The texts of the extractor contract: good outputs, and what agents deliver instead."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from typing import Any

Write = Callable[[Mapping[str, Any], str], str]

SCHEMA: Mapping[str, Any] = {
    "oneOf": [
        {
            "type": "object",
            "properties": {
                "$status": {"const": "done"},
                "summary": {"type": "string"},
                "count": {"type": "integer"},
                "share": {"type": "number"},
                "sure": {"type": "boolean"},
                "files": {"type": "array", "items": {"type": "string"}},
                "more": {"type": "object", "properties": {"note": {"type": "string"}}},
            },
            "required": ["$status"],
        },
        {
            "type": "object",
            "properties": {"$status": {"const": "failed"}, "why": {"type": "string"}},
            "required": ["$status", "why"],
        },
    ]
}
"""The schema of the kit's requests: two variants, every type of field."""
OUTPUTS: tuple[Mapping[str, Any], ...] = (
    {"$status": "done"},
    {"$status": "failed", "why": 'ä \U0001f680 "quoted" \\ back: yes # no\nsecond line\n'},
    {
        "$status": "done",
        "summary": "1.0",
        "count": -7,
        "share": 0.25,
        "sure": False,
        "files": ["a.py", "- b", ""],
        "more": {"note": "null"},
    },
)
BODY = "What I did.\n\n---\n\n{not: json}\n"
HOSTILE = (
    *(
        "",
        " \n\t\n",
        "\0",
        "\ufeff",
        "---",
        "---\n---\n",
        "---\n- a list\n---\n",
        "{",
        "[]",
        "null",
    ),
    "---\n$status: done\nshare: .nan\ncount: 1e999\n---\n",
    '{"$status": "done", "share": NaN, "count": 1e999}',
    f'{{"$status": "done", "count": {10**400}}}',
    f"---\n$status: done\ncount: {10**400}\n---\n",
    "---\n$status: done\nsummary: *nothing\n---\n",
    "---\na: &a [*a]\n---\n",
    '{"$status": {"$status": "done"}}',
    "[" * 50_000,
    "---\n" + "{a: " * 5_000 + "\n---\n",
    "---\n$status: done\nsummary: " + "\ud83d" + "\n---\n",
    '{"$status": "done", "summary": "\\ud83d"}',
    "Nothing of that kind. " * 200,
)
"""Malformed texts, as agents deliver them."""

_MARK = "the-mark-of-the-kit"
_IN_PLACE_OF_A_VALUE = (
    *("NaN", ".nan", "-Infinity", "1e999", "9" * 5_000, "", "\0", "\ud83d", '"\\ud83d"', '"', "'"),
    *("[" * 20_000, '{"a":' * 20_000, "{a: " * 2_000, "<a>" * 20_000, "*nothing", "&a [*a]", "---"),
)
_WRONG_OUTPUTS: tuple[Mapping[str, Any], ...] = (
    {},
    {"$status": "unheard-of"},
    {"$status": None},
    {"$status": ["done"]},
    {"$status": "failed"},
    {"$status": "done", "count": "seven", "files": "a.py", "more": []},
    {"$status": "done", "unknown": 1},
    {"$status": "done", "share": float("nan"), "count": float("inf")},
    {"summary": "without a status"},
)


def hostile_in_format(write: Write) -> Iterator[str]:
    """Malformed texts in the format that `write` writes: cut, twice, with odd values, with outputs
    that do not fit the schema.
    """
    whole = write(OUTPUTS[2], BODY)
    yield from (whole[: len(whole) * part // 8] for part in range(1, 8))
    yield from (whole * 2, whole[::-1], whole.rstrip()[:-1], whole.rstrip()[1:])
    for output in _WRONG_OUTPUTS:
        with suppress(Exception):  # the format may have no way to write it
            yield write(output, "")
    for output in ({"$status": "done", "summary": _MARK}, {"$status": _MARK}):
        text = write(output, "")
        for value in _IN_PLACE_OF_A_VALUE:
            yield text.replace(_MARK, value)
            yield text.replace(f'"{_MARK}"', value)
