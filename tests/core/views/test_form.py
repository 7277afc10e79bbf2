"""A form made from a schema: what a terminal and a page ask, and the value of what is entered."""

import pytest

from uwf_core.cas.schemas import violations
from uwf_core.client import answer_of, form_of
from uwf_core.errors import PayloadError

REVIEW = {
    "oneOf": [
        {"properties": {"$status": {"const": "approved"}}, "required": ["$status"]},
        {
            "properties": {
                "$status": {"const": "rejected"},
                "comments": {"type": "string", "title": "Comments", "description": "What to fix"},
                "effort": {"type": ["integer", "null"], "minimum": 1},
                "level": {"enum": ["low", "high", 3]},
                "areas": {"type": "array", "items": {"enum": ["text", "code"]}},
                "lines": {"type": "array", "items": {"type": "string"}},
                "again": {"type": "boolean"},
                "mail": {"type": "string", "format": "email"},
                "patch": {"type": "string", "format": "file"},
                "place": {"type": "object", "properties": {"x": {"type": "number"}}},
                "word": {"oneOf": [{"const": "yes"}, {"const": "no"}]},
                "any": {"type": ["string", "number"]},
            },
            "required": ["$status", "comments", "effort"],
        },
    ]
}


def test_a_form_has_a_variant_for_each_status_with_its_fields():
    approved, rejected = form_of(REVIEW)["variants"]
    assert approved == {"status": "approved", "fields": []}
    assert rejected["status"] == "rejected"
    assert {each["name"]: each["kind"] for each in rejected["fields"]} == {
        "comments": "text", "effort": "integer", "level": "choice", "areas": "choices",
        "lines": "list", "again": "boolean", "mail": "line", "patch": "file", "place": "json",
        "word": "choice", "any": "text",
    }  # fmt: skip
    by_name = {each["name"]: each for each in rejected["fields"]}
    assert by_name["comments"] == {
        "name": "comments", "kind": "text", "label": "Comments", "description": "What to fix",
        "facts": "text", "required": True, "choices": None, "default": None,
    }  # fmt: skip
    assert by_name["effort"]["facts"] == "whole number or null, at least 1"
    assert by_name["level"]["choices"] == ["low", "high", 3]
    assert by_name["areas"]["choices"] == ["text", "code"]
    assert [name for name, each in by_name.items() if each["required"]] == ["comments", "effort"]


def test_what_is_entered_becomes_a_value_typed_by_the_schema():
    texts = {
        "comments": ["  a = b\n@file - "], "level": ["3"], "areas": ["text", "code"],
        "lines": ["one\n\n two"], "again": [" true"], "mail": ["a@b.c"], "patch": ["a.patch"],
        "place": ['{"x": 1.5}'], "word": ["no"], "any": ["4"], "effort": [" "],
    }  # fmt: skip
    answer = answer_of(REVIEW, "rejected", texts)
    assert answer == {
        "$status": "rejected", "comments": "  a = b\n@file - ", "effort": None, "level": 3,
        "areas": ["text", "code"], "lines": ["one", " two"], "again": True, "mail": "a@b.c",
        "patch": "a.patch", "place": {"x": 1.5}, "word": "no", "any": 4,
    }  # fmt: skip
    assert not violations(REVIEW, answer)
    assert answer_of(REVIEW, "approved", {}) == {"$status": "approved"}


def test_a_field_without_text_is_left_out():
    texts = {"comments": ["  \n"], "level": [""], "lines": []}
    assert answer_of(REVIEW, "rejected", texts) == {"$status": "rejected", "effort": None}


def test_a_wrong_value_stays_for_the_check_which_names_the_field():
    answer = answer_of(REVIEW, "rejected", {"comments": ["x"], "effort": ["many"], "level": ["4"]})
    assert (answer["effort"], answer["level"]) == ("many", "4")
    assert violations(REVIEW, answer)


def test_a_form_without_statuses_has_one_variant():
    schema = {
        "properties": {"port": {"type": "integer", "default": 80}, "host": {"maxLength": 60}},
        "required": ["port"],
    }
    (only,) = form_of(schema)["variants"]
    assert only["status"] is None
    port, host = only["fields"]
    assert (port["kind"], port["required"], port["default"]) == ("integer", True, 80)
    assert (host["kind"], host["required"]) == ("line", False)
    assert answer_of(schema, None, {"port": ["8080"]}) == {"port": 8080}


@pytest.mark.parametrize("schema", [{}, {"type": "object"}, {"additionalProperties": True}])
def test_a_form_without_fields_is_answered_as_json(schema):
    (field,) = form_of(schema)["variants"][0]["fields"]
    assert (field["name"], field["kind"]) == ("", "json")
    assert answer_of(schema, None, {"": ['{"a": [1]}']}) == {"a": [1]}
    with pytest.raises(PayloadError, match="not a JSON object"):
        answer_of(schema, None, {"": ["[1]"]})


def test_an_unknown_status_is_an_error_that_lists_the_others():
    with pytest.raises(PayloadError, match="maybe") as caught:
        answer_of(REVIEW, "maybe", {})
    assert "approved, rejected" in str(caught.value.hint)
