"""Agents' Markdown -> harmless HTML: no tags, no pictures, links that send no referrer."""

from collections.abc import Sequence
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token

from uwf_core.markup import text as escaped

MOST_CHARACTERS = 200_000
"""Longer texts are shown as they are: parsing them takes too long."""
SCHEMES = ("http:", "https:", "mailto:")


def to_html(text: str) -> str:
    """Safe HTML of a text in Markdown."""
    if len(text) > MOST_CHARACTERS:
        return f"<pre>{escaped(text)}</pre>"
    return str(_reader().render(text))


def _reader() -> MarkdownIt:
    found = MarkdownIt("commonmark", {"html": False, "linkify": False}, renderer_cls=_Renderer)
    found.enable("table")
    found.disable("image")
    found.validateLink = _is_harmless  # type: ignore[method-assign]
    return found


def _is_harmless(url: str) -> bool:
    """Whether a link leads out, to a page or a mailbox, and not into this server."""
    return url.strip().lower().startswith(SCHEMES)


class _Renderer(RendererHTML):
    """Escapes as every page does: invisible marks are shown."""

    def text(self, tokens: Sequence[Token], idx: int, options: Any, env: Any) -> str:
        return escaped(tokens[idx].content)

    def code_inline(self, tokens: Sequence[Token], idx: int, options: Any, env: Any) -> str:
        return f"<code>{escaped(tokens[idx].content)}</code>"

    def code_block(self, tokens: Sequence[Token], idx: int, options: Any, env: Any) -> str:
        return f"<pre><code>{escaped(tokens[idx].content)}</code></pre>\n"

    def fence(self, tokens: Sequence[Token], idx: int, options: Any, env: Any) -> str:
        return f"<pre><code>{escaped(tokens[idx].content)}</code></pre>\n"

    def link_open(self, tokens: Sequence[Token], idx: int, options: Any, env: Any) -> str:
        href = str(tokens[idx].attrs.get("href", ""))
        return f'<a href="{escaped(href)}" rel="noopener noreferrer nofollow" target="_blank">'

    def heading_open(self, tokens: Sequence[Token], idx: int, options: Any, env: Any) -> str:
        """Headings begin below those of the page."""
        return f"<h{_level(tokens[idx].tag)}>"

    def heading_close(self, tokens: Sequence[Token], idx: int, options: Any, env: Any) -> str:
        return f"</h{_level(tokens[idx].tag)}>\n"


def _level(tag: str) -> int:
    return min(int(tag[1:]) + 2, 6)
