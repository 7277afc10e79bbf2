"""Show characters that harm where people read: in a terminal, a page, an exported document.

Texts of agents, workflows and files may hold escape sequences that recolour, retitle or control a
terminal, and direction marks that make a line look different from what it is.
"""

import re
from collections.abc import Callable
from typing import Any, Final

_HARMFUL: Final = (
    "["
    "\x00-\x08\x0b-\x1f"  # C0 save tab and line feed
    "\x7f-\x9f"  # DEL and C1
    "\u061c\u200e\u200f\u202a-\u202e\u2066-\u206f"  # marks and overrides of direction
    "\u2028\u2029"  # line ends that terminals and editors treat differently
    "\ufff9-\ufffb"  # interlinear annotations
    "\ufffe\uffff"  # no characters, which no page may hold
    "\ud800-\udfff"  # lone surrogates
    "\U000e0000-\U000e007f"  # invisible tags
    "]"
)
"""None of them is printable. Compiled when a text needs it, which takes a millisecond."""
_HARMLESS: Final = bytes((9, 10, *range(0x20, 0x7F)))
"""What nearly all texts consist of."""


def visible(text: str) -> str:
    """`text` with every control character but tab and line feed, and every mark that hides or
    reorders text, shown as its escape.
    """
    rest = text.encode("utf-8", "surrogatepass").translate(None, _HARMLESS)
    if rest.decode("utf-8", "surrogatepass").isprintable():
        return text
    return re.sub(_HARMFUL, _escape, text)


def clean(text: str) -> str:
    """`text` as a terminal may print it: harmful characters visible, each CRLF a line feed."""
    return visible(text.replace("\r\n", "\n"))


def escaped(data: str, *, is_yaml: bool) -> str:
    """Escape JSON, or YAML with all harmful texts in double quotes, for a terminal: the same
    value, each harmful character as the format's own escape.
    """
    return re.sub(_HARMFUL, _yaml_escape if is_yaml else _json_escape, data)


def one_line(text: str) -> str:
    """A sentence, harmless and on one line: white space runs become one blank."""
    return clean(" ".join(text.split()))


def in_line(name: str) -> str:
    """A name from outside, such as that of a file, as it may stand in a line of a list: harmless,
    line feeds and tabs shown as their escapes too.
    """
    return visible(name).replace("\n", "\\x0a").replace("\t", "\\x09")


def clean_document(value: Any) -> Any:
    """A document in which every text, keys included, is `clean`."""
    return each_text(value, clean)


def each_text(value: Any, change: Callable[[str], str]) -> Any:
    """A document with every text changed, keys included."""
    if isinstance(value, str):
        return change(value)
    if isinstance(value, dict):
        return {each_text(key, change): each_text(each, change) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [each_text(each, change) for each in value]
    return value


def _escape(match: re.Match[str]) -> str:
    code = ord(match.group())
    if code < 0x100:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def _yaml_escape(match: re.Match[str]) -> str:
    code = ord(match.group())
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def _json_escape(match: re.Match[str]) -> str:
    units = match.group().encode("utf-16-be", "surrogatepass").hex()
    return "".join(f"\\u{units[at : at + 4]}" for at in range(0, len(units), 4))
