"""Documents as JSON."""

import json
from typing import Any

MANY = 100
"""A list of more rows than this is for programs: it gets one row per line, which is ten times as
fast as an indented one.
"""


def as_json(value: Any, *, ascii_only: bool = False, compact: bool = False) -> str:
    """`value` as JSON: indented for reading, or on one line."""
    if compact or not _has_many(value):
        return json.dumps(value, ensure_ascii=ascii_only, indent=None if compact else 2)
    # Looking for circles takes a fifth of the time, and no document has one.
    encode = json.JSONEncoder(ensure_ascii=ascii_only, check_circular=False).encode
    parts = (f"  {encode(str(key))}: {_rows(each, encode)}" for key, each in value.items())
    return "{\n" + ",\n".join(parts) + "\n}"


def _has_many(value: Any) -> bool:
    return isinstance(value, dict) and any(_is_long(each) for each in value.values())


def _is_long(value: Any) -> bool:
    return isinstance(value, list) and len(value) > MANY


def _rows(value: Any, encode: Any) -> str:
    if not _is_long(value):
        return str(encode(value))
    return "[\n" + ",\n".join("    " + encode(row) for row in value) + "\n  ]"
