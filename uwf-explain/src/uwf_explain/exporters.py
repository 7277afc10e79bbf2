"""The page as exporters: `html` and `markdown`."""

from collections.abc import Iterator

from uwf_core.api import RecordedThread
from uwf_explain.explanation.html import why_html
from uwf_explain.explanation.markdown import why_markdown
from uwf_explain.explanation.page import why_page


class HtmlExporter:
    """The page as one HTML file."""

    def export(self, thread: RecordedThread) -> Iterator[str]:
        """The document, in parts."""
        return why_html(why_page(thread))


class MarkdownExporter:
    """The page as Markdown."""

    def export(self, thread: RecordedThread) -> Iterator[str]:
        """The document, in parts."""
        return why_markdown(why_page(thread))
