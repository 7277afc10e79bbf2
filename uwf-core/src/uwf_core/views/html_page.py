"""One static HTML page: every text is escaped on insertion, and the browser fetches nothing.

page("thread diff", heading, tag("p", sentence))
"""

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
_POLICY: Final = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"
"""Even if injected markup got into the page, the browser would run and fetch nothing."""

_STYLE: Final = """\
:root { color-scheme: light dark; --paper: #fbfaf7; --card: #fff; --ink: #1d2226; --soft: #59636b;
  --line: #dcdad3; --accent: #0f5f6e; --gone: #fbe3da; --new: #dcf1e3; --bad: #b3380b; }
@media (prefers-color-scheme: dark) { :root { --paper: #14181b; --card: #1b2024; --ink: #e7e6e1;
  --soft: #a3acb2; --line: #333b41; --accent: #6fc3d1; --gone: #4a261a; --new: #1d3d2a;
  --bad: #f08b52; } }
* { box-sizing: border-box; }
body { margin: 0 auto; padding: 2rem 1.25rem 4rem; max-width: 76rem; background: var(--paper);
  color: var(--ink); font: 16px/1.5 system-ui, "Segoe UI", Roboto, "DejaVu Sans", sans-serif;
  font-variant-numeric: tabular-nums; overflow-wrap: anywhere; }
h1 { font-size: 1.8rem; margin: 0 0 .3rem; } h2 { font-size: 1.25rem; margin: 2.2rem 0 .4rem; }
h3 { font-size: 1.05rem; margin: 1.6rem 0 .4rem; }
code, pre { font: .86em/1.45 ui-monospace, Menlo, Consolas, "DejaVu Sans Mono", monospace; }
pre { margin: .3rem 0; padding: .5rem .7rem; white-space: pre-wrap; background: var(--card);
  border: 1px solid var(--line); border-radius: 6px; }
a { color: var(--accent); } .soft { color: var(--soft); } .bad { color: var(--bad); }
.headline { font-size: 1.15rem; margin: 1rem 0; max-width: 52rem; }
table { width: 100%; border-collapse: collapse; background: var(--card);
  border: 1px solid var(--line); font-size: .92rem; }
th, td { text-align: left; vertical-align: top; padding: .35rem .6rem; font-weight: 400;
  border-top: 1px solid var(--line); }
thead th { color: var(--soft); font-size: .82rem; } tbody th { font-weight: 600; }
td.number, th.number { text-align: right; }
details > summary { cursor: pointer; color: var(--soft); }
footer { margin-top: 3rem; color: var(--soft); font-size: .85rem; }
@media print { details > summary { display: none; } }
"""


class Markup(str):
    """Text that is already markup."""

    __slots__ = ()


def page(title: str, *children: "Child", style: str = "") -> str:
    """The whole document; `style` is added to the style of all pages."""
    head = tag(
        "head",
        tag("meta", charset="utf-8"),
        tag("meta", http_equiv="Content-Security-Policy", content=_POLICY),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("meta", name="color-scheme", content="light dark"),
        tag("meta", name="generator", content="uwf"),
        tag("link", rel="icon", href="data:,"),
        tag("title", f"{title} – uwf"),
        tag("style", Markup(_STYLE + style)),
    )
    body = tag("body", tag("main", *children))
    return f"<!doctype html>\n{tag('html', head, body, lang='en')}\n"


def text(value: str) -> Markup:
    """Escape a text: it then contains neither tags nor invisible characters."""
    is_plain = value.isascii() and value.isprintable()
    return Markup(escape(value if is_plain else _HARMFUL.sub(_visible, value), quote=True))


def join(*children: "Child") -> Markup:
    """Concatenate markup and text; None is skipped."""
    return Markup("".join(_child(each) for each in children if each is not None))


def tag(element: str, /, *children: "Child", **attributes: "str | bool | None") -> Markup:
    """An element. In the names of attributes underscores are written as dashes, and one at the end
    is dropped (`class_`); None and False are omitted, True has no value.
    """
    words = "".join(_attribute(key, value) for key, value in attributes.items())
    if element in _VOID:
        return Markup(f"<{element}{words}>")
    return Markup(f"<{element}{words}>{join(*children)}</{element}>")


def _visible(match: re.Match[str]) -> str:
    code = ord(match.group())
    if code < 0x100:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def _child(child: "Markup | str | int") -> str:
    return child if isinstance(child, Markup) else text(str(child))


def _attribute(key: str, value: "str | bool | None") -> str:
    if value is None or value is False:
        return ""
    name = key.rstrip("_").replace("_", "-")
    return f" {name}" if value is True else f' {name}="{text(str(value))}"'
