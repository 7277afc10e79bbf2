"""Whole numbers of any length, as JSON and YAML of others may say them."""

LONGEST_INTEGER = 250
"""In characters. A longer one becomes an infinity, as in JavaScript: nothing stores either, and
Python itself raises on the text of an integer beyond 4300 digits.
"""


LARGEST = 2**53 - 1
"""The largest count: every reader of JSON keeps it exactly. A larger one is taken for unknown."""


def integer(text: str) -> int | float:
    """The number that a text of digits says (`parse_int` of `json.loads`)."""
    return int(text) if len(text) <= LONGEST_INTEGER else float(text)
