"""What this distribution announces to uwf."""

from collections.abc import Sequence

from uwf_core.api import ExporterSpec
from uwf_core.api.hookspecs import hookimpl


@hookimpl
def uwf_exporters() -> Sequence[ExporterSpec]:
    """A thread as a file for other tools."""
    return [
        ExporterSpec(
            name="atif",
            summary="a trajectory for Harbor (ATIF), called threads inside",
            factory="uwf_export.atif:AtifExporter",
            suffix=".json",
        ),
        ExporterSpec(
            name="otlp-json",
            summary="OpenTelemetry spans without the texts",
            factory="uwf_export.otlp:OtlpExporter",
            suffix=".json",
        ),
        ExporterSpec(
            name="otlp-json-content",
            summary="OpenTelemetry spans with prompts, replies and tool calls",
            factory="uwf_export.otlp:OtlpContentExporter",
            suffix=".json",
        ),
    ]
