"""What this distribution announces to uwf."""

from collections.abc import Sequence

from uwf_core.api import ExporterSpec
from uwf_core.api.hookspecs import hookimpl


@hookimpl
def uwf_exporters() -> Sequence[ExporterSpec]:
    """The page that explains a thread."""
    return [
        ExporterSpec(
            name="html",
            summary="the page of `uwf thread why` as one HTML file",
            factory="uwf_explain.exporters:HtmlExporter",
            suffix=".html",
        ),
        ExporterSpec(
            name="markdown",
            summary="the page of `uwf thread why` as Markdown",
            factory="uwf_explain.exporters:MarkdownExporter",
            suffix=".md",
        ),
    ]
