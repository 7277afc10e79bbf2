"""The built-in exporters, registered like those of any plugin."""

from collections.abc import Sequence

from uwf_core.api.hookspecs import hookimpl
from uwf_core.api.reading import ExporterSpec


@hookimpl
def uwf_exporters() -> Sequence[ExporterSpec]:
    """The page that explains a thread."""
    return [
        ExporterSpec(
            name="html",
            summary="the page of `uwf thread why` as one HTML file",
            factory="uwf_core.views.why.exporters:HtmlExporter",
            suffix=".html",
        ),
        ExporterSpec(
            name="markdown",
            summary="the page of `uwf thread why` as Markdown",
            factory="uwf_core.views.why.exporters:MarkdownExporter",
            suffix=".md",
        ),
    ]
