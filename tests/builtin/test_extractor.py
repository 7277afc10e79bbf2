"""The llm extractor: one JSON-mode call; bad text is errors, never an exception."""

import json

import pytest
from builtin_kit import SCHEMA, model_at

from uwf_agent_builtin.extractor import LlmExtractor
from uwf_core.api import ExtractRequest
from uwf_testing.model_server import ScriptedModel


def extract(*turns, raw="It failed, for want of a nail."):
    with ScriptedModel(turns) as model:
        request = ExtractRequest(raw=raw, schema=SCHEMA, model=model_at(model.openai_url))
        return LlmExtractor().extract(request)


def test_what_the_text_says_becomes_the_output():
    reply = extract(json.dumps({"$status": "failed", "why": "want of a nail"}))
    assert reply.output == {"$status": "failed", "why": "want of a nail"}
    assert reply.body == "It failed, for want of a nail."
    assert reply.usage.turns == 1 and reply.usage.input_tokens > 0


def test_a_fence_around_the_answer_is_taken_away():
    assert extract('```json\n{"$status": "done"}\n```').output == {"$status": "done"}


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        ("{}", "must be one of done, failed"),
        ("[]", "no JSON object"),
        ("I think it failed.", "no JSON object"),
        ('{"$status": "failed"}', '"why" is a required property'),
        ('{"$status": "failed", "why": 3}', "3 is not of type"),
        ('{"$status": "perhaps"}', "must be one of"),
        ({"error": {"status": 401, "message": "no"}}, "failed"),
        ({"text": ""}, "failed"),
        ("[" * 100_000, "no JSON object"),
    ],
    ids=range(9),
)
def test_whatever_else_comes_is_an_error(answer, words):
    reply = extract(answer)
    assert reply.output is None
    assert words in reply.errors[0].message


def test_an_error_names_its_field():
    reply = extract('{"$status": "failed", "why": 3}')
    assert reply.errors[0].path == "why"


def test_without_a_model_it_says_what_to_set():
    reply = LlmExtractor().extract(ExtractRequest(raw="x", schema=SCHEMA))
    assert "modelOverrides.extract" in reply.errors[0].message
