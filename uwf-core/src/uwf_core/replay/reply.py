"""Extraction and validation of recorded replies, without plugins, models and configuration."""

import json
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from uwf_core.agents.cleaning import clean_text
from uwf_core.api.extract import ExtractProblem, ExtractReply, ExtractRequest
from uwf_core.cas.codec import dotted
from uwf_core.engine.converse import NOTHING_READ
from uwf_core.engine.extraction import unknown_node, unknown_nodes
from uwf_core.extract.correction import (
    MAX_CORRECTIONS,
    correction_text,
    correction_without_session,
)
from uwf_core.extract.file_fields import file_fields, has_file_fields
from uwf_core.extract.frontmatter import FrontmatterExtractor
from uwf_core.extract.typed import check_structured, problem_words
from uwf_core.files.artifacts import file_words
from uwf_core.replay.compare import same_text, same_value
from uwf_core.workflow.variants import BODY

if TYPE_CHECKING:
    from uwf_core.views.recorded_step import RecordedCorrection, RecordedStep

BUILTIN = "frontmatter"
"""The extractor that is run again: it calls no model. Outputs of others are validated only."""


def extract_again(step: "RecordedStep", schema: Mapping[str, Any]) -> ExtractReply:
    """The output of a recorded step by this schema, or what is wrong with it."""
    extractor, raw = step.node["extractor"], step.raw
    if extractor == BUILTIN and raw is not None:
        return _from_text(raw, schema)
    if extractor is None and raw is not None:
        return _from_object(raw, schema)
    return check_structured(schema, step.output)._replace(body=step.body)


def _from_text(raw: str, schema: Mapping[str, Any]) -> ExtractReply:
    return FrontmatterExtractor().extract(ExtractRequest(raw=raw, schema=schema))


def _from_object(raw: str, schema: Mapping[str, Any]) -> ExtractReply:
    found = json.loads(raw)
    body = found.get(BODY)
    reply = check_structured(schema, found)
    return reply._replace(body=clean_text(body) if isinstance(body, str) else "")


def same_output(step: "RecordedStep", now: ExtractReply) -> bool:
    """Whether an extraction gives the recorded output and text."""
    return same_value(step.output, now.output) and same_text(step.body, now.body)


def correction_difference(
    step: "RecordedStep", schema: Mapping[str, Any], prompts: Sequence[str]
) -> tuple[str, str] | None:
    """The first correction of a step that would be another now: what was recorded, and what comes
    out, blank if the rejected reply is accepted now. `prompts` are those that the agent may have
    got, for an agent without memory.
    """
    for count, correction in enumerate(step.corrections, 1):
        problems = _problems(step, correction, schema)
        if problems is None:
            continue
        if not problems:
            return "\n".join(correction.errors), ""
        words = [problem_words(each) for each in problems]
        if not same_value(list(correction.errors), words):
            return "\n".join(correction.errors), "\n".join(words)
        texts = _correction_texts(correction, problems, count, prompts)
        if not any(same_text(correction.prompt, text) for text in texts):
            return correction.prompt, texts[0]
    return None


def _problems(
    step: "RecordedStep", correction: "RecordedCorrection", schema: Mapping[str, Any]
) -> tuple[ExtractProblem, ...] | None:
    """What is wrong with a rejected reply now; None if only an extractor of a plugin knows."""
    extractor = step.node["extractor"]
    if extractor not in (BUILTIN, None):
        return None
    if step.node["failure"] is not None:  # it names no extractor
        own = _found_problems(correction, step.workflow.roles[step.role].schema)
        if not same_value(list(correction.errors), [problem_words(each) for each in own]):
            return None
    return _found_problems(correction, schema)


def _found_problems(
    correction: "RecordedCorrection", schema: Mapping[str, Any]
) -> tuple[ExtractProblem, ...]:
    is_object = correction.raw.startswith("{")
    try:
        found = (_from_object if is_object else _from_text)(correction.raw, schema)
    except ValueError:  # a text that begins like an object
        found = _from_text(correction.raw, schema)
    if found.output is None:
        return found.errors or (NOTHING_READ,)
    words, output = "\n".join(correction.errors), found.output
    unknown = unknown_nodes(schema, output, partial(_known_then, words))
    return unknown or tuple(_bad_files_then(correction.errors, schema, output))


def _bad_files_then(
    errors: Sequence[str], schema: Mapping[str, Any], output: Mapping[str, Any]
) -> Iterator[ExtractProblem]:
    """The recorded problems of the files that the output still names: a folder as it was then is
    not recorded.
    """
    if not has_file_fields(schema):
        return
    for keys, path in file_fields(schema, output):
        place = dotted(keys)
        begin = f"{place}: "
        for error in errors:
            if error.startswith(f"{begin}{file_words(path)} "):
                yield ExtractProblem(place, error.removeprefix(begin))


def _known_then(errors: str, refs: set[str]) -> set[str]:
    """The references that were not rejected: which nodes existed then is not recorded."""
    return {ref for ref in refs if unknown_node(ref) not in errors}


def _correction_texts(
    correction: "RecordedCorrection",
    problems: Sequence[ExtractProblem],
    count: int,
    prompts: Sequence[str],
) -> list[str]:
    """The texts that an agent with memory, or one without, would get now."""
    raw, texts = correction.raw, []
    for typed in (raw.startswith("{"), not raw.startswith("{")):
        texts.append(correction_text(problems, count, MAX_CORRECTIONS, typed=typed))
        appendix = correction_without_session(problems, count, MAX_CORRECTIONS, raw, typed=typed)
        texts += [f"{prompt}\n{appendix}" for prompt in prompts]
    return texts
