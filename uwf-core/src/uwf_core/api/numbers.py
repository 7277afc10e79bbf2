"""Integers of any length in JSON and YAML."""

LONGEST_INTEGER = 250
"""In characters. A longer one becomes an infinity, as in JavaScript: neither can be stored, and
Python raises an error for the text of an integer beyond 4300 digits.
"""


LARGEST = 2**53 - 1
"""The largest count that every JSON parser keeps exactly; a larger one counts as unknown."""


def integer(text: str) -> int | float:
    """Parse a text of digits (`parse_int` of `json.loads`)."""
    return int(text) if len(text) <= LONGEST_INTEGER else float(text)
