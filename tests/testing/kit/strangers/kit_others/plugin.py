"""Announces them all."""

from kit_others.names import EXPORTERS, EXTRACTORS, JUDGES, TOOLS
from uwf_core.api import ExporterSpec, ExtractorSpec, JudgeSpec, ToolSpec, hookimpl

SUMMARY = "for the kit's own test"


@hookimpl
def uwf_extractors():
    return [
        ExtractorSpec(name=name, summary=SUMMARY, factory=f"kit_others.extractors:{name}")
        for name in EXTRACTORS
    ]


@hookimpl
def uwf_judges():
    return [
        JudgeSpec(name=name, summary=SUMMARY, factory=f"kit_others.judges:{name}")
        for name in JUDGES
    ]


@hookimpl
def uwf_exporters():
    return [
        ExporterSpec(
            name=name,
            summary=SUMMARY,
            factory=f"kit_others.exporters:{name}",
            suffix="txt" if name == "writes_to_any_file" else ".txt",
        )
        for name in EXPORTERS
    ]


@hookimpl
def uwf_tools():
    words = {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]}
    odd = {
        "has_a_list_of_parameters": {"type": "array"},
        "has_no_schema": {"type": "object", "properties": {"path": {"type": "a path"}}},
    }
    return [
        ToolSpec(
            name=name,
            description="" if name == "says_nothing_about_itself" else SUMMARY,
            parameters=odd.get(name, words),
            factory=f"kit_others.tools:{name}",
        )
        for name in TOOLS
    ]
