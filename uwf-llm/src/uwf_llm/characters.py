"""Text of whole characters: half of a surrogate pair, which tokenizers and proxies produce, is
rejected by services that read JSON strictly. Pure.
"""

import json
import re
from typing import Any

_HALF = re.compile("[\ud800-\udfff]")
_HALF_IN_JSON = re.compile(r"\\u[dD][89a-fA-F]")


def whole_characters(text: str) -> str:
    """`text` with U+FFFD in place of half a pair; two halves in a row are one character."""
    if text.isascii() or _HALF.search(text) is None:
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def has_whole(text: str) -> bool:
    """Whether the JSON `text` has no half of a pair, neither in itself nor in its escapes (those of
    pairs count as halves).
    """
    return _HALF_IN_JSON.search(text) is None and _HALF.search(text) is None


def whole_value(value: Any, text: str) -> Any:
    """The parsed JSON `value` of `text` with whole characters only."""
    if has_whole(text):
        return value
    return json.loads(whole_characters(json.dumps(value, ensure_ascii=False)))
