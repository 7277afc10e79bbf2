"""What `json.loads` accepts and uwf does not: very long integers, and a key twice."""

from collections.abc import Iterable
from typing import Any

LONGEST_INTEGER = 250
"""In characters. A longer one becomes an infinity, as in JavaScript: neither can be stored, and
Python raises an error for the text of an integer beyond 4300 digits.
"""


def integer(text: str) -> int | float:
    """Parse a text of digits (`parse_int` of `json.loads`)."""
    return int(text) if len(text) <= LONGEST_INTEGER else float(text)


def doubled(pairs: Iterable[tuple[str, Any]]) -> str | None:
    """The first key of an object that came before in it (`object_pairs_hook` of `json.loads`)."""
    seen = set[str]()
    for key, _ in pairs:
        if key in seen:
            return key
        seen.add(key)
    return None
