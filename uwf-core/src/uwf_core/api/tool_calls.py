"""Calls of tools in a recorded turn, for formats that want their arguments as an object. Pure."""

import json
from typing import Any


def tool_arguments(text: str) -> dict[str, Any]:
    """The arguments of a call, which are any text, as an object: another text is under `text`."""
    try:
        found = json.loads(text, parse_constant=_reject)
        json.dumps(found, ensure_ascii=False).encode()  # no lone surrogates
    except (ValueError, RecursionError):
        found = None
    return found if isinstance(found, dict) else {"text": text} if text else {}


def _reject(word: str) -> None:
    raise ValueError(f"{word} is not JSON")
