"""Static HTML from Python calls: every text is escaped on insertion, the browser fetches nothing.

document("Report", css, tag("main", tag("p", sentence, class_="note")))
"""

from html import escape
from typing import Final, TypeAlias

from uwf_core.escape import visible

Child: TypeAlias = "Markup | str | int | None"

_VOID: Final = frozenset(("meta", "link", "br"))
_POLICY: Final = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"
"""Even if injected markup got into the page, the browser would run and fetch nothing."""


class Markup(str):
    """Text that is already markup."""

    __slots__ = ()


def document(title: str, style: str, *body: "Child", program: str = "uwf") -> str:
    """A whole page.

    Args:
        title: of its window; the name of the program follows.
        style: its CSS, which is not escaped.
        body: its content.
        program: what wrote it.
    """
    head = tag(
        "head",
        tag("meta", charset="utf-8"),
        tag("meta", http_equiv="Content-Security-Policy", content=_POLICY),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("meta", name="color-scheme", content="light dark"),
        tag("meta", name="generator", content=program),
        tag("link", rel="icon", href="data:,"),
        tag("title", f"{title} – {program}"),
        tag("style", Markup(style)),
    )
    return f"<!doctype html>\n{tag('html', head, tag('body', *body), lang='en')}\n"


def text(value: str) -> Markup:
    """Escape a text: it then contains neither tags nor harmful characters."""
    return Markup(escape(visible(value), quote=True))


def join(*children: "Child") -> Markup:
    """Concatenate markup and text; None is skipped."""
    return Markup("".join(_child(each) for each in children if each is not None))


def tag(element: str, /, *children: "Child", **attributes: "str | float | bool | None") -> Markup:
    """An element.

    Args:
        element: its name.
        children: its content.
        attributes: underscores are written as dashes, one at the end is dropped (`class_`); None
            and False are omitted, True has no value, a float is rounded to two decimals.
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
