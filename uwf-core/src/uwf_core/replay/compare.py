"""Compare what was recorded with what comes out now; a redacted text matches any text."""

from collections.abc import Mapping
from typing import Any

from uwf_core.api.redact import REPLACEMENT


def same_text(recorded: str, now: str) -> bool:
    """Whether the texts are equal, except where the recorded one is redacted."""
    if recorded == now:
        return True
    first, *parts = recorded.split(REPLACEMENT)
    if not parts or not now.startswith(first):
        return False
    place, last = len(first), parts.pop()
    for part in parts:  # each as early as possible leaves the most for those that follow
        found = now.find(part, place)
        if found < 0:
            return False
        place = found + len(part)
    return now.endswith(last) and len(now) - len(last) >= place


def same_value(recorded: Any, now: Any) -> bool:
    """Whether two JSON values are equal, except where the recorded one is redacted."""
    if recorded == now and type(recorded) is type(now):
        return True
    if isinstance(recorded, str):
        return recorded == REPLACEMENT or (isinstance(now, str) and same_text(recorded, now))
    if isinstance(recorded, Mapping) and isinstance(now, Mapping):
        return recorded.keys() == now.keys() and all(
            same_value(value, now[key]) for key, value in recorded.items()
        )
    if isinstance(recorded, list) and isinstance(now, list):
        return len(recorded) == len(now) and all(map(same_value, recorded, now))
    return bool(recorded == now)
