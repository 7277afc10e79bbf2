"""The built-in exporters, registered like those of any plugin."""

from collections.abc import Sequence

from uwf_core.api.hookspecs import hookimpl
from uwf_core.api.reading import ExporterSpec


@hookimpl
def uwf_exporters() -> Sequence[ExporterSpec]:
    """`html` and `markdown`: the page that explains a thread; the others are for other tools."""
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
        ExporterSpec(
            name="atif",
            summary="a trajectory for Harbor (ATIF), called threads inside",
            factory="uwf_core.views.formats.atif:AtifExporter",
            suffix=".json",
        ),
        ExporterSpec(
            name="otlp-json",
            summary="OpenTelemetry spans without the texts",
            factory="uwf_core.views.formats.otlp:OtlpExporter",
            suffix=".json",
        ),
        ExporterSpec(
            name="otlp-json-content",
            summary="OpenTelemetry spans with prompts, replies and tool calls",
            factory="uwf_core.views.formats.otlp:OtlpContentExporter",
            suffix=".json",
        ),
    ]
