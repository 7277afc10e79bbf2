"""HTML as text that a model can read. Pure."""

import re
from html.parser import HTMLParser

_SILENT = frozenset(("script", "style", "noscript", "template", "svg", "head", "iframe"))
_BLOCKS = frozenset(
    (
        *("address", "article", "aside", "blockquote", "div", "dl", "dt", "dd", "fieldset"),
        *("figure", "footer", "form", "h1", "h2", "h3", "h4", "h5", "h6", "header", "hr"),
        *("li", "main", "nav", "ol", "p", "pre", "section", "table", "tr", "ul", "br"),
    )
)
_VOID = frozenset(
    (
        *("area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta"),
        *("source", "track", "wbr"),
    )
)


def html_text(html: str) -> str:
    """The text of a page: headings marked, links with their address, blocks on separate lines;
    scripts and styles left out.
    """
    reader = _Reader()
    reader.feed(html)
    reader.close()
    text = "".join(reader.pieces)
    text = re.sub(r"[ \t\r\f\v\u00a0]+", " ", text)
    text = re.sub(r" ?\n ?", "\n", text)
    return re.sub(r"\n{3,}", "\n\n", text).strip()


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.pieces: list[str] = []
        self._silent = 0
        self._title = False
        self._links: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._title = tag == "title" or (self._title and tag in _VOID)
        if tag in _SILENT:
            self._silent += 1
        if tag in _BLOCKS:
            self.pieces.append("\n")
        if tag in ("h1", "h2", "h3", "h4", "h5", "h6"):
            self.pieces.append("#" * int(tag[1]) + " ")
        elif tag == "li":
            self.pieces.append("- ")
        elif tag in ("td", "th"):
            self.pieces.append(" | ")
        elif tag == "a":
            self._links.append(dict(attrs).get("href") or "")

    def handle_endtag(self, tag: str) -> None:
        if tag == "title" and self._title:
            self.pieces.append("\n\n")
        self._title = False
        if tag in _SILENT:
            self._silent = max(0, self._silent - 1)
        if tag in _BLOCKS:
            self.pieces.append("\n")
        if tag == "a" and self._links:
            target = self._links.pop()
            if target.startswith(("http://", "https://")) and not self._silent:
                self.pieces.append(f" ({target})")

    def handle_data(self, data: str) -> None:
        if self._title or not self._silent:
            self.pieces.append(data)
