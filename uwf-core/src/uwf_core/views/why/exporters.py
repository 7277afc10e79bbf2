"""The page as exporters: `html` and `markdown`."""

from collections.abc import Iterator

from uwf_core.api.reading import RecordedThread


class HtmlExporter:
    """The page as one HTML file."""

    def export(self, thread: RecordedThread) -> Iterator[str]:
        """The document, in one part."""
        from uwf_core.views.why.html import why_html
        from uwf_core.views.why.page import why_page

        yield why_html(why_page(thread))


class MarkdownExporter:
    """The page as Markdown."""

    def export(self, thread: RecordedThread) -> Iterator[str]:
        """The document, in one part."""
        from uwf_core.views.why.markdown import why_markdown
        from uwf_core.views.why.page import why_page

        yield why_markdown(why_page(thread))
