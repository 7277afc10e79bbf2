"""Documents as JSON."""

import json
from collections.abc import Iterable
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
    parts = (
        lines_of_rows(str(key), map(encode, each))
        if _is_long(each)
        else f"  {encode(str(key))}: {encode(each)}"
        for key, each in value.items()
    )
    return "{\n" + ",\n".join(parts) + "\n}"


def lines_of_rows(key: str, rows: Iterable[str]) -> str:
    """A list whose rows are JSON already, one per line."""
    return f"  {json.dumps(key)}: [\n    " + ",\n    ".join(rows) + "\n  ]"


def _has_many(value: Any) -> bool:
    return isinstance(value, dict) and any(_is_long(each) for each in value.values())


def _is_long(value: Any) -> bool:
    return isinstance(value, list) and len(value) > MANY
