"""The frame and style of the pages of all views.

page("thread diff", heading, tag("p", sentence))
"""

from collections.abc import Iterable, Iterator
from typing import Final

from uwf_core.markup import Markup, document, tag

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


def page(title: str, *children: Markup | str | None, style: str = "") -> str:
    """The whole document; `style` is added to the style of all pages."""
    return document(title, _STYLE + style, tag("main", *children))


def page_parts(
    title: str, heading: Markup, contents: Markup, rest: Iterable[Markup], style: str
) -> Iterator[str]:
    """The same in parts, so that not all of it is in memory."""
    gap = Markup("\0")  # in no text of a page
    before, _, after = page(title, heading, contents, gap, style=style).partition(gap)
    yield before
    yield from rest
    yield after
