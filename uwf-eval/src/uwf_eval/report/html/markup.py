"""Builds HTML with Python calls. All text is escaped on insertion."""

import re
from html import escape
from typing import Final, TypeAlias

Child: TypeAlias = "Markup | str | int | None"

_HARMFUL = re.compile(
    "["
    "\x00-\x08\x0b-\x1f\x7f-\x9f"  # controls, which no document may hold
    "\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"  # marks and overrides of direction
    "\u2028\u2029\ufff9-\ufffb\ufffe\uffff\ud800-\udfff"
    "\U000e0000-\U000e007f"  # invisible tags
    "]"
)
_VOID: Final = frozenset(("meta", "link", "br"))


class Markup(str):
    """Text that is already markup."""

    __slots__ = ()


def _visible(match: re.Match[str]) -> str:
    code = ord(match.group())
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"


def text(value: str) -> Markup:
    """Escape a text: it then contains neither tags nor invisible characters."""
    return Markup(escape(_HARMFUL.sub(_visible, value), quote=True))


def join(*children: "Child") -> Markup:
    """Concatenate markup and text; None is skipped."""
    return Markup("".join(_child(each) for each in children if each is not None))


def tag(element: str, /, *children: "Child", **attributes: "str | float | bool | None") -> Markup:
    """An element.

    Args:
        element: its name.
        children: its content.
        attributes: underscores are written as dashes, one at the end is dropped (`class_`); None
            and
            False are omitted, True has no value.
    """
    words = "".join(_attribute(key, value) for key, value in attributes.items())
    if element in _VOID:
        return Markup(f"<{element}{words}>")
    return Markup(f"<{element}{words}>{join(*children)}</{element}>")


def _child(child: "Markup | str | int") -> str:
    return child if isinstance(child, Markup) else text(str(child))


def _attribute(key: str, value: "str | float | bool | None") -> str:
    if value is None or value is False:
        return ""
    name = key.rstrip("_").replace("_", "-")
    if value is True:
        return f" {name}"
    shown = f"{value:.2f}".rstrip("0").rstrip(".") if isinstance(value, float) else str(value)
    return f' {name}="{text(shown)}"'
