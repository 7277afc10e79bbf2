"""Announces them all."""

from kit_others.names import EXTRACTORS, JUDGES
from uwf_core.api import ExtractorSpec, JudgeSpec, hookimpl

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
